//! Plain weights under PyTorch's names.

use super::{
    CheckpointError, CheckpointProblem, Rename,
    names::{is_linear_weight, torch_name},
};
use crate::{path::Path, read};
use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::Tensor,
};
use safetensors::{Dtype, tensor::TensorView};

/// The float tensors of a plain module as a safetensors file in PyTorch's conventions: norms have `weight` and
/// `bias`, and the weight of a linear layer is `[out, in]`. `rename` turns a module's path, in PyTorch's words, into
/// the name in the file.
///
/// ```
/// use bayesadapter::{checkpoint::{Checkpoint, to_safetensors}, nn::LinearConfig};
/// use burn::tensor::{Device, read_sync};
///
/// let layer = LinearConfig::new(3, 2).init(&Device::flex());
/// let bytes = read_sync(to_safetensors(&layer, None))?;
/// let checkpoint = Checkpoint::from_bytes(bytes)?;
/// assert_eq!(checkpoint.get("weight").map(|tensor| tensor.shape().to_vec()), Some(vec![2, 3]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// A device that fails.
pub async fn to_safetensors<M: Module>(
    module: &M,
    rename: Option<&Rename>,
) -> Result<Vec<u8>, CheckpointError> {
    let mut walk = Collect::default();
    // `valid` takes up the last update of running statistics, which a visit would miss.
    module.valid().visit(&mut walk);
    let failed = |error: &dyn std::fmt::Display| {
        CheckpointError::in_file(None, CheckpointProblem::Write(error.to_string()))
    };
    let mut tensors = Vec::new();
    for (name, shape, tensor) in walk.found {
        let name = match rename {
            Some(rename) => rename.name(&name),
            None => name,
        };
        tensors.push((name, shape, read::values(tensor).await?));
    }
    let views = tensors.iter().map(|(name, shape, values)| {
        let view = TensorView::new(Dtype::F32, shape.clone(), bytemuck::cast_slice(values));
        Ok((name.as_str(), view.map_err(|error| failed(&error))?))
    });
    let views: Vec<(&str, TensorView<'_>)> = views.collect::<Result<_, CheckpointError>>()?;
    let origin = [("format".to_owned(), "pt".to_owned())];
    safetensors::serialize(views, Some(origin.into_iter().collect()))
        .map_err(|error| failed(&error))
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
        let mut value = param.val().without_autodiff();
        if D == 2 && is_linear_weight(&self.path) {
            value = value.swap_dims(0, 1);
        }
        let (shape, elements) = (value.dims().to_vec(), value.shape().num_elements());
        let flat = value.reshape([elements]);
        self.found.push((torch_name(&self.path), shape, flat));
    }
}
