//! Gradients of the ops on Burn's autodiff tape.

use super::backend::{ExemplarBackend, ExemplarGradient, ExemplarOp, Parameters, SampleOp, Wanted};
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
struct ExemplarStep;

impl<B: ExemplarGradient, const N: usize> Backward<B, N> for ExemplarStep {
    type State = ([NodeId; N], ExemplarOp);

    fn backward(
        self,
        ops: Ops<Self::State, N>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let grad = grads.consume::<B>(&ops.node);
        let (saved, op) = ops.state;
        let wanted = Wanted {
            x: ops.parents[0].is_some(),
            parameters: ops.parents[1..].iter().any(Option::is_some),
        };
        let [x, parameters @ ..] = saved.as_slice() else {
            return;
        };
        let x = checkpointer.retrieve_node_output(*x);
        let parameters = retrieve::<B>(checkpointer, parameters);
        let gradients = B::exemplar_backward(grad, x, parameters, op, wanted);
        for (node, gradient) in ops.parents.into_iter().zip(gradients.into_vec()) {
            if let Some(node) = node {
                grads.register::<B>(node.id, gradient);
            }
        }
    }
}

#[derive(Debug)]
struct SampleStep;

impl<B: ExemplarGradient, const N: usize> Backward<B, N> for SampleStep {
    type State = ([NodeId; N], SampleOp);

    fn backward(
        self,
        ops: Ops<Self::State, N>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let grad = grads.consume::<B>(&ops.node);
        let (saved, op) = ops.state;
        let parameters = retrieve::<B>(checkpointer, &saved);
        let gradients = B::sample_backward(grad, parameters, op);
        for (node, gradient) in ops.parents.into_iter().zip(gradients.into_vec()) {
            if let Some(node) = node {
                grads.register::<B>(node.id, gradient);
            }
        }
    }
}

fn retrieve<B: ExemplarGradient>(
    checkpointer: &mut Checkpointer,
    saved: &[NodeId],
) -> Parameters<B> {
    let tensors = saved.iter();
    let tensors = tensors.map(|id| checkpointer.retrieve_node_output(*id));
    Parameters::from_vec(tensors.collect())
}

type Tracked<B, C> = FloatTensor<Autodiff<B, C>>;

/// Puts one op with `N` inputs on the tape: `compute` makes the value from the bare inputs.
fn record<B, C, S, T, const N: usize>(
    step: S,
    inputs: [Tracked<B, C>; N],
    op: T,
    compute: impl FnOnce([FloatTensor<B>; N], T) -> FloatTensor<B>,
) -> Tracked<B, C>
where
    B: ExemplarGradient,
    C: CheckpointStrategy,
    S: Backward<B, N, State = ([NodeId; N], T)>,
    T: Clone + Send + std::fmt::Debug + 'static,
{
    let nodes = inputs.each_ref().map(|input| input.node());
    match step.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(mut prep) => {
            let saved = inputs.each_ref().map(|input| prep.checkpoint(input));
            let value = compute(inputs.map(|input| input.into_primitive()), op.clone());
            prep.finish((saved, op), value)
        }
        OpsKind::UnTracked(prep) => {
            prep.finish(compute(inputs.map(|input| input.into_primitive()), op))
        }
    }
}

/// The number of inputs is a constant of Burn's tape, while ours depends on the weight source.
fn exact<T, const N: usize>(inputs: Vec<T>) -> [T; N] {
    match inputs.try_into() {
        Ok(inputs) => inputs,
        Err(_) => unreachable!("the caller matched on the number of inputs"),
    }
}

impl<B: ExemplarBackend + ExemplarGradient, C: CheckpointStrategy> ExemplarBackend
    for Autodiff<B, C>
{
    fn exemplar(
        x: FloatTensor<Self>,
        parameters: Parameters<Self>,
        op: ExemplarOp,
    ) -> FloatTensor<Self> {
        fn run<B: ExemplarBackend + ExemplarGradient, C: CheckpointStrategy, const N: usize>(
            inputs: Vec<Tracked<B, C>>,
            op: ExemplarOp,
        ) -> Tracked<B, C> {
            record::<B, C, _, _, N>(ExemplarStep, exact(inputs), op, |inputs, op| {
                let mut inputs = Vec::from(inputs);
                let x = inputs.remove(0);
                B::exemplar(x, Parameters::from_vec(inputs), op)
            })
        }
        let mut inputs = parameters.into_vec();
        inputs.insert(0, x);
        match inputs.len() {
            2 => run::<B, C, 2>(inputs, op),
            3 => run::<B, C, 3>(inputs, op),
            _ => run::<B, C, 4>(inputs, op),
        }
    }

    fn sample(parameters: Parameters<Self>, op: SampleOp) -> FloatTensor<Self> {
        let parameters = parameters.into_vec();
        let compute = |inputs: Vec<FloatTensor<B>>, op| B::sample(Parameters::from_vec(inputs), op);
        match parameters.len() {
            2 => record::<B, C, _, _, 2>(SampleStep, exact(parameters), op, |inputs, op| {
                compute(inputs.into(), op)
            }),
            _ => record::<B, C, _, _, 3>(SampleStep, exact(parameters), op, |inputs, op| {
                compute(inputs.into(), op)
            }),
        }
    }
}
