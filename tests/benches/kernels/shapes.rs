//! What is measured: ten layers, four weight sources, two passes.

use bayesadapter_shaders::{Conv2d, Map, Matmul, Padding, cases};
use serde::Serialize;

/// One layer with its batch.
#[derive(Clone, Debug)]
pub struct Shape {
    pub name: String,
    pub map: Map,
}

impl Shape {
    fn new(map: Map) -> Self {
        let name = match &map {
            Map::Matmul(m) => format!("linear {}->{} b{}", m.inputs, m.outputs, m.batch),
            Map::Conv2d(c) => {
                let ([kh, kw], [h, w]) = (c.kernel, c.image);
                let kind = if c.groups == 1 { "" } else { " depthwise" };
                let channels = format!("{}->{}", c.channels_in, c.channels_out);
                format!("{kh}x{kw}{kind} {channels} @{h}x{w} b{}", c.batch)
            }
        };
        Self { name, map }
    }

    /// The layers of the memory rows.
    pub fn for_memory(batch: usize) -> [Self; 2] {
        let conv = Conv2d {
            batch,
            channels_in: 64,
            channels_out: 64,
            image: [8, 8],
            kernel: [3, 3],
            stride: [1, 1],
            dilation: [1, 1],
            padding: Padding::symmetric(1, 1),
            groups: 1,
        };
        let linear = Matmul {
            batch,
            rows: 1,
            inputs: 512,
            outputs: 512,
        };
        [Map::Conv2d(conv), Map::Matmul(linear)].map(Self::new)
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

/// The layers that the traffic of the kernels is tested with.
pub fn shapes() -> Vec<Shape> {
    cases::layers().into_iter().map(Shape::new).collect()
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
