//! One weight of each source, element by element.

use crate::geometry::Map;
use crate::source::Source;

/// The parameter tensors of a source, flat.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<'a> {
    /// In the order that the variant of [`Source`] says.
    pub tensors: &'a [&'a [f32]],
}

/// (tap, output) of a flat element: its place in the matrix of [`Map::fan`].
pub(super) fn matrix_place(map: &Map, element: usize) -> [usize; 2] {
    let [fan_in, fan_out] = map.fan();
    match map {
        Map::Matmul(_) => [element / fan_out, element % fan_out],
        Map::Conv2d(_) => [element % fan_in, element / fan_in],
    }
}

/// `(l r)[tap, output]` of one component.
pub(super) fn factor(
    map: &Map,
    rank: usize,
    left: &[f32],
    right: &[f32],
    component: usize,
    element: usize,
) -> f32 {
    let [fan_in, fan_out] = map.fan();
    let [tap, output] = matrix_place(map, element);
    (0..rank)
        .map(|q| {
            left[(component * fan_in + tap) * rank + q]
                * right[(component * rank + q) * fan_out + output]
        })
        .sum()
}

/// One element of the weight of one example.
pub fn weight_of_example(
    map: &Map,
    source: &Source,
    parameters: Parameters<'_>,
    example: usize,
    element: usize,
) -> f32 {
    let tensors = parameters.tensors;
    match source {
        Source::Given { index, .. } => {
            tensors[0][index[example] as usize * map.weight_len() + element]
        }
        Source::Gaussian { key } => {
            tensors[0][element]
                + tensors[1][element].exp() * key.normal(example as u32, element as u32)
        }
        Source::LowRank { index, rank, .. } => {
            let component = index[example] as usize;
            tensors[0][element] * factor(map, *rank, tensors[1], tensors[2], component, element)
        }
    }
}

/// The weights of all examples `[batch, ..weight shape]`.
pub(super) fn weights(map: &Map, source: &Source, parameters: Parameters<'_>) -> Vec<f32> {
    (0..map.batch())
        .flat_map(|example| (0..map.weight_len()).map(move |element| (example, element)))
        .map(|(example, element)| weight_of_example(map, source, parameters, example, element))
        .collect()
}
