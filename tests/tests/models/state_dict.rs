//! Parameters by their PyTorch names: visited, and made of those names.

use bayesadapter::models::{Architecture, ModelConfig, Network};
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor, TensorData};

/// The PyTorch name and shape of a parameter: norm layers call theirs otherwise, and linear layers
/// store the transpose.
struct Names<'a> {
    architecture: &'a Architecture,
    path: Vec<String>,
}

impl Names<'_> {
    fn of<const D: usize>(&self, param: &Param<Tensor<D>>) -> (String, Vec<usize>) {
        let name = self.architecture.state_dict_name(&self.path.join("."));
        let name = match name.rsplit_once('.') {
            Some((norm, "gamma")) => format!("{norm}.weight"),
            Some((norm, "beta")) => format!("{norm}.bias"),
            _ => name,
        };
        let mut shape = param.lazy_shape().dims::<D>().to_vec();
        if D == 2 {
            shape.reverse();
        }
        (name, shape)
    }
}

struct Visit<'a, F>(Names<'a>, F);

/// What to do with a parameter of a PyTorch name and shape.
pub trait OnParam {
    fn on<const D: usize>(&mut self, name: String, shape: Vec<usize>, param: &Param<Tensor<D>>);
}

impl<F: OnParam> ModuleVisitor for Visit<'_, F> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.0.path.push(name.to_owned());
    }
    fn exit_module(&mut self, _: &str, _: &str) {
        self.0.path.pop();
    }
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let (name, shape) = self.0.of(param);
        self.1.on(name, shape, param);
    }
}

/// Hands every parameter of a network over.
pub fn visit<F: OnParam>(architecture: &Architecture, network: &Network, on_param: F) -> F {
    let path = Vec::new();
    let mut visitor = Visit(Names { architecture, path }, on_param);
    network.visit(&mut visitor);
    visitor.1
}

/// `uniform` of make_models.py.
fn uniform(name: &str, count: usize) -> impl Iterator<Item = f64> {
    let start = name.bytes().fold(2_166_136_261u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(16_777_619)
    });
    (0..count as u32).map(move |index| {
        let z = start.wrapping_add(index.wrapping_mul(0x9E37_79B9));
        let z = (z ^ (z >> 16)).wrapping_mul(0x85EB_CA6B);
        let z = (z ^ (z >> 13)).wrapping_mul(0xC2B2_AE35);
        f64::from((z ^ (z >> 16)) >> 8) / f64::from(1 << 24)
    })
}

/// `draw` of make_models.py.
pub fn draw(name: &str, shape: Vec<usize>) -> TensorData {
    let uniform = uniform(name, shape.iter().product());
    let bound = (4.0 / shape[1..].iter().product::<usize>() as f64).sqrt();
    let value = |u: f64| match name.rsplit('.').next() {
        Some("input") => 4.0 * u - 2.0,
        _ if shape.len() > 1 => (2.0 * u - 1.0) * bound,
        Some("bias" | "running_mean") => (2.0 * u - 1.0) * 0.25,
        _ => 0.5 + u,
    };
    let values: Vec<f32> = uniform.map(|u| value(u) as f32).collect();
    TensorData::new(values, shape)
}

/// Replaces every parameter by the one that its name and shape make.
struct Made<'a, F>(Names<'a>, F);

impl<F: Fn(&str, Vec<usize>) -> TensorData> ModuleMapper for Made<'_, F> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.0.path.push(name.to_owned());
    }
    fn exit_module(&mut self, _: &str, _: &str) {
        self.0.path.pop();
    }
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (name, shape) = self.0.of(&param);
        let device = param.lazy_device();
        let made = (self.1)(&name, shape);
        param.map(|before| {
            let made = Tensor::<D>::from_data(made, &device);
            let made = if D == 2 { made.swap_dims(0, 1) } else { made };
            made.set_require_grad(before.is_require_grad())
        })
    }
}

/// A network of parameters that their PyTorch names and shapes make.
pub fn made(
    architecture: &Architecture,
    device: &Device,
    make: impl Fn(&str, Vec<usize>) -> TensorData,
) -> Network {
    let path = Vec::new();
    let network = architecture.init(device).expect("a possible network");
    network.map(&mut Made(Names { architecture, path }, make))
}

/// A network of the golden weights.
pub fn drawn(architecture: &Architecture, device: &Device) -> Network {
    made(architecture, device, draw)
}
