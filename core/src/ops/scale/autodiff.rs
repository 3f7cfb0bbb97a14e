//! Gradients of scaling on Burn's autodiff tape.

use super::backend::{ScaleBackend, ScaleGradient};
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
use std::sync::Arc;

#[derive(Debug)]
struct ScaleStep;

#[derive(Clone, Debug)]
struct ScaleState {
    /// Kept for the gradient of the factors, if they have one.
    x: Option<NodeId>,
    factors: NodeId,
    index: Arc<[u32]>,
}

impl<B: ScaleGradient> Backward<B, 2> for ScaleStep {
    type State = ScaleState;

    fn backward(
        self,
        ops: Ops<Self::State, 2>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let grad = grads.consume::<B>(&ops.node);
        let ScaleState { x, factors, index } = ops.state;
        let x = x.map(|x| checkpointer.retrieve_node_output(x));
        let factors = checkpointer.retrieve_node_output(factors);
        let gradients = B::scale_backward(grad, x, factors, &index);
        for (node, gradient) in ops.parents.into_iter().zip(gradients) {
            if let Some(node) = node {
                grads.register::<B>(node.id, gradient);
            }
        }
    }
}

impl<B: ScaleBackend + ScaleGradient, C: CheckpointStrategy> ScaleBackend for Autodiff<B, C> {
    fn scale(
        x: FloatTensor<Self>,
        factors: FloatTensor<Self>,
        index: Arc<[u32]>,
    ) -> FloatTensor<Self> {
        let nodes = [x.node(), factors.node()];
        match ScaleStep.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(mut prep) => {
                let state = ScaleState {
                    x: factors.is_tracked().then(|| prep.checkpoint(&x)),
                    factors: prep.checkpoint(&factors),
                    index: index.clone(),
                };
                let y = B::scale(x.into_primitive(), factors.into_primitive(), index);
                prep.finish(state, y)
            }
            OpsKind::UnTracked(prep) => prep.finish(B::scale(
                x.into_primitive(),
                factors.into_primitive(),
                index,
            )),
        }
    }
}
