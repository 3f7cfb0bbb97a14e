//! Biases, scales and shifts: vectors that are added or multiplied, channel by channel.

use super::{Attached, run_length};
use crate::{
    ops::DrawAxis,
    pass::{self, Draw, Estimator, Pass},
};
use burn::{module::Param, tensor::Tensor};

/// What a vector is for the rows of a batch.
pub(crate) enum Rows {
    /// The same for all, `[channels]`.
    Shared(Tensor<1>),
    /// One for each, `[rows, channels]`.
    Each(Tensor<2>),
}

impl Rows {
    /// `[1 or rows, channels]`
    pub(crate) fn into_tensor(self) -> Tensor<2> {
        match self {
            Self::Shared(vector) => vector.unsqueeze(),
            Self::Each(vectors) => vectors,
        }
    }

    /// `[rows, channels]`
    pub(crate) fn each(self, rows: usize) -> Tensor<2> {
        match self {
            Self::Shared(vector) => vector.unsqueeze::<2>().repeat_dim(0, rows),
            Self::Each(vectors) => vectors,
        }
    }
}

/// The scale or shift of a normalisation for each of `rows` rows, as the pass of this thread says.
pub(crate) fn vectors(param: &Param<Tensor<1>>, rows: usize) -> Rows {
    let vectors = each_row(param, rows);
    // The tape keeps what comes out of a normalisation, and what it was before a scale of its own.
    let (channels, maps) = match &vectors {
        Rows::Shared(vector) => (vector.dims()[0], 1),
        Rows::Each(vectors) => (vectors.dims()[1], 2),
    };
    pass::record_norm(rows * channels, maps);
    vectors
}

/// The vector `param` for each of `rows` rows. A vector costs nothing to draw for every example, so the
/// local and flipout estimators do that too.
pub(crate) fn each_row(param: &Param<Tensor<1>>, rows: usize) -> Rows {
    let pass = pass::active().unwrap_or(Pass::mean());
    let Attached::MeanField(state) = Attached::of(param) else {
        return Rows::Shared(param.base());
    };
    let mean = param.base();
    let channels = mean.dims()[0];
    match pass.draw {
        Draw::Mean => Rows::Shared(mean),
        Draw::One(_)
        | Draw::Step {
            estimator: Estimator::Vanilla,
            ..
        } => {
            pass::record(state.parameter(), Estimator::Vanilla);
            let pass = pass.with_first_example(0);
            let draw = state.samples(&pass, mean, DrawAxis::Draw, 1);
            Rows::Shared(draw.reshape([channels]))
        }
        Draw::Several { count, .. } => {
            pass::record(state.parameter(), Estimator::Exemplar);
            let Ok(each) = run_length(rows, count).map_err(pass::fail) else {
                return Rows::Shared(mean);
            };
            let draws = state.samples(&pass, mean, DrawAxis::Draw, count as usize);
            let repeated = draws
                .reshape([count as usize, 1, channels])
                .repeat_dim(1, each);
            Rows::Each(repeated.reshape([rows, channels]))
        }
        Draw::Step { .. } => {
            pass::record(state.parameter(), Estimator::Exemplar);
            Rows::Each(state.samples(&pass, mean, DrawAxis::Example, rows))
        }
    }
}
