//! Shapes of results. Burn's fusion queues an op, and asks for them before anything is computed.

use super::backend::{ExemplarGradientsMetadata, ExemplarOp, ParametersMetadata, SampleOp, Wanted};
use burn::backend::fusion::custom::TensorSpec;
use burn::tensor::Shape;

/// Of `ExemplarBackend::sample`.
pub fn draws(parameters: &ParametersMetadata, op: &SampleOp) -> TensorSpec {
    let weight = match parameters {
        ParametersMetadata::Given { weights } => weights,
        ParametersMetadata::Gaussian { mu, .. } => mu,
        ParametersMetadata::LowRank { shared, .. } => shared,
    };
    let draws = std::iter::once(op.draws());
    let shape = draws.chain(weight.shape.iter().copied()).collect();
    TensorSpec::new(shape, weight.dtype)
}

/// Of `ExemplarGradient::exemplar_backward`.
pub fn gradients(
    _grad: &TensorSpec,
    x: &TensorSpec,
    parameters: &ParametersMetadata,
    _op: &ExemplarOp,
    wanted: &Wanted,
) -> ExemplarGradientsMetadata {
    let nothing = || TensorSpec::new(Shape::new([0]), x.dtype);
    ExemplarGradientsMetadata {
        x: match wanted.x {
            true => x.clone(),
            false => nothing(),
        },
        parameters: match parameters {
            wanted_as_they_are if wanted.parameters => wanted_as_they_are.clone(),
            ParametersMetadata::Given { .. } => ParametersMetadata::Given { weights: nothing() },
            ParametersMetadata::Gaussian { .. } => ParametersMetadata::Gaussian {
                mu: nothing(),
                psi: nothing(),
            },
            ParametersMetadata::LowRank { .. } => ParametersMetadata::LowRank {
                shared: nothing(),
                left: nothing(),
                right: nothing(),
            },
        },
    }
}
