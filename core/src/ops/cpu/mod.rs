//! The ops on plain processor cores, for Burn's Flex device.

mod conv;
mod conv_backward;
mod dots;
mod exp;
mod gaussian_matmul;
mod gaussian_rows;
mod lanes;
mod matmul;
mod norm;
mod norm_backward;
mod norm_ops;
mod product;
mod runs;
mod sample;
mod scale;
mod source;
#[cfg(test)]
mod tests;
mod tiles;
mod window;

use super::backend::{
    ExemplarBackend, ExemplarGradient, ExemplarGradients, ExemplarOp, Parameters, SampleOp, Wanted,
};
use bayesadapter_shaders::Map;
use burn::backend::Flex;
use burn::backend::flex::FlexTensor;
use burn::tensor::TensorData;
use source::Weight;
pub(super) use window::check;

impl ExemplarBackend for Flex {
    fn exemplar(x: FlexTensor, parameters: Parameters<Self>, op: ExemplarOp) -> FlexTensor {
        let (x, parameters) = (contiguous(x), contiguous_all(parameters.into_vec()));
        let weight = Weight::new(&op.source, &slices(&parameters), &op.map);
        let y = match &op.map {
            Map::Matmul(m) => matmul::forward(m, &weight, op.slots(), slice(&x)),
            Map::Conv2d(c) => conv::forward(c, &weight, slice(&x)),
        };
        tensor(y, op.map.y_shape())
    }

    fn sample(parameters: Parameters<Self>, op: SampleOp) -> FlexTensor {
        let parameters = contiguous_all(parameters.into_vec());
        let shape: Vec<usize> = parameters[0].layout().shape().iter().copied().collect();
        let weights = sample::forward(&slices(&parameters), &op);
        tensor(weights, [vec![op.draws()], shape].concat())
    }
}

impl ExemplarGradient for Flex {
    fn exemplar_backward(
        grad: FlexTensor,
        x: FlexTensor,
        parameters: Parameters<Self>,
        op: ExemplarOp,
        wanted: Wanted,
    ) -> ExemplarGradients<Self> {
        let (grad, x) = (contiguous(grad), contiguous(x));
        let parameters = contiguous_all(parameters.into_vec());
        let weight = Weight::new(&op.source, &slices(&parameters), &op.map);
        let (g, values) = (slice(&grad), slice(&x));
        let gradients = match &op.map {
            Map::Matmul(m) => matmul::backward(m, &weight, op.slots(), g, values, wanted),
            Map::Conv2d(c) => {
                let lengths: Vec<usize> = slices(&parameters).iter().map(|p| p.len()).collect();
                conv_backward::backward(c, &weight, op.slots(), &lengths, g, values, wanted)
            }
        };
        let inputs = std::iter::once(&x).chain(&parameters);
        let gradients = gradients.into_iter().zip(inputs);
        ExemplarGradients::from_vec(gradients.map(|(dx, x)| gradient(dx, x)).collect())
    }

    fn sample_backward(
        grad: FlexTensor,
        parameters: Parameters<Self>,
        op: SampleOp,
    ) -> Parameters<Self> {
        let (grad, parameters) = (contiguous(grad), contiguous_all(parameters.into_vec()));
        let gradients = sample::backward(slice(&grad), &slices(&parameters), &op);
        let gradients = gradients.into_iter().zip(&parameters);
        Parameters::from_vec(gradients.map(|(dp, p)| gradient(dp, p)).collect())
    }
}

impl ExemplarOp {
    /// Number of weights or components; one where the source has none.
    fn slots(&self) -> usize {
        self.source.slots().map_or(1, |(_, count)| count)
    }
}

fn contiguous(tensor: FlexTensor) -> FlexTensor {
    let layout = tensor.layout();
    if tensor.is_contiguous() {
        return tensor;
    }
    // The gradient of a sum is one number, seen many times.
    let number = tensor.storage::<f32>().get(layout.start_offset());
    if let Some(&number) = number.filter(|_| layout.strides().iter().all(|&stride| stride == 0)) {
        let values = runs::repeated(number, layout.num_elements());
        return shaped_like(&tensor, values);
    }
    tensor.to_contiguous()
}

fn contiguous_all(tensors: Vec<FlexTensor>) -> Vec<FlexTensor> {
    tensors.into_iter().map(contiguous).collect()
}

/// The values of a contiguous f32 tensor, which the public ops have made sure of.
fn slice(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice().unwrap_or_default()
}

/// The values of a contiguous f32 tensor, to be written in place; a copy of them, if another tensor
/// has them too.
fn slice_mut(tensor: &mut FlexTensor) -> &mut [f32] {
    match tensor.layout().contiguous_offsets() {
        Some((start, end)) => &mut tensor.storage_mut()[start..end],
        None => &mut [],
    }
}

fn slices(tensors: &[FlexTensor]) -> Vec<&[f32]> {
    tensors.iter().map(slice).collect()
}

fn tensor(values: Vec<f32>, shape: Vec<usize>) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape))
}

fn shaped_like(like: &FlexTensor, values: Vec<f32>) -> FlexTensor {
    tensor(values, like.layout().shape().iter().copied().collect())
}

/// A gradient in the shape of its input, or of no elements where it was not wanted.
fn gradient(values: Vec<f32>, like: &FlexTensor) -> FlexTensor {
    match values.len() {
        0 => tensor(values, vec![0]),
        _ => shaped_like(like, values),
    }
}
