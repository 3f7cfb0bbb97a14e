//! Posterior and estimator meet here, over one interface to linear maps.
//!
//! A posterior says what the weights are, an estimator how the noise is spread over the rows. Neither
//! knows of layers: those are a [`LinearMap`], dense or convolution.

mod dropout;
mod flipout;
mod local;
mod vectors;

pub(crate) use dropout::dropped;
pub(crate) use vectors::{Rows, each_row, vectors};

use crate::{
    ops::{DrawAxis, OpError, Weights},
    pass::{self, Draw, Estimator, Pass, PassError},
    posterior::{Factors, LogStd},
};
use burn::{module::Param, tensor::Tensor};

/// A map that is linear in a weight of rank `W` and in x of rank `X`; `K = W + 1`.
pub(crate) trait LinearMap<const W: usize, const K: usize, const X: usize> {
    /// The map with the given weights.
    fn apply(&self, x: Tensor<X>, weights: Weights<W, K>) -> Result<Tensor<X>, OpError>;

    /// `values[row, channel]` in the layout of x or y, to be broadcast.
    fn by_channel(&self, values: Tensor<2>) -> Tensor<X>;

    /// The shape of y, or what comes close to it where x does not fit.
    fn y_shape(&self, x: [usize; X], weight: [usize; W]) -> [usize; X];

    /// Which axis of x or y is that of the channels.
    const CHANNELS: usize;
}

/// The posterior of a parameter.
pub(crate) enum Attached<'a> {
    Point,
    MeanField(&'a LogStd),
    LowRank(&'a Factors),
}

impl<'a> Attached<'a> {
    pub(crate) fn of<const D: usize>(param: &'a Param<Tensor<D>>) -> Self {
        if let Some(state) = param.reparameterization::<LogStd>() {
            Self::MeanField(state)
        } else if let Some(state) = param.reparameterization::<Factors>() {
            Self::LowRank(state)
        } else {
            Self::Point
        }
    }
}

/// Applies a layer: the pass of this thread decides what its weight and bias are for each row.
pub(crate) fn forward<const W: usize, const K: usize, const X: usize, L: LinearMap<W, K, X>>(
    map: &L,
    x: Tensor<X>,
    weight: &Param<Tensor<W>>,
    bias: Option<&Param<Tensor<1>>>,
) -> Tensor<X> {
    let (x_dims, device) = (x.dims(), x.device());
    let (rows, x_elements) = (x_dims[0], x.shape().num_elements());
    let y = match pass::has_failed() {
        true => None,
        false => weighted(map, x, weight).map_err(pass::fail).ok(),
    };
    let Some(y) = y else {
        return pass::zeros(map.y_shape(x_dims, weight.base().dims()), &device);
    };
    let (y_elements, vectors) = (y.shape().num_elements(), rows * y.dims()[L::CHANNELS]);
    pass::record_layer(weight.id, x_elements, y_elements, vectors);
    match bias {
        Some(bias) => y + map.by_channel(each_row(bias, rows).into_tensor()),
        None => y,
    }
}

fn weighted<const W: usize, const K: usize, const X: usize>(
    map: &impl LinearMap<W, K, X>,
    x: Tensor<X>,
    weight: &Param<Tensor<W>>,
) -> Result<Tensor<X>, PassError> {
    let rows = x.dims()[0];
    let attached = Attached::of(weight);
    let pass = pass::active().unwrap_or(Pass::mean());
    let weights = match (attached, pass.draw) {
        (Attached::Point, _) | (Attached::MeanField(_), Draw::Mean) => shared(weight.base(), rows),
        (Attached::MeanField(state), Draw::Step { estimator, .. }) => {
            pass::record(state.parameter(), estimator);
            let mean = weight.base();
            match estimator {
                Estimator::Vanilla => one_draw(state, &pass, mean, rows),
                Estimator::Exemplar => Weights::Gaussian {
                    psi: state.psi_like(&mean),
                    mu: mean,
                    key: state.key(&pass),
                },
                Estimator::Local => return local::local(map, x, mean, state, &pass),
                Estimator::Flipout => return flipout::flipout(map, x, mean, state, &pass),
            }
        }
        (Attached::MeanField(state), Draw::One(_)) => {
            pass::record(state.parameter(), Estimator::Vanilla);
            one_draw(state, &pass, weight.base(), rows)
        }
        (Attached::MeanField(state), Draw::Several { count, .. }) => {
            pass::record(state.parameter(), Estimator::Exemplar);
            several(state, &pass, weight.base(), rows, count)?
        }
        (Attached::LowRank(state), _) => low_rank(state, &pass, weight.base(), rows)?,
    };
    Ok(map.apply(x, weights)?)
}

/// One weight for all rows.
pub(crate) fn shared<const W: usize, const K: usize>(
    weight: Tensor<W>,
    rows: usize,
) -> Weights<W, K> {
    Weights::Given {
        weights: weight.unsqueeze(),
        index: vec![0; rows],
    }
}

fn one_draw<const W: usize, const K: usize>(
    state: &LogStd,
    pass: &Pass,
    mean: Tensor<W>,
    rows: usize,
) -> Weights<W, K> {
    let shape = mean.shape();
    let pass = pass.with_first_example(0);
    let draw = state.samples(&pass, mean, DrawAxis::Draw, 1);
    shared(draw.reshape(shape), rows)
}

/// `count` draws, each for an equal run of rows.
fn several<const W: usize, const K: usize>(
    state: &LogStd,
    pass: &Pass,
    mean: Tensor<W>,
    rows: usize,
    count: u32,
) -> Result<Weights<W, K>, PassError> {
    let each = run_length(rows, count)?;
    let dims = mean.dims();
    let draws = state.samples(pass, mean, DrawAxis::Draw, count as usize);
    let shape: [usize; K] = std::array::from_fn(|axis| match axis {
        0 => count as usize,
        _ => dims[axis - 1],
    });
    Ok(Weights::Given {
        weights: draws.reshape(shape),
        index: (0..rows).map(|row| (row / each) as u32).collect(),
    })
}

/// Rows per draw.
pub(crate) fn run_length(rows: usize, draws: u32) -> Result<usize, PassError> {
    match draws as usize {
        count if count > 0 && rows > 0 && rows.is_multiple_of(count) => Ok(rows / count),
        _ => Err(PassError::Rows { rows, draws }),
    }
}

fn low_rank<const W: usize, const K: usize>(
    state: &Factors,
    pass: &Pass,
    weight: Tensor<W>,
    rows: usize,
) -> Result<Weights<W, K>, PassError> {
    let used = match pass.draw {
        Draw::Mean => return Ok(shared(state.weight(weight, None), rows)),
        Draw::One(_) => Estimator::Vanilla,
        Draw::Several { count, .. } => {
            run_length(rows, count)?;
            Estimator::Exemplar
        }
        Draw::Step { estimator, .. } => match estimator {
            Estimator::Vanilla | Estimator::Exemplar => estimator,
            Estimator::Local | Estimator::Flipout => {
                return Err(PassError::Estimator {
                    estimator,
                    posterior: "low-rank ensemble",
                    path: format!("parameter {}", state.parameter()),
                    instead: "the exemplar or the vanilla estimator",
                });
            }
        },
    };
    pass::record(state.parameter(), used);
    Ok(match used {
        Estimator::Vanilla => {
            let component = state.shared_component(pass);
            shared(state.weight(weight, Some(component)), rows)
        }
        _ => Weights::LowRank {
            shared: weight,
            left: state.full_left(),
            right: state.right.val(),
            index: state.index(pass, rows),
        },
    })
}
