//! The ops in WGSL, for Burn's wgpu device.

mod backward;
mod device;
mod launch;
#[cfg(test)]
mod tests;

pub use device::{KernelVariant, UnknownKernels, kernels_from_environment, set_kernel_variant};
pub(super) use device::{binding_limit, is_software_adapter};

use super::backend::{
    ExemplarBackend, ExemplarGradient, ExemplarGradients, ExemplarOp, Parameters, SampleOp, Wanted,
};
use bayesadapter_shaders::kernels;
use bayesadapter_shaders::{Map, Source};
use burn_wgpu::{CubeBackend, CubeTensor, into_contiguous};
use launch::{empty_like, empty_tensor, run};

fn contiguous_all(tensors: Vec<CubeTensor>) -> Vec<CubeTensor> {
    tensors.into_iter().map(into_contiguous).collect()
}

/// The map, the rank and the component per draw of a low-rank sample.
fn low_rank_parts(op: &ExemplarOp) -> (&Map, usize, &[u32]) {
    match &op.source {
        Source::LowRank { index, rank, .. } => (&op.map, *rank, index),
        // The public op builds nothing else; an ensemble without factors has no draws.
        Source::Given { .. } | Source::Gaussian { .. } => (&op.map, 0, &[]),
    }
}

impl ExemplarBackend for CubeBackend {
    fn exemplar(x: CubeTensor, parameters: Parameters<Self>, op: ExemplarOp) -> CubeTensor {
        let (x, parameters) = (into_contiguous(x), contiguous_all(parameters.into_vec()));
        let y = empty_tensor(&x, &op.map.y_shape());
        let variant = device::variant(&x.client);
        let launch = kernels::forward(&op.map, &op.source, variant);
        let tensors: Vec<_> = [&x, &y].into_iter().chain(&parameters).collect();
        run(&x.client, launch, &tensors);
        y
    }

    fn sample(parameters: Parameters<Self>, op: SampleOp) -> CubeTensor {
        let parameters = contiguous_all(parameters.into_vec());
        let weight = &parameters[0];
        let shape: Vec<usize> = weight.meta.shape().iter().copied().collect();
        let out = empty_tensor(weight, &[vec![op.draws()], shape].concat());
        match &op {
            SampleOp::Gaussian { key, axis, draws } => {
                let elements = weight.meta.num_elements();
                let launch = kernels::sample_gaussian(*key, *axis, *draws, elements);
                run(&weight.client, launch, &[weight, &parameters[1], &out]);
            }
            SampleOp::LowRank { op } => {
                let (map, rank, index) = low_rank_parts(op);
                let launch = kernels::sample_low_rank(map, rank, index);
                let tensors = [&parameters[1], &parameters[2], weight, &out];
                run(&weight.client, launch, &tensors);
            }
        }
        out
    }
}

impl ExemplarGradient for CubeBackend {
    fn exemplar_backward(
        grad: CubeTensor,
        x: CubeTensor,
        parameters: Parameters<Self>,
        op: ExemplarOp,
        wanted: Wanted,
    ) -> ExemplarGradients<Self> {
        let (grad, x) = (into_contiguous(grad), into_contiguous(x));
        let parameters = contiguous_all(parameters.into_vec());
        let nothing = || empty_tensor(&grad, &[0]);
        let mut gradients = vec![match wanted.x {
            true => backward::input(&grad, &parameters, &op),
            false => nothing(),
        }];
        match wanted.parameters {
            true => gradients.extend(backward::parameters(&grad, &x, &parameters, &op)),
            false => gradients.extend(parameters.iter().map(|_| nothing())),
        }
        ExemplarGradients::from_vec(gradients)
    }

    fn sample_backward(
        grad: CubeTensor,
        parameters: Parameters<Self>,
        op: SampleOp,
    ) -> Parameters<Self> {
        let grad = into_contiguous(grad);
        let parameters = contiguous_all(parameters.into_vec());
        match &op {
            SampleOp::Gaussian { key, axis, draws } => {
                let [d_mu, d_psi] = [0, 1].map(|at| empty_like(&parameters[at]));
                let elements = parameters[0].meta.num_elements();
                let launch = kernels::sample_gaussian_backward(*key, *axis, *draws, elements);
                let tensors = [&grad, &parameters[1], &d_mu, &d_psi];
                run(&grad.client, launch, &tensors);
                Parameters::Gaussian {
                    mu: d_mu,
                    psi: d_psi,
                }
            }
            SampleOp::LowRank { op } => {
                let (map, rank, index) = low_rank_parts(op);
                let gradients = backward::fold_draws(&grad, &parameters, map, rank, index);
                Parameters::from_vec(gradients)
            }
        }
    }
}
