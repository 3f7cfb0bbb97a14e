//! Scaling of every example's rows by those of its component: what stands before and behind the shared weight of a
//! low-rank product.

mod autodiff;
pub(super) mod backend;

use super::{reference, route::Route};
use backend::ScaleBackend;
use burn::backend::Dispatch;
use burn::tensor::{Device, Int, Tensor};
use std::sync::Arc;

/// The component of every example, as the device's way of scaling takes it.
pub(super) enum Components {
    /// By a kernel.
    Listed(Arc<[u32]>),
    /// By tensor operations.
    Tensor(Box<Tensor<1, Int>>),
}

impl Components {
    pub fn new(route: Route, index: Vec<u32>, device: &Device) -> Self {
        match route {
            Route::Cpu => Self::Listed(index.into()),
            Route::Wgsl { .. } | Route::Reference => {
                Self::Tensor(Box::new(reference::slots(&index, device)))
            }
        }
    }

    /// `x[b, t, i] * factors[c, i]`, `c` being the component of example `b`, for x `[batch, rows, columns]` and
    /// factors `[components, columns]`. Differentiable in both. The caller has checked that they fit.
    pub fn scale(&self, x: Tensor<3>, factors: Tensor<2>) -> Tensor<3> {
        match self {
            Self::Listed(index) => Tensor::from_dispatch(Dispatch::scale(
                x.into_dispatch(),
                factors.into_dispatch(),
                index.clone(),
            )),
            Self::Tensor(index) => x * factors.select(0, (**index).clone()).unsqueeze_dim(1),
        }
    }
}
