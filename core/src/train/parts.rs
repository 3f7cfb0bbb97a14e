//! The gradients of a step that is made of several mini-batches.

use crate::posterior::Bayes;
use burn::{
    module::{Module, ModuleDisplay, ModuleVisitor, Param},
    optim::{GradientsAccumulator, GradientsParams},
    tensor::Tensor,
};

/// Gradients of the mini-batches so far, each summed over its examples: every example weighs the same, in however
/// small a mini-batch it is.
pub(super) struct Parts<M: Module> {
    sum: GradientsAccumulator<Bayes<M>>,
    /// Examples so far.
    pub examples: usize,
    /// Rows of the network so far: the examples, and OOD images beside them.
    pub rows: usize,
}

impl<M: Module> Default for Parts<M> {
    fn default() -> Self {
        Self {
            sum: GradientsAccumulator::new(),
            examples: 0,
            rows: 0,
        }
    }
}

impl<M: Module + ModuleDisplay> Parts<M> {
    /// Adds a mini-batch.
    pub(super) fn add(
        &mut self,
        bayes: &Bayes<M>,
        gradients: GradientsParams,
        examples: usize,
        rows: usize,
    ) {
        self.sum.accumulate(bayes, gradients);
        self.examples += examples;
        self.rows += rows;
    }

    /// The mean over all examples; the next step begins with none.
    pub(super) fn mean(&mut self, bayes: &Bayes<M>) -> GradientsParams {
        let mut scaling = Scaling {
            gradients: self.sum.grads(),
            factor: 1.0 / self.examples.max(1) as f64,
        };
        bayes.visit(&mut scaling);
        (self.examples, self.rows) = (0, 0);
        scaling.gradients
    }
}

struct Scaling {
    gradients: GradientsParams,
    factor: f64,
}

impl ModuleVisitor for Scaling {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.remove::<D>(param.id) {
            let scaled = gradient.mul_scalar(self.factor);
            self.gradients.register::<D>(param.id, scaled);
        }
    }
}
