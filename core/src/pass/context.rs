//! The pass that the current thread is in.

use super::{Activations, Estimator, Pass, PassError};
use burn::{
    module::ParamId,
    tensor::{Device, Tensor},
};
use std::{
    any::Any,
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// How a layer used the posterior of one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// Number of the parameter in its network.
    pub parameter: u32,
    /// What was applied, whatever was asked for.
    pub estimator: Estimator,
}

struct Current {
    pass: Pass,
    trace: Trace,
    /// Why the pass fails, if it does.
    error: Option<PassError>,
}

/// What the layers of a pass told of themselves.
#[derive(Default)]
pub(crate) struct Trace {
    /// How each posterior was used.
    pub uses: Vec<Use>,
    /// What a backward pass would need.
    pub activations: Activations,
    /// Dropout layers that dropped something.
    pub dropout_layers: u32,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// The pass of this thread, if it is in one.
pub(crate) fn active() -> Option<Pass> {
    CURRENT.with_borrow(|current| current.as_ref().map(|current| current.pass))
}

/// Notes how a posterior was used.
pub(crate) fn record(parameter: u32, estimator: Estimator) {
    let one = Use {
        parameter,
        estimator,
    };
    CURRENT.with_borrow_mut(|current| {
        if let Some(current) = current {
            current.trace.uses.push(one);
        }
    });
}

/// Notes a layer that multiplies with `weight`: elements of x and of y, and rows times channels of y.
pub(crate) fn record_layer(weight: ParamId, x: usize, y: usize, vectors: usize) {
    with_activations(|activations| activations.layer(weight, x, y, vectors));
}

/// Notes a normalisation with so many elements in its scale, or with as many for each row.
pub(crate) fn record_norm(vectors: usize, maps: usize) {
    with_activations(|activations| activations.norm(vectors, maps));
}

/// Notes further elements that the tape keeps for the backward pass.
pub(crate) fn record_kept(elements: usize) {
    with_activations(|activations| activations.keep(elements));
}

fn with_activations(note: impl FnOnce(&mut Activations)) {
    CURRENT.with_borrow_mut(|current| {
        if let Some(current) = current {
            note(&mut current.trace.activations);
        }
    });
}

/// The number of the dropout layer that asks, counted within the pass.
pub(crate) fn next_dropout_layer() -> u32 {
    CURRENT.with_borrow_mut(|current| {
        let Some(current) = current else { return 0 };
        current.trace.dropout_layers += 1;
        current.trace.dropout_layers - 1
    })
}

/// Notes why the pass of this thread fails; the first reason counts.
///
/// `forward` of a layer returns a tensor, as Burn's does, and a page cannot unwind out of it. So the layers go on
/// with stand-ins and compute nothing more, and [`Pass::run`] returns the error in the place of what came of them.
pub(crate) fn fail(error: impl Into<PassError>) {
    let error = error.into();
    CURRENT.with_borrow_mut(|current| match current {
        Some(current) => {
            current.error.get_or_insert(error);
        }
        None => panic!("{error}"),
    });
}

/// Whether the pass of this thread has failed.
pub(crate) fn has_failed() -> bool {
    CURRENT.with_borrow(|current| current.as_ref().is_some_and(|now| now.error.is_some()))
}

/// What was made; zeros of that shape if it could not be, and the pass fails.
pub(crate) fn or_zeros<const D: usize>(
    made: Result<Tensor<D>, impl Into<PassError>>,
    shape: [usize; D],
    device: &Device,
) -> Tensor<D> {
    made.unwrap_or_else(|error| {
        fail(error);
        zeros(shape, device)
    })
}

/// Zeros that stand in for what a failed pass does not compute. They take no memory, which may be what it failed of.
pub(crate) fn zeros<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    let zero = Tensor::<D>::zeros([1; D], device);
    let zero = match device.is_autodiff() {
        // A loss of them has a backward pass too.
        true => zero.require_grad(),
        false => zero,
    };
    zero.expand(shape.map(|size| size.max(1)))
}

pub(super) fn run<T>(pass: Pass, forward: impl FnOnce() -> T) -> Result<(T, Trace), PassError> {
    if active().is_some() {
        return Err(PassError::Nested);
    }
    CURRENT.set(Some(Current {
        pass,
        trace: Trace::default(),
        error: None,
    }));
    // A tensor that a panic leaves half-made is dropped with the closure: nothing of it is seen again.
    let value = catch_unwind(AssertUnwindSafe(forward));
    let (error, trace) = match CURRENT.take() {
        Some(current) => (current.error, current.trace),
        None => (None, Trace::default()),
    };
    match (error, value) {
        // What a stand-in led to is not worth telling.
        (Some(error), _) => Err(error),
        (None, Ok(value)) => Ok((value, trace)),
        (None, Err(payload)) => Err(from_panic(&*payload)),
    }
}

fn from_panic(payload: &(dyn Any + Send)) -> PassError {
    let text = panic_text(payload);
    PassError::Panicked(text.unwrap_or_else(|| "no message".to_owned()))
}

/// What a panic says.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> Option<String> {
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|text| text.to_string()))
}
