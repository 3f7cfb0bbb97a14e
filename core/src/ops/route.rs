//! Who computes an op on a given device.

use super::{
    backend::{ExemplarOp, SampleOp},
    error::OpError,
};
use bayesadapter_shaders::geometry::MAX_ELEMENTS;
use bayesadapter_shaders::kernels::{SourceKind, region_len};
use bayesadapter_shaders::{GeometryError, Map, Source};
use burn::backend::DispatchDevice;
use burn::tensor::Device;

/// Where a device keeps its tensors, and what bounds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hardware {
    /// Whether it is the processor itself, and no adapter.
    pub cpu: bool,
    /// Whether tensors are in the memory of the host.
    pub in_host_memory: bool,
    /// Whether it is an adapter that computes on the CPU.
    pub software_adapter: bool,
    /// The most bytes that one tensor may take, where that is known.
    pub tensor_limit: Option<u64>,
}

impl Hardware {
    pub(crate) fn of(device: &Device) -> Self {
        let (cpu, software_adapter) = match device.clone().without_autodiff().as_dispatch() {
            DispatchDevice::Flex(_) => (true, false),
            DispatchDevice::Cube(device) => (false, super::gpu::is_software_adapter(device)),
            _ => (false, false),
        };
        Self {
            cpu,
            in_host_memory: cpu || software_adapter,
            software_adapter,
            tensor_limit: match Route::of(device) {
                Route::Wgsl { limit } => Some(limit),
                Route::Cpu | Route::Reference => None,
            },
        }
    }
}

/// The implementation that serves a device.
#[derive(Clone, Copy)]
pub(super) enum Route {
    /// Rust kernels on Flex tensors.
    Cpu,
    /// WGSL on a wgpu adapter that binds at most so many bytes.
    Wgsl { limit: u64 },
    /// Ordinary tensor operations, for everything else.
    Reference,
}

impl Route {
    pub fn of(device: &Device) -> Self {
        match device.clone().without_autodiff().as_dispatch() {
            DispatchDevice::Flex(_) => Self::Cpu,
            DispatchDevice::Cube(device) => match super::gpu::binding_limit(device) {
                Some(limit) => Self::Wgsl { limit },
                None => Self::Reference,
            },
            _ => Self::Reference,
        }
    }

    /// Refuses what the adapter cannot bind, or an index does not reach.
    pub fn check_exemplar(&self, op: &ExemplarOp) -> Result<(), OpError> {
        if let (Self::Cpu, Map::Conv2d(c)) = (self, &op.map) {
            super::cpu::check(c)?;
        }
        self.check(&[
            ("x", op.map.x_shape()),
            ("the result", op.map.y_shape()),
            ("the weight", op.map.weight_shape()),
        ])?;
        match op.source {
            Source::Given { count, .. } => {
                self.check(&[("the weights", vec![count, op.map.weight_len()])])
            }
            // Both gradients are made in one buffer.
            Source::Gaussian { .. } => {
                let region = region_len(&op.map, SourceKind::Gaussian);
                self.check(&[("the weight's gradients", vec![2, region])])
            }
            Source::LowRank { .. } => self.check_factors(op),
        }
    }

    /// Refuses what the adapter cannot bind. A parameter is as large as one draw.
    pub fn check_sample(&self, op: &SampleOp, weight_len: usize) -> Result<(), OpError> {
        self.check(&[("the draws", vec![op.draws(), weight_len])])?;
        match op {
            SampleOp::LowRank { op } => self.check_factors(op),
            SampleOp::Gaussian { .. } => Ok(()),
        }
    }

    /// Of a low-rank ensemble; other sources have none.
    fn check_factors(&self, op: &ExemplarOp) -> Result<(), OpError> {
        let Source::LowRank {
            components, rank, ..
        } = op.source
        else {
            return Ok(());
        };
        let [fan_in, fan_out] = op.map.fan();
        self.check(&[
            ("left", vec![components, fan_in, rank]),
            ("right", vec![components, rank, fan_out]),
        ])
    }

    fn check(&self, shapes: &[(&'static str, Vec<usize>)]) -> Result<(), OpError> {
        let Self::Wgsl { limit } = *self else {
            return Ok(());
        };
        for (what, shape) in shapes {
            let bytes = shape
                .iter()
                .fold(4u64, |bytes, &size| bytes.saturating_mul(size as u64));
            if bytes > limit {
                return Err(OpError::Limit { what, bytes, limit });
            }
            if bytes / 4 > MAX_ELEMENTS as u64 {
                return Err(GeometryError::TooLarge { what }.into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bayesadapter_shaders::{Conv2d, DrawAxis, Matmul, NoiseKey, Padding};

    #[test]
    fn refuses_what_the_adapter_cannot_bind() {
        let map = Map::Matmul(Matmul {
            batch: 64,
            rows: 1,
            inputs: 4,
            outputs: 16,
        });
        let key = NoiseKey::default();
        let op = ExemplarOp {
            map,
            source: Source::Gaussian { key },
        };
        // The weight's two gradients, padded to what a binding may start at, take less.
        let needed = 64 * 16 * 4;
        assert_eq!(Route::Wgsl { limit: needed }.check_exemplar(&op), Ok(()));
        let limit = needed - 1;
        assert_eq!(
            Route::Wgsl { limit }.check_exemplar(&op),
            Err(OpError::Limit {
                what: "the result",
                bytes: needed,
                limit,
            })
        );
        assert_eq!(Route::Cpu.check_exemplar(&op), Ok(()));
    }

    #[test]
    fn refuses_factors_that_the_adapter_cannot_bind() {
        let (batch, rank) = (8, 32);
        let map = Map::Matmul(Matmul {
            batch,
            rows: 1,
            inputs: 4,
            outputs: 4,
        });
        let source = Source::LowRank {
            index: vec![0; batch].into(),
            components: 2,
            rank,
        };
        let bytes = 4 * 2 * 4 * rank as u64;
        let limit = bytes - 1;
        assert_eq!(
            Route::Wgsl { limit }.check_exemplar(&ExemplarOp { map, source }),
            Err(OpError::Limit {
                what: "left",
                bytes,
                limit,
            })
        );
    }

    #[test]
    fn refuses_samples_that_the_adapter_cannot_bind() {
        let (inputs, outputs, components, rank) = (4, 6, 5, 3);
        let map = Map::Matmul(Matmul {
            batch: 2,
            rows: 1,
            inputs,
            outputs,
        });
        let source = Source::LowRank {
            index: vec![0; 2].into(),
            components,
            rank,
        };
        let low_rank = SampleOp::LowRank {
            op: ExemplarOp { map, source },
        };
        let gaussian = SampleOp::Gaussian {
            key: NoiseKey::default(),
            axis: DrawAxis::Example,
            draws: 2,
        };
        let len = inputs * outputs;
        let draws = 4 * (2 * len) as u64;
        let right = 4 * (components * rank * outputs) as u64;
        assert!(draws < right);
        for (op, what, needed) in [(&gaussian, "the draws", draws), (&low_rank, "right", right)] {
            assert_eq!(Route::Wgsl { limit: needed }.check_sample(op, len), Ok(()));
            let limit = needed - 1;
            assert_eq!(
                Route::Wgsl { limit }.check_sample(op, len),
                Err(OpError::Limit {
                    what,
                    bytes: needed,
                    limit,
                })
            );
            assert_eq!(Route::Cpu.check_sample(op, len), Ok(()));
        }
        // The smaller of the factors is looked at too.
        let left = 4 * (components * inputs * rank) as u64;
        assert!(draws < left);
        assert_eq!(
            Route::Wgsl { limit: left - 1 }.check_sample(&low_rank, len),
            Err(OpError::Limit {
                what: "left",
                bytes: left,
                limit: left - 1,
            })
        );
    }

    #[test]
    fn refuses_what_an_index_does_not_reach() {
        let conv = Conv2d {
            batch: 1,
            channels_in: 1,
            channels_out: 1024,
            image: [1001, 1001],
            kernel: [2, 2],
            stride: [1, 1],
            dilation: [1000, 1000],
            padding: Padding::default(),
            groups: 1,
        };
        let map = Map::Conv2d(conv.checked().expect("a valid shape"));
        let given = |count| ExemplarOp {
            map,
            source: Source::Given {
                index: vec![0].into(),
                count,
            },
        };
        let too_large = |what| Err(GeometryError::TooLarge { what }.into());
        // The gradient reaches the image through taps that lie a whole image apart.
        assert_eq!(
            Route::Cpu.check_exemplar(&given(1)),
            too_large("the padded gradient")
        );
        let boundless = Route::Wgsl { limit: u64::MAX };
        assert_eq!(boundless.check_exemplar(&given(1)), Ok(()));
        assert_eq!(
            boundless.check_exemplar(&given(1 << 20)),
            too_large("the weights")
        );
    }
}
