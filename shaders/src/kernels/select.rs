//! Which kernel serves a map, a source and an adapter.

use super::columns::{product_backward_x, product_forward};
use super::direct::{self, direct_backward_w, direct_backward_x, direct_forward, direct_parts};
use super::gradient::{Gradient, product_backward_w};
use super::plain_product::{self, plain_product};
use super::segments::{Reduction, Segments};
use super::vector::{vector_backward_w, vector_backward_x, vector_forward, vector_parts};
use super::{Launch, SourceKind, Variant};
use crate::geometry::{Map, Matmul};
use crate::source::Source;

/// Products of single rows with a weight per example, which have kernels of their own.
pub(super) fn single_rows(map: &Map, kind: SourceKind) -> Option<&Matmul> {
    match map {
        Map::Matmul(m) if m.rows == 1 && kind == SourceKind::Gaussian => Some(m),
        _ => None,
    }
}

/// y. Buffers: info, x, y, parameters of the source.
pub fn forward(map: &Map, source: &Source, variant: Variant) -> Launch {
    match (map, source) {
        (Map::Matmul(m), Source::Gaussian { key }) if m.rows == 1 => vector_forward(m, *key),
        (Map::Matmul(m), Source::Given { count: 1, .. }) if plain_product::suits(m) => {
            plain_product(m)
        }
        (Map::Conv2d(c), _) if direct::suits(c, variant) => direct_forward(c, source),
        _ => {
            let segments = Segments::of_weights(source, map.batch());
            product_forward(map, source.into(), &segments)
        }
    }
}

/// dx. Buffers: info, grad, dx, parameters of the source.
pub fn backward_x(map: &Map, source: &Source, variant: Variant) -> Launch {
    match (map, source) {
        (Map::Matmul(m), Source::Gaussian { key }) if m.rows == 1 => vector_backward_x(m, *key),
        (Map::Conv2d(c), _) if direct::suits_backward_x(c, variant) => direct_backward_x(c, source),
        _ => {
            let segments = Segments::of_weights(source, map.batch());
            product_backward_x(map, source.into(), &segments)
        }
    }
}

/// Gradients of the weight by part: `[parts][regions][region_len]`. Buffers: info, x, grad, parts,
/// and psi for the Gaussian source, whose second region is the gradient of psi.
pub fn backward_w(map: &Map, kind: SourceKind, reduction: &Reduction, variant: Variant) -> Launch {
    match (single_rows(map, kind), map) {
        (Some(m), _) => vector_backward_w(m, reduction),
        (None, Map::Conv2d(c)) if direct::suits(c, variant) => {
            direct_backward_w(c, kind, reduction)
        }
        _ => product_backward_w(map, kind, reduction),
    }
}

/// Parts that keep a device busy. Parts times weight stays below a constant or one weight, so
/// memory does not grow with the batch.
pub fn useful_parts(map: &Map, kind: SourceKind, variant: Variant) -> usize {
    match (single_rows(map, kind), map) {
        (Some(m), _) => vector_parts(m),
        (None, Map::Conv2d(c)) if direct::suits(c, variant) => direct_parts(c),
        _ => Gradient::new(map, kind).parts(),
    }
}

/// Components of a low-rank ensemble whose gradients are worth making at once: enough to keep a device
/// busy and its launches few, and few enough for its memory.
pub fn components_at_once(map: &Map, variant: Variant) -> usize {
    const MOST_WEIGHT_COPIES: usize = 8;
    // A round is four launches. A device moves a megabyte in less time than they take, so that copies
    // of a megabyte each are made together even where fewer would keep it busy.
    const CHEAP_BYTES: usize = MOST_WEIGHT_COPIES << 20;
    let busy = match map {
        Map::Conv2d(c) if direct::suits(c, variant) => direct_parts(c),
        _ => Gradient::new(map, SourceKind::Given).busy(),
    };
    let cheap = CHEAP_BYTES / size_of::<f32>() / map.weight_len();
    busy.max(cheap).clamp(1, MOST_WEIGHT_COPIES)
}
