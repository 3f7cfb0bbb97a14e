//! The pass that the current thread is in.

use super::{Activations, Estimator, Pass, PassError};
use burn::module::ParamId;
use std::{
    any::Any,
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
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
    dropout_layers: u32,
}

/// What the layers of a pass told of themselves.
#[derive(Default)]
pub(super) struct Trace {
    pub(super) uses: Vec<Use>,
    pub(super) activations: Activations,
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
        current.dropout_layers += 1;
        current.dropout_layers - 1
    })
}

/// Leaves the forward pass with an error. `forward` of a layer returns a tensor, as Burn's does, so the
/// error travels to [`Pass::run`] by unwinding; the panic hook does not see it.
pub(crate) fn raise(error: impl Into<PassError>) -> ! {
    let error = error.into();
    if active().is_none() {
        panic!("{error}");
    }
    resume_unwind(Box::new(error))
}

/// Ends the pass however `forward` ends.
struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}

pub(super) fn run<T>(pass: Pass, forward: impl FnOnce() -> T) -> Result<(T, Trace), PassError> {
    if active().is_some() {
        return Err(PassError::Nested);
    }
    CURRENT.set(Some(Current {
        pass,
        trace: Trace::default(),
        dropout_layers: 0,
    }));
    let ending = Ending;
    // A tensor that a panic leaves half-made is dropped with the closure: nothing of it is seen again.
    let value = catch_unwind(AssertUnwindSafe(forward)).map_err(from_panic)?;
    let trace = CURRENT.take().map(|current| current.trace);
    drop(ending);
    Ok((value, trace.unwrap_or_default()))
}

fn from_panic(payload: Box<dyn Any + Send>) -> PassError {
    let payload = match payload.downcast::<PassError>() {
        Ok(error) => return *error,
        Err(payload) => payload,
    };
    let text = payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|text| text.to_string()));
    PassError::Panicked(text.unwrap_or_else(|| "no message".to_owned()))
}
