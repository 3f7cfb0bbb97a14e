//! Twins of the sampling kernels.

use super::weight::factor;
use crate::geometry::Map;
use crate::noise::NoiseKey;
use crate::source::DrawAxis;

fn eps(key: NoiseKey, axis: DrawAxis, draw: usize, element: usize) -> f32 {
    match axis {
        DrawAxis::Example => key.normal(draw as u32, element as u32),
        DrawAxis::Draw => key.later(draw as u32).normal(0, element as u32),
    }
}

/// `[draws, elements]`.
pub fn sample_gaussian(
    key: NoiseKey,
    axis: DrawAxis,
    draws: usize,
    mu: &[f32],
    psi: &[f32],
) -> Vec<f32> {
    (0..draws)
        .flat_map(|draw| (0..mu.len()).map(move |element| (draw, element)))
        .map(|(draw, element)| mu[element] + psi[element].exp() * eps(key, axis, draw, element))
        .collect()
}

/// Gradients of mu and psi.
pub fn sample_gaussian_backward(
    key: NoiseKey,
    axis: DrawAxis,
    draws: usize,
    grad: &[f32],
    psi: &[f32],
) -> [Vec<f32>; 2] {
    let mut gradients = [vec![0.0; psi.len()], vec![0.0; psi.len()]];
    for draw in 0..draws {
        for element in 0..psi.len() {
            let value = grad[draw * psi.len() + element];
            gradients[0][element] += value;
            gradients[1][element] += value * psi[element].exp() * eps(key, axis, draw, element);
        }
    }
    gradients
}

/// `[index.len(), ..weight shape]`.
pub fn sample_low_rank(
    map: &Map,
    rank: usize,
    index: &[u32],
    shared: &[f32],
    left: &[f32],
    right: &[f32],
) -> Vec<f32> {
    index
        .iter()
        .flat_map(|&component| {
            shared.iter().enumerate().map(move |(element, shared)| {
                shared * factor(map, rank, left, right, component as usize, element)
            })
        })
        .collect()
}
