//! Draws through the network, as many at once as memory allows.

use super::{Classifier, Outcome, PredictError, PredictOptions, draws::Run, outcome::Part};
use crate::{
    pass::{Draw, Estimator, Mode, Pass},
    posterior::{Bayes, Posterior},
    read,
};
use burn::{
    module::Module,
    tensor::{Tensor, activation::softmax},
};

pub(super) struct Launcher<M: Module> {
    /// Without autodiff: it would keep the activations of every launch, since no backward pass frees them.
    network: M,
    mode: Mode,
    features: bool,
    rows_at_once: usize,
    draws_at_once: u32,
}

impl<M: Module> Launcher<M> {
    pub(super) fn new(bayes: &Bayes<M>, options: &PredictOptions) -> Self {
        // An ensemble never materialises its weights, and a point has none to draw.
        let draws_at_once = match bayes.posterior() {
            Posterior::LowRankEnsemble(_) | Posterior::Point(_) => u32::MAX,
            Posterior::MeanField(_) => {
                let converted = bayes.account().converted.iter();
                let elements = converted.map(|one| one.shape.iter().product::<usize>());
                let largest = elements.max().unwrap_or(1).max(1);
                let fitting = options.weight_bytes / (largest * size_of::<f32>());
                u32::try_from(fitting).unwrap_or(u32::MAX).max(1)
            }
        };
        Self {
            network: bayes.network().valid(),
            mode: options.mode,
            features: options.keep_features,
            rows_at_once: options.rows_at_once.max(1),
            draws_at_once,
        }
    }

    /// Adds the probabilities of a run of draws to the outcome.
    pub(super) async fn launch<const D: usize>(
        &mut self,
        x: &Tensor<D>,
        run: Run,
        outcome: &mut Outcome,
    ) -> Result<(), PredictError>
    where
        M: Classifier<D>,
    {
        let Run::Draws { first, count } = run else {
            return self.part(x, Draw::Mean, outcome).await.map(drop);
        };
        let mut done = 0;
        while done < count {
            let rows = x.dims()[0].min(self.rows_at_once);
            let fitting = u32::try_from(self.rows_at_once / rows).unwrap_or(u32::MAX);
            let now = fitting.min(self.draws_at_once).min(count - done);
            let first = first.wrapping_add(done);
            let draw = match now {
                1 => Draw::One(first),
                count => Draw::Several { first, count },
            };
            if self.part(x, draw, outcome).await? {
                done += now;
            } else {
                // A stock layer of Burn shares one draw among all rows: go on one by one.
                self.draws_at_once = 1;
            }
        }
        Ok(())
    }

    /// One draw, or several, for all examples. False if a layer cannot tell the rows of several draws
    /// apart.
    async fn part<const D: usize>(
        &self,
        x: &Tensor<D>,
        draw: Draw,
        outcome: &mut Outcome,
    ) -> Result<bool, PredictError>
    where
        M: Classifier<D>,
    {
        let examples = x.dims()[0];
        let (first, count) = match draw {
            Draw::Several { first, count } => (Some(first), count),
            Draw::One(draw) => (Some(draw), 1),
            _ => (None, 1),
        };
        let pass = Pass {
            draw,
            ..Pass::mean().with_mode(self.mode)
        };
        let at_once = (self.rows_at_once / count as usize).max(1);
        let mut parts = Vec::new();
        for start in (0..examples).step_by(at_once) {
            let part = x.clone().slice(start..(start + at_once).min(examples));
            match self.rows(part, pass, count as usize)? {
                Some(part) => parts.push(part.read().await?),
                None => return Ok(false),
            }
        }
        outcome.add(first, count, parts)?;
        Ok(true)
    }

    /// What the network says of `x` for each of `count` draws.
    fn rows<const D: usize>(
        &self,
        x: Tensor<D>,
        pass: Pass,
        count: usize,
    ) -> Result<Option<OnDevice>, PredictError>
    where
        M: Classifier<D>,
    {
        let x = match count {
            1 => x,
            _ => x.repeat_dim(0, count),
        };
        let rows = x.dims()[0];
        let network = &self.network;
        let ((features, logits), uses) = pass.trace(|| match self.features {
            true => network.features_and_logits(x),
            false => (None, network.logits(x)),
        })?;
        if count > 1 && uses.iter().any(|one| one.estimator == Estimator::Vanilla) {
            return Ok(None);
        }
        match logits.dims() {
            [found, classes] if found == rows && classes > 0 => Ok(Some(OnDevice {
                probabilities: softmax(logits, 1),
                features,
            })),
            found => Err(PredictError::Logits {
                rows,
                found: found.to_vec(),
            }),
        }
    }
}

struct OnDevice {
    probabilities: Tensor<2>,
    features: Option<Tensor<2>>,
}

impl OnDevice {
    async fn read(self) -> Result<Part, PredictError> {
        let [_, classes] = self.probabilities.dims();
        let probabilities = read::values(self.probabilities).await?;
        let features = match self.features {
            Some(features) => Some((features.dims()[1], read::values(features).await?)),
            None => None,
        };
        Ok(Part {
            classes,
            probabilities,
            features,
        })
    }
}
