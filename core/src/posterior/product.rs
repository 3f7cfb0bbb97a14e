//! The matrix product of posteriors.

use crate::ops::{MatmulWeights, OpError, exemplar_matmul};
use burn::tensor::Tensor;

/// An ordinary matrix product, by the kernels that run everywhere.
pub(super) fn product(left: Tensor<2>, right: Tensor<2>) -> Result<Tensor<2>, OpError> {
    let [rows, _] = left.dims();
    let columns = right.dims()[1];
    let weights = MatmulWeights::Given {
        weights: right.unsqueeze(),
        index: vec![0],
    };
    Ok(exemplar_matmul(left.unsqueeze(), weights, None)?.reshape([rows, columns]))
}
