//! The tensors of a network under their paths.

use super::FileError;
use crate::{path::Path, read};
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{Tensor, TensorData},
};
use std::collections::BTreeMap;
use xxhash_rust::xxh3::Xxh3;

/// A tensor on the host.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stored {
    pub shape: Vec<usize>,
    pub values: Vec<f32>,
}

/// All float tensors of a module, running statistics and attached state among them.
pub(super) async fn collect(module: &impl Module) -> Result<BTreeMap<String, Stored>, FileError> {
    let mut walk = Collect::default();
    module.visit(&mut walk);
    let mut tensors = BTreeMap::new();
    for (path, shape, tensor) in walk.found {
        let values = read::values(tensor).await?;
        tensors.insert(path, Stored { shape, values });
    }
    Ok(tensors)
}

/// Paths and shapes of all float tensors of a module.
pub(super) fn shapes(module: &impl Module) -> BTreeMap<String, Vec<usize>> {
    let mut walk = Collect::default();
    module.visit(&mut walk);
    let found = walk.found.into_iter();
    found.map(|(path, shape, _)| (path, shape)).collect()
}

/// Number of elements of all float tensors of a module, without making those that are not made yet.
pub(super) fn lazy_elements(module: &impl Module) -> usize {
    struct Count(usize);
    impl ModuleVisitor for Count {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let sizes = param.lazy_shape();
            let elements = sizes
                .iter()
                .fold(1usize, |all, &size| all.saturating_mul(size));
            self.0 = self.0.saturating_add(elements);
        }
    }
    let mut count = Count(0);
    module.visit(&mut count);
    count.0
}

#[derive(Default)]
struct Collect {
    path: Path,
    found: Vec<(String, Vec<usize>, Tensor<1>)>,
}

impl ModuleVisitor for Collect {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.leave();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let value = param.base().without_autodiff();
        let elements = value.shape().num_elements();
        let shape = value.dims().to_vec();
        let flat = value.reshape([elements]);
        self.found.push((self.path.name(), shape, flat));
    }
}

/// Puts tensors into a module. They must be all, and of the right shapes.
pub(super) struct Fill {
    path: Path,
    tensors: BTreeMap<String, Stored>,
}

impl Fill {
    pub(super) fn new(tensors: BTreeMap<String, Stored>) -> Self {
        let path = Path::default();
        Self { path, tensors }
    }
}

impl ModuleMapper for Fill {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.leave();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(Stored { shape, values }) = self.tensors.remove(&self.path.name()) else {
            return param;
        };
        param.map(|old| {
            let require_grad = old.is_require_grad();
            let new = Tensor::from_data(TensorData::new(values, shape), &old.device());
            match require_grad {
                true => new.require_grad(),
                false => new,
            }
        })
    }
}

/// A checksum of the header and of every tensor with its path and shape.
pub(super) fn checksum(header: &str, tensors: &BTreeMap<String, Stored>) -> String {
    let mut hash = Xxh3::new();
    // Lengths as well, so that no byte can move from one field into the next.
    let mut add = |bytes: &[u8]| {
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(header.as_bytes());
    for (path, Stored { shape, values }) in tensors {
        add(path.as_bytes());
        for &size in shape {
            add(&(size as u64).to_le_bytes());
        }
        add(bytemuck::cast_slice(values));
    }
    format!("{:032x}", hash.digest128())
}
