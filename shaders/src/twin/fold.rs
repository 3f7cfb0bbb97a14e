//! Twins of the folds: gradients of a low-rank ensemble from those of its weights.
//!
//! `d_weight[entries][..weight shape]`, entry `e` being a use of component `components[e]`.

use super::weight::{factor, matrix_place};
use crate::geometry::Map;

/// Gradient of the shared weight.
pub fn fold_shared(
    map: &Map,
    rank: usize,
    components: &[u32],
    d_weight: &[f32],
    left: &[f32],
    right: &[f32],
) -> Vec<f32> {
    let mut d_shared = vec![0.0; map.weight_len()];
    for (entry, &component) in components.iter().enumerate() {
        for (element, sum) in d_shared.iter_mut().enumerate() {
            *sum += d_weight[entry * map.weight_len() + element]
                * factor(map, rank, left, right, component as usize, element);
        }
    }
    d_shared
}

/// Gradient of the left factors `[components, in, rank]`.
pub fn fold_left(
    map: &Map,
    rank: usize,
    components: &[u32],
    count: usize,
    d_weight: &[f32],
    shared: &[f32],
    right: &[f32],
) -> Vec<f32> {
    let [fan_in, fan_out] = map.fan();
    let mut d_left = vec![0.0; count * fan_in * rank];
    for (entry, &component) in components.iter().enumerate() {
        for (element, shared) in shared.iter().enumerate() {
            let [tap, output] = matrix_place(map, element);
            let both = d_weight[entry * map.weight_len() + element] * shared;
            for q in 0..rank {
                d_left[(component as usize * fan_in + tap) * rank + q] +=
                    both * right[(component as usize * rank + q) * fan_out + output];
            }
        }
    }
    d_left
}

/// Gradient of the right factors `[components, rank, out]`.
pub fn fold_right(
    map: &Map,
    rank: usize,
    components: &[u32],
    count: usize,
    d_weight: &[f32],
    shared: &[f32],
    left: &[f32],
) -> Vec<f32> {
    let [fan_in, fan_out] = map.fan();
    let mut d_right = vec![0.0; count * rank * fan_out];
    for (entry, &component) in components.iter().enumerate() {
        for (element, shared) in shared.iter().enumerate() {
            let [tap, output] = matrix_place(map, element);
            let both = d_weight[entry * map.weight_len() + element] * shared;
            for q in 0..rank {
                d_right[(component as usize * rank + q) * fan_out + output] +=
                    both * left[(component as usize * fan_in + tap) * rank + q];
            }
        }
    }
    d_right
}
