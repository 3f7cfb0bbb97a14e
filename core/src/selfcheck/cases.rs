//! The ops with each weight source on small inputs whose sizes fill no tile.

use super::CheckError;
use crate::ops::{
    Conv2dWeights, ConvOptions, DrawAxis, MatmulWeights, NoiseKey, Padding, exemplar_conv2d,
    exemplar_matmul, sample_gaussian, sample_low_rank,
};
use burn::tensor::{Device, Gradients, Tensor, TensorData};

/// A flattened result with its name.
pub(super) type Named = (&'static str, Tensor<1>);

/// One op with one weight source; `run` gives its value and all its gradients on a device.
pub(super) struct Case {
    pub op: &'static str,
    pub source: &'static str,
    pub run: Run,
}

type Run = fn(&Device) -> Result<Vec<Named>, CheckError>;

const fn case(op: &'static str, source: &'static str, run: Run) -> Case {
    Case { op, source, run }
}

pub(super) const CASES: &[Case] = &[
    case("matmul", "given", matmul_given),
    case("matmul, ordinary", "given", matmul_ordinary),
    case("matmul", "gaussian", matmul_gaussian),
    case("matmul", "low rank", matmul_low_rank),
    case("linear", "gaussian", linear_gaussian),
    case("conv2d", "given", conv2d_given),
    case("conv2d", "gaussian", conv2d_gaussian),
    case("conv2d", "low rank", conv2d_low_rank),
    case("conv2d, grouped", "gaussian", conv2d_grouped),
    case("conv2d, depthwise", "gaussian", conv2d_depthwise),
    case("sample_gaussian", "gaussian", draw_gaussian),
    case("sample_low_rank", "low rank", draw_low_rank),
];

const BATCH: usize = 5;
/// Slot of each example: repeated, out of order, and one slot unused.
const INDEX: [u32; BATCH] = [3, 0, 1, 3, 0];
const SLOTS: usize = 4;
const RANK: usize = 2;

const ROWS: usize = 3;
const MATRIX: [usize; 2] = [37, 29];
const KERNEL: [usize; 4] = [7, 6, 3, 3];
const KERNEL_IN: usize = KERNEL[1] * KERNEL[2] * KERNEL[3];
const IMAGE: [usize; 2] = [9, 11];

fn key() -> NoiseKey {
    NoiseKey {
        seed: 0x0123_4567_89ab_cdef,
        draw: 3,
        parameter: 5,
        first_example: 11,
    }
}

/// Makes the inputs of one case: reproducible numbers in [-1, 1), different for each tensor.
struct Inputs<'a> {
    device: &'a Device,
    made: u32,
}

impl<'a> Inputs<'a> {
    fn new(device: &'a Device) -> Self {
        Self { device, made: 0 }
    }

    fn constant<const D: usize>(&mut self, shape: [usize; D]) -> Tensor<D> {
        self.made += 1;
        let start = self.made.wrapping_mul(0x9e37_79b9);
        let values: Vec<f32> = (0..shape.iter().product::<usize>() as u32)
            .map(|place| {
                // A linear congruential step scatters neighbours; the top bits are the good ones.
                let bits = place.wrapping_add(start).wrapping_mul(747_796_405);
                (bits >> 8) as f32 / (1 << 23) as f32 - 1.0
            })
            .collect();
        Tensor::from_data(TensorData::new(values, shape), self.device)
    }

    fn leaf<const D: usize>(&mut self, shape: [usize; D]) -> Tensor<D> {
        self.constant(shape).require_grad()
    }

    /// Gradients of `sum(y * probe)`, with a probe that gives every element of y another weight.
    fn results<const D: usize>(
        mut self,
        y: Tensor<D>,
        leaves: &[(&'static str, &dyn Leaf)],
    ) -> Result<Vec<Named>, CheckError> {
        let probe = self.constant(y.dims());
        let gradients = (y.clone() * probe).backward();
        let mut results = vec![("y", flat(y))];
        for (name, leaf) in leaves {
            let gradient = leaf
                .gradient(&gradients)
                .ok_or(CheckError::NoGradient { name })?;
            results.push((name, gradient));
        }
        Ok(results)
    }
}

/// A tensor of any rank whose gradient is wanted.
trait Leaf {
    fn gradient(&self, gradients: &Gradients) -> Option<Tensor<1>>;
}

impl<const D: usize> Leaf for Tensor<D> {
    fn gradient(&self, gradients: &Gradients) -> Option<Tensor<1>> {
        self.grad(gradients).map(flat)
    }
}

fn flat<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    let len = tensor.dims().iter().product::<usize>();
    tensor.reshape([len])
}

fn matmul_given(device: &Device) -> Result<Vec<Named>, CheckError> {
    let mut inputs = Inputs::new(device);
    let x = inputs.leaf([BATCH, ROWS, MATRIX[0]]);
    let w = inputs.leaf([SLOTS, MATRIX[0], MATRIX[1]]);
    let bias = inputs.leaf([BATCH, MATRIX[1]]);
    let weights = MatmulWeights::Given {
        weights: w.clone(),
        index: INDEX.to_vec(),
    };
    let y = exemplar_matmul(x.clone(), weights, Some(bias.clone()))?;
    inputs.results(y, &[("dx", &x), ("dw", &w), ("dbias", &bias)])
}

/// One example with one weight, which posteriors multiply their own matrices by.
fn matmul_ordinary(device: &Device) -> Result<Vec<Named>, CheckError> {
    let mut inputs = Inputs::new(device);
    let x = inputs.leaf([1, ROWS, MATRIX[0]]);
    let w = inputs.leaf([1, MATRIX[0], MATRIX[1]]);
    let weights = MatmulWeights::Given {
        weights: w.clone(),
        index: vec![0],
    };
    let y = exemplar_matmul(x.clone(), weights, None)?;
    inputs.results(y, &[("dx", &x), ("dw", &w)])
}

fn matmul_gaussian(device: &Device) -> Result<Vec<Named>, CheckError> {
    gaussian_matmul(device, ROWS)
}

/// One row per example has kernels of its own.
fn linear_gaussian(device: &Device) -> Result<Vec<Named>, CheckError> {
    gaussian_matmul(device, 1)
}

fn gaussian_matmul(device: &Device, rows: usize) -> Result<Vec<Named>, CheckError> {
    let mut inputs = Inputs::new(device);
    let x = inputs.leaf([BATCH, rows, MATRIX[0]]);
    let mu = inputs.leaf(MATRIX);
    let psi = inputs.leaf(MATRIX);
    let weights = MatmulWeights::Gaussian {
        mu: mu.clone(),
        psi: psi.clone(),
        key: key(),
    };
    let y = exemplar_matmul(x.clone(), weights, None)?;
    inputs.results(y, &[("dx", &x), ("dmu", &mu), ("dpsi", &psi)])
}

fn matmul_low_rank(device: &Device) -> Result<Vec<Named>, CheckError> {
    let mut inputs = Inputs::new(device);
    let x = inputs.leaf([BATCH, ROWS, MATRIX[0]]);
    let shared = inputs.leaf(MATRIX);
    let left = inputs.leaf([SLOTS, MATRIX[0], RANK]);
    let right = inputs.leaf([SLOTS, RANK, MATRIX[1]]);
    let weights = MatmulWeights::LowRank {
        shared: shared.clone(),
        left: left.clone(),
        right: right.clone(),
        index: INDEX.to_vec(),
    };
    let y = exemplar_matmul(x.clone(), weights, None)?;
    inputs.results(
        y,
        &[
            ("dx", &x),
            ("dshared", &shared),
            ("dleft", &left),
            ("dright", &right),
        ],
    )
}

/// The convolution of residual networks.
fn same_size() -> ConvOptions {
    ConvOptions {
        padding: Padding::symmetric(1, 1),
        ..ConvOptions::default()
    }
}

fn conv2d_given(device: &Device) -> Result<Vec<Named>, CheckError> {
    let mut inputs = Inputs::new(device);
    let x = inputs.leaf([BATCH, KERNEL[1], IMAGE[0], IMAGE[1]]);
    let [o, i, kh, kw] = KERNEL;
    let w = inputs.leaf([SLOTS, o, i, kh, kw]);
    let bias = inputs.leaf([BATCH, o]);
    let weights = Conv2dWeights::Given {
        weights: w.clone(),
        index: INDEX.to_vec(),
    };
    let y = exemplar_conv2d(x.clone(), weights, Some(bias.clone()), same_size())?;
    inputs.results(y, &[("dx", &x), ("dw", &w), ("dbias", &bias)])
}

fn conv2d_gaussian(device: &Device) -> Result<Vec<Named>, CheckError> {
    gaussian_conv2d(device, KERNEL[1], KERNEL, same_size())
}

/// All that can differ between the two directions does.
fn conv2d_grouped(device: &Device) -> Result<Vec<Named>, CheckError> {
    let options = ConvOptions {
        stride: [2, 1],
        dilation: [1, 2],
        padding: Padding {
            top: 0,
            bottom: 2,
            left: 1,
            right: 3,
        },
        groups: 3,
    };
    gaussian_conv2d(device, 6, [9, 2, 3, 2], options)
}

/// One channel per group has kernels of its own.
fn conv2d_depthwise(device: &Device) -> Result<Vec<Named>, CheckError> {
    let options = ConvOptions {
        groups: 6,
        ..same_size()
    };
    gaussian_conv2d(device, 6, [6, 1, 3, 3], options)
}

fn gaussian_conv2d(
    device: &Device,
    channels_in: usize,
    kernel: [usize; 4],
    options: ConvOptions,
) -> Result<Vec<Named>, CheckError> {
    let mut inputs = Inputs::new(device);
    let x = inputs.leaf([BATCH, channels_in, IMAGE[0], IMAGE[1]]);
    let mu = inputs.leaf(kernel);
    let psi = inputs.leaf(kernel);
    let weights = Conv2dWeights::Gaussian {
        mu: mu.clone(),
        psi: psi.clone(),
        key: key(),
    };
    let y = exemplar_conv2d(x.clone(), weights, None, options)?;
    inputs.results(y, &[("dx", &x), ("dmu", &mu), ("dpsi", &psi)])
}

fn conv2d_low_rank(device: &Device) -> Result<Vec<Named>, CheckError> {
    let mut inputs = Inputs::new(device);
    let x = inputs.leaf([BATCH, KERNEL[1], IMAGE[0], IMAGE[1]]);
    let shared = inputs.leaf(KERNEL);
    let left = inputs.leaf([SLOTS, KERNEL_IN, RANK]);
    let right = inputs.leaf([SLOTS, RANK, KERNEL[0]]);
    let weights = Conv2dWeights::LowRank {
        shared: shared.clone(),
        left: left.clone(),
        right: right.clone(),
        index: INDEX.to_vec(),
    };
    let y = exemplar_conv2d(x.clone(), weights, None, same_size())?;
    inputs.results(
        y,
        &[
            ("dx", &x),
            ("dshared", &shared),
            ("dleft", &left),
            ("dright", &right),
        ],
    )
}

fn draw_gaussian(device: &Device) -> Result<Vec<Named>, CheckError> {
    let mut inputs = Inputs::new(device);
    let mu = inputs.leaf(MATRIX);
    let psi = inputs.leaf(MATRIX);
    let draws: Tensor<3> = sample_gaussian(mu.clone(), psi.clone(), key(), DrawAxis::Draw, 3)?;
    inputs.results(draws, &[("dmu", &mu), ("dpsi", &psi)])
}

fn draw_low_rank(device: &Device) -> Result<Vec<Named>, CheckError> {
    let mut inputs = Inputs::new(device);
    let shared = inputs.leaf(KERNEL);
    let left = inputs.leaf([SLOTS, KERNEL_IN, RANK]);
    let right = inputs.leaf([SLOTS, RANK, KERNEL[0]]);
    let draws: Tensor<5> = sample_low_rank(shared.clone(), left.clone(), right.clone(), &INDEX)?;
    inputs.results(
        draws,
        &[("dshared", &shared), ("dleft", &left), ("dright", &right)],
    )
}
