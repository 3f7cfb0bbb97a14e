//! What is measured: ten layers, four weight sources, two passes.

use bayesadapter_shaders::{Conv2d, Map, Matmul, Padding};
use serde::Serialize;

/// One layer with its batch.
#[derive(Clone, Debug)]
pub struct Shape {
    pub name: String,
    pub map: Map,
}

impl Shape {
    /// A convolution with as much padding as keeps the image size.
    fn conv(kernel: usize, channels: [usize; 2], side: usize, batch: usize, groups: usize) -> Self {
        let [channels_in, channels_out] = channels;
        let kind = if groups == 1 { "" } else { " depthwise" };
        Self {
            name: format!(
                "{kernel}x{kernel}{kind} {channels_in}->{channels_out} @{side}x{side} b{batch}"
            ),
            map: Map::Conv2d(Conv2d {
                batch,
                channels_in,
                channels_out,
                image: [side, side],
                kernel: [kernel, kernel],
                stride: [1, 1],
                dilation: [1, 1],
                padding: Padding::symmetric(kernel / 2, kernel / 2),
                groups,
            }),
        }
    }

    fn linear(inputs: usize, outputs: usize, batch: usize) -> Self {
        Self {
            name: format!("linear {inputs}->{outputs} b{batch}"),
            map: Map::Matmul(Matmul {
                batch,
                rows: 1,
                inputs,
                outputs,
            }),
        }
    }

    /// The layer of the memory rows.
    pub fn for_memory(batch: usize) -> Self {
        Self::conv(3, [64, 64], 8, batch, 1)
    }

    pub fn op(&self) -> &'static str {
        match self.map {
            Map::Matmul(_) => "exemplar_matmul",
            Map::Conv2d(_) => "exemplar_conv2d",
        }
    }

    /// A dense 3x3 convolution, over which the targets take a geometric mean.
    pub fn is_dense_3x3(&self) -> bool {
        matches!(self.map, Map::Conv2d(c) if c.kernel == [3, 3] && c.groups == 1)
    }

    /// Bytes of one weight per example, which the given source and every peer must hold.
    pub fn exemplar_weight_bytes(&self) -> usize {
        4 * self.map.batch() * self.map.weight_len()
    }
}

/// The list of issue 2.
pub fn shapes() -> Vec<Shape> {
    vec![
        Shape::conv(3, [16, 16], 32, 32, 1),
        Shape::conv(3, [32, 32], 16, 32, 1),
        Shape::conv(3, [64, 64], 8, 32, 1),
        Shape::conv(3, [64, 64], 16, 32, 1),
        Shape::conv(3, [128, 128], 16, 16, 1),
        Shape::conv(3, [96, 96], 16, 32, 96),
        Shape::conv(1, [64, 256], 16, 32, 1),
        Shape::linear(512, 512, 64),
        Shape::linear(512, 10, 128),
        Shape::linear(2048, 1000, 128),
    ]
}

/// Components of the low-rank ensemble, as in the paper.
pub const COMPONENTS: usize = 20;

/// Where the weights come from; `Shared` is one given weight for all examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    Shared,
    Given,
    Gaussian,
    LowRank,
}

impl SourceKind {
    pub const ALL: [Self; 4] = [Self::Shared, Self::Given, Self::Gaussian, Self::LowRank];

    pub fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Given => "given",
            Self::Gaussian => "gaussian",
            Self::LowRank => "low_rank",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    Forward,
    ForwardBackward,
}

impl Pass {
    pub const ALL: [Self; 2] = [Self::Forward, Self::ForwardBackward];

    pub fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::ForwardBackward => "forward+backward",
        }
    }

    /// Useful operations: the backward pass makes two products of the forward's size.
    pub fn flop(self, map: &Map) -> f64 {
        match self {
            Self::Forward => map.flop(),
            Self::ForwardBackward => 3.0 * map.flop(),
        }
    }
}
