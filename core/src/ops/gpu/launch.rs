//! From a [`Launch`] to the device's queue.

use bayesadapter_shaders::kernels::{Kernel, Launch};
use burn::tensor::{DType, Shape};
use burn_wgpu::{CubeDim, CubeTensor, KernelSource, SourceKernel, SourceTemplate};
use cubecl::client::Client;
use cubecl::server::{Handle, KernelArguments};
use cubecl::{CubeCount, prelude::KernelId};

struct Wgsl(Kernel);

impl KernelSource for Wgsl {
    fn source(&self) -> SourceTemplate {
        SourceTemplate::new(self.0.source())
    }

    fn id(&self) -> KernelId {
        KernelId::new::<Self>().info(self.0.clone())
    }

    fn lang(&self) -> &'static str {
        "wgsl"
    }
}

/// Binds info, then the tensors in order, and launches.
pub(super) fn run(client: &Client, launch: Launch, tensors: &[&CubeTensor]) {
    let handles = tensors.iter().map(|tensor| tensor.handle.clone());
    let info = client.create_from_slice(bytemuck::cast_slice(&launch.info));
    let buffers = std::iter::once(info)
        .chain(handles)
        .map(Handle::binding)
        .collect();
    let [x, y, z] = launch.grid();
    let threads = CubeDim::new_1d(launch.kernel.threads());
    client.launch(
        Box::new(SourceKernel::new(Wgsl(launch.kernel), threads)),
        CubeCount::Static(x, y, z),
        KernelArguments::new().with_buffers(buffers),
    );
}

/// An uninitialised f32 tensor on the device of `like`.
pub(super) fn empty_tensor(like: &CubeTensor, shape: &[usize]) -> CubeTensor {
    let bytes = shape.iter().product::<usize>() * size_of::<f32>();
    // An empty buffer cannot be bound.
    let handle = uninitialised(&like.client, bytes.max(size_of::<f32>()));
    tensor_on(like, shape, handle)
}

/// In the tests all NaN, so that they notice what a kernel leaves out.
fn uninitialised(client: &Client, bytes: usize) -> Handle {
    match cfg!(test) {
        true => client.create_from_slice(&vec![0xFF; bytes]),
        false => client.empty(bytes),
    }
}

pub(super) fn empty_like(like: &CubeTensor) -> CubeTensor {
    let shape: Vec<usize> = like.meta.shape().iter().copied().collect();
    empty_tensor(like, &shape)
}

/// A tensor of the given shape in an existing buffer.
pub(super) fn tensor_on(like: &CubeTensor, shape: &[usize], handle: Handle) -> CubeTensor {
    CubeTensor::new_contiguous(
        like.client.clone(),
        like.device.clone(),
        Shape::from(shape.to_vec()),
        handle,
        DType::F32,
    )
}
