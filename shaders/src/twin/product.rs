//! Twins of the products. Every (example, weight element, position) is visited once, in the order
//! of [`visit`]; the three kernels differ only in what they add where.

use super::weight::{Parameters, weights};
use crate::geometry::{Conv2d, Map, Matmul};
use crate::source::Source;

/// Calls `add(example, element, x index, y index)` for every multiply-add of the map.
fn visit(map: &Map, add: impl FnMut(usize, usize, usize, usize)) {
    match map {
        Map::Matmul(matmul) => visit_matmul(matmul, add),
        Map::Conv2d(conv) => visit_conv2d(conv, add),
    }
}

fn visit_matmul(m: &Matmul, mut add: impl FnMut(usize, usize, usize, usize)) {
    for example in 0..m.batch {
        for row in 0..m.rows {
            for input in 0..m.inputs {
                for output in 0..m.outputs {
                    add(
                        example,
                        input * m.outputs + output,
                        (example * m.rows + row) * m.inputs + input,
                        (example * m.rows + row) * m.outputs + output,
                    );
                }
            }
        }
    }
}

fn visit_conv2d(c: &Conv2d, mut add: impl FnMut(usize, usize, usize, usize)) {
    let [h, w] = c.image;
    let [oh, ow] = c.output();
    let [outputs, inputs, kh, kw] = c.weight_shape();
    let outputs_per_group = outputs / c.groups;
    for example in 0..c.batch {
        for o in 0..outputs {
            let first_input = o / outputs_per_group * inputs;
            for i in 0..inputs {
                for (ky, kx) in (0..kh).flat_map(|ky| (0..kw).map(move |kx| (ky, kx))) {
                    for (oy, ox) in (0..oh).flat_map(|oy| (0..ow).map(move |ox| (oy, ox))) {
                        let iy =
                            (oy * c.stride[0] + ky * c.dilation[0]).wrapping_sub(c.padding.top);
                        let ix =
                            (ox * c.stride[1] + kx * c.dilation[1]).wrapping_sub(c.padding.left);
                        if iy >= h || ix >= w {
                            continue;
                        }
                        add(
                            example,
                            ((o * inputs + i) * kh + ky) * kw + kx,
                            ((example * c.channels_in + first_input + i) * h + iy) * w + ix,
                            ((example * outputs + o) * oh + oy) * ow + ox,
                        );
                    }
                }
            }
        }
    }
}

/// y.
pub fn product_forward(
    map: &Map,
    source: &Source,
    x: &[f32],
    parameters: Parameters<'_>,
) -> Vec<f32> {
    let mut y = vec![0.0; map.y_shape().iter().product()];
    let weights = weights(map, source, parameters);
    visit(map, |example, element, x_at, y_at| {
        y[y_at] += weights[example * map.weight_len() + element] * x[x_at];
    });
    y
}

/// dx.
pub fn product_backward_x(
    map: &Map,
    source: &Source,
    grad: &[f32],
    parameters: Parameters<'_>,
) -> Vec<f32> {
    let mut dx = vec![0.0; map.x_shape().iter().product()];
    let weights = weights(map, source, parameters);
    visit(map, |example, element, x_at, y_at| {
        dx[x_at] += weights[example * map.weight_len() + element] * grad[y_at];
    });
    dx
}

/// The gradient of each example's weight `[batch, ..weight shape]`, and from it, by the fold twins,
/// that of the parameters. Stored per example: a twin is written to be read.
pub fn product_backward_w(map: &Map, x: &[f32], grad: &[f32]) -> Vec<f32> {
    let mut dw = vec![0.0; map.batch() * map.weight_len()];
    visit(map, |example, element, x_at, y_at| {
        dw[example * map.weight_len() + element] += x[x_at] * grad[y_at];
    });
    dw
}

/// `[slots, elements]`: the sums over the parts `slot_starts[s] .. slot_starts[s + 1]` of each slot.
/// A part takes `part_stride` floats, and what is summed begins `region_offset` into it.
pub fn sum_parts(
    slot_starts: &[u32],
    elements: usize,
    part_stride: usize,
    region_offset: usize,
    parts: &[f32],
) -> Vec<f32> {
    let sum = |slot: usize, element: usize| {
        (slot_starts[slot]..slot_starts[slot + 1])
            .map(|part| parts[part as usize * part_stride + region_offset + element])
            .sum()
    };
    (0..slot_starts.len() - 1)
        .flat_map(|slot| (0..elements).map(move |element| (slot, element)))
        .map(|(slot, element)| sum(slot, element))
        .collect()
}
