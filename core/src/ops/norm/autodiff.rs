//! Gradients of batch normalisation on Burn's autodiff tape.

use super::backend::{
    NormBackend, NormGradient, NormInputs, NormOp, NormWanted, Saved, Statistics,
};
use burn::backend::{
    Autodiff,
    autodiff::{
        NodeId,
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    tensor::FloatTensor,
};

#[derive(Debug)]
struct NormStep;

#[derive(Clone, Debug)]
struct NormState<T> {
    x: NodeId,
    scale: NodeId,
    mean: T,
    variance: T,
    /// The result, if a ReLU made it.
    y: Option<T>,
    op: NormOp,
}

impl<B: NormGradient> Backward<B, 4> for NormStep {
    type State = NormState<FloatTensor<B>>;

    fn backward(
        self,
        ops: Ops<Self::State, 4>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let grad = grads.consume::<B>(&ops.node);
        let state = ops.state;
        let wanted = NormWanted {
            x: ops.parents[0].is_some(),
            added: ops.parents[3].is_some(),
        };
        let saved = Saved {
            x: checkpointer.retrieve_node_output(state.x),
            scale: checkpointer.retrieve_node_output(state.scale),
            statistics: Statistics {
                mean: state.mean,
                variance: state.variance,
            },
            y: state.y,
        };
        let gradients = B::normalise_backward(grad, saved, state.op, wanted);
        let NormInputs {
            x,
            scale,
            shift,
            added,
        } = gradients;
        for (node, gradient) in ops.parents.into_iter().zip([x, scale, shift, added]) {
            if let Some(node) = node {
                grads.register::<B>(node.id, gradient);
            }
        }
    }
}

impl<B: NormBackend + NormGradient, C: CheckpointStrategy> NormBackend for Autodiff<B, C> {
    fn batch_statistics(x: FloatTensor<Self>) -> Statistics<Self> {
        let Statistics { mean, variance } = B::batch_statistics(x.into_primitive());
        Statistics {
            mean: FloatTensor::<Self>::new(mean),
            variance: FloatTensor::<Self>::new(variance),
        }
    }

    fn normalise(
        inputs: NormInputs<Self>,
        statistics: Statistics<Self>,
        op: NormOp,
    ) -> FloatTensor<Self> {
        let nodes = [&inputs.x, &inputs.scale, &inputs.shift, &inputs.added].map(|t| t.node());
        let statistics = Statistics::<B> {
            mean: statistics.mean.into_primitive(),
            variance: statistics.variance.into_primitive(),
        };
        match NormStep.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(mut prep) => {
                let (x, scale) = (prep.checkpoint(&inputs.x), prep.checkpoint(&inputs.scale));
                let (mean, variance) = (statistics.mean.clone(), statistics.variance.clone());
                let y = B::normalise(untracked(inputs), statistics, op);
                let state = NormState {
                    x,
                    scale,
                    mean,
                    variance,
                    y: op.relu.then(|| y.clone()),
                    op,
                };
                prep.finish(state, y)
            }
            OpsKind::UnTracked(prep) => {
                prep.finish(B::normalise(untracked(inputs), statistics, op))
            }
        }
    }
}

fn untracked<B: NormBackend + NormGradient, C: CheckpointStrategy>(
    inputs: NormInputs<Autodiff<B, C>>,
) -> NormInputs<B> {
    NormInputs {
        x: inputs.x.into_primitive(),
        scale: inputs.scale.into_primitive(),
        shift: inputs.shift.into_primitive(),
        added: inputs.added.into_primitive(),
    }
}
