//! Golden tensors: what `golden/make_golden.py` has written.

use bayesadapter::ops::{ConvOptions, NoiseKey, Padding};
use burn::tensor::TensorData;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::Deserialize;

/// The golden file, opened.
pub struct Golden {
    file: SafeTensors<'static>,
    about: About,
}

#[derive(Deserialize)]
struct About {
    key: GoldenKey,
    noise: Vec<GoldenKey>,
    cases: Vec<Case>,
}

/// A noise key as the script spells it.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct GoldenKey {
    seed: u64,
    draw: u32,
    parameter: u32,
    first_example: u32,
    /// The example that known answers were made for; the batch of a case starts at zero.
    #[serde(default)]
    pub example: u32,
}

impl GoldenKey {
    pub fn key(&self) -> NoiseKey {
        NoiseKey {
            seed: self.seed,
            draw: self.draw,
            parameter: self.parameter,
            first_example: self.first_example,
        }
    }
}

/// One geometry, computed with every weight source.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    pub name: String,
    #[serde(flatten)]
    pub map: MapKind,
    pub bias: bool,
    /// Slot of each example, for the sources that have slots.
    pub index: Vec<u32>,
}

/// What kind of map a case is, with the geometry that shapes do not tell.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum MapKind {
    Matmul,
    Conv2d {
        stride: [usize; 2],
        dilation: [usize; 2],
        /// Top, bottom, left, right.
        padding: [usize; 4],
        groups: usize,
    },
}

impl MapKind {
    /// Options of a convolution.
    pub fn conv_options(&self) -> Option<ConvOptions> {
        match *self {
            Self::Matmul => None,
            Self::Conv2d {
                stride,
                dilation,
                padding: [top, bottom, left, right],
                groups,
            } => Some(ConvOptions {
                stride,
                dilation,
                padding: Padding {
                    top,
                    bottom,
                    left,
                    right,
                },
                groups,
            }),
        }
    }
}

impl Golden {
    pub fn open() -> Self {
        let bytes = include_bytes!("../golden/golden.safetensors");
        let (_, header) = SafeTensors::read_metadata(bytes).expect("a safetensors file");
        let about = header.metadata().as_ref().expect("metadata")["about"].as_str();
        Self {
            file: SafeTensors::deserialize(bytes).expect("a safetensors file"),
            about: serde_json::from_str(about).expect("metadata as make_golden.py writes it"),
        }
    }

    /// The key of every Gaussian source.
    pub fn key(&self) -> NoiseKey {
        self.about.key.key()
    }

    pub fn cases(&self) -> &[Case] {
        &self.about.cases
    }

    /// Keys of the rows of `noise/bits`, `noise/uniforms` and `noise/normals`.
    pub fn noise_keys(&self) -> &[GoldenKey] {
        &self.about.noise
    }

    pub fn floats(&self, name: &str) -> Vec<f32> {
        self.words(name, Dtype::F32, f32::from_le_bytes)
    }

    pub fn integers(&self, name: &str) -> Vec<u32> {
        self.words(name, Dtype::U32, u32::from_le_bytes)
    }

    pub fn tensor(&self, name: &str) -> TensorData {
        TensorData::new(self.floats(name), self.view(name).shape())
    }

    fn words<T>(&self, name: &str, dtype: Dtype, read: fn([u8; 4]) -> T) -> Vec<T> {
        let view = self.view(name);
        assert_eq!(view.dtype(), dtype, "{name}");
        let (words, _) = view.data().as_chunks();
        words.iter().map(|&word| read(word)).collect()
    }

    fn view(&self, name: &str) -> TensorView<'_> {
        self.file
            .tensor(name)
            .unwrap_or_else(|error| panic!("{name} is not in the golden file: {error}"))
    }
}
