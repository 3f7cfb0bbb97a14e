//! What the tape of a training step keeps until the backward pass, counted layer by layer.

use burn::module::ParamId;
use std::collections::HashSet;

/// Elements that a backward pass needs, as told by the layers of a forward pass.
///
/// A linear layer keeps its input, and what follows it keeps its output. A normalisation between two linear
/// layers adds a map, because the activation function behind it keeps what it saw, and one more where every
/// row has its own scale.
#[derive(Debug, Default)]
pub(crate) struct Activations {
    /// Elements that are kept.
    pub(crate) kept: usize,
    /// Elements of the largest tensor between two layers.
    pub(crate) largest: usize,
    /// Weights of the layers that told of themselves.
    pub(crate) weights: HashSet<ParamId>,
    /// Elements per row and channel in what the last linear layer made, which is what a normalisation sees.
    positions: usize,
    /// Maps of a normalisation since the last linear layer.
    norm_maps: usize,
}

impl Activations {
    pub(super) fn layer(&mut self, weight: ParamId, x: usize, y: usize, vectors: usize) {
        self.weights.insert(weight);
        self.keep(x);
        self.keep(y);
        self.positions = y / vectors.max(1);
        self.norm_maps = 0;
    }

    /// Scale and shift both come here: together they are one normalisation.
    pub(super) fn norm(&mut self, vectors: usize, maps: usize) {
        let new = maps.saturating_sub(self.norm_maps);
        self.norm_maps += new;
        for _ in 0..new {
            self.keep(vectors * self.positions);
        }
    }

    pub(super) fn keep(&mut self, elements: usize) {
        self.kept += elements;
        self.largest = self.largest.max(elements);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_normalisation_counts_once_between_two_layers() {
        let mut activations = Activations::default();
        // A convolution of 2 rows and 4 channels on 3 x 3, with a scale and a shift per row behind it.
        activations.layer(ParamId::new(), 10, 72, 8);
        activations.norm(8, 2);
        activations.norm(8, 2);
        assert_eq!(activations.kept, 10 + 72 + 2 * 72);
        // A shared scale and shift behind a linear layer.
        activations.layer(ParamId::new(), 8, 6, 6);
        activations.norm(6, 1);
        activations.norm(6, 1);
        assert_eq!(activations.kept, 226 + 8 + 6 + 6);
        assert_eq!(activations.largest, 72);
        assert_eq!(activations.weights.len(), 2);
    }
}
