//! Dropout with keyed noise.

use super::{local::normals, run_length};
use crate::{
    ops::NoiseKey,
    pass::{Draw, Pass, PassError},
};
use burn::tensor::Tensor;

/// `x` with each element kept with probability `keep` and scaled, or set to zero. `layer` is the number of
/// the dropout layer in the pass; draw `k` drops the same elements of an example on every device, whichever rows go
/// through the network with it.
pub(crate) fn dropped<const D: usize>(
    x: Tensor<D>,
    keep: f64,
    pass: &Pass,
    layer: u32,
) -> Result<Tensor<D>, PassError> {
    // Far above the numbers of parameters, whose noise this must not be.
    const FIRST_LAYER: u32 = 1 << 31;
    let key = NoiseKey {
        first_example: pass.first_example,
        ..pass.key(pass.seed, FIRST_LAYER + layer)
    };
    let rows = x.dims()[0];
    let elements = x.shape().num_elements() / rows.max(1);
    let noise = match pass.draw {
        Draw::Several { count, .. } => {
            let each = run_length(rows, count)?;
            let of_draw = |draw: u32| {
                let draw = key.draw.wrapping_add(draw);
                normals(each, elements, NoiseKey { draw, ..key }, &x)
            };
            Tensor::cat((0..count).map(of_draw).collect::<Result<_, _>>()?, 0)
        }
        Draw::Mean | Draw::One(_) | Draw::Step { .. } => normals(rows, elements, key, &x)?,
    };
    let kept = noise.lower_elem(normal_quantile(keep)).float();
    Ok(x.clone() * kept.reshape(x.shape()).mul_scalar(1.0 / keep))
}

/// The z below which a standard normal falls with the given probability.
fn normal_quantile(probability: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    // Each step halves the range; 60 leave it below the spacing of f32.
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        let below = 0.5 * libm::erfc(-middle / std::f64::consts::SQRT_2);
        if below < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::normal_quantile;

    #[test]
    fn quantiles_of_the_normal() {
        for (probability, quantile) in [(0.5, 0.0), (0.975, 1.959_964), (0.2, -0.841_621)] {
            assert!((normal_quantile(probability) - quantile).abs() < 1e-6);
        }
    }
}
