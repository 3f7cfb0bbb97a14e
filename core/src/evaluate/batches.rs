//! A network on batches of data.

use super::{Collector, EvaluateError};
use crate::{
    metrics::DrawCurve,
    pass::Mode,
    posterior::Bayes,
    predict::{Classifier, Draws, PredictOptions},
};
use burn::tensor::Tensor;
use std::error::Error;

impl Collector {
    /// Predicts batches of images with their labels, and adds them. With
    /// [`keep_draws`](PredictOptions::keep_draws) the network at its mean predicts them too, for the curve
    /// against the number of draws.
    ///
    /// `progress` is told the number of examples so far with their [`curve`](Self::curve), and awaited. To stop, end
    /// the iterator, or let it return an error.
    ///
    /// # Errors
    ///
    /// A batch that is an error itself, a network that fails, and what [`add`](Self::add) refuses. The
    /// batches before it are added.
    pub async fn add_batches<const D: usize, M, E>(
        &mut self,
        bayes: &Bayes<M>,
        batches: impl IntoIterator<Item = Result<(Tensor<D>, Vec<u32>), E>>,
        options: &PredictOptions,
        progress: impl AsyncFnMut(usize, Option<&DrawCurve>),
    ) -> Result<(), EvaluateError>
    where
        M: Classifier<D>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.add_batches_giving_way(bayes, batches, options, progress, async || {})
            .await
    }

    /// As [`add_batches`](Self::add_batches), for places where others wait for the thread too: `give_way` is awaited
    /// after every launch, at least once for each batch.
    ///
    /// # Errors
    ///
    /// As [`add_batches`](Self::add_batches).
    pub async fn add_batches_giving_way<const D: usize, M, E>(
        &mut self,
        bayes: &Bayes<M>,
        batches: impl IntoIterator<Item = Result<(Tensor<D>, Vec<u32>), E>>,
        options: &PredictOptions,
        mut progress: impl AsyncFnMut(usize, Option<&DrawCurve>),
        give_way: impl AsyncFn(),
    ) -> Result<(), EvaluateError>
    where
        M: Classifier<D>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let at_mean = PredictOptions {
            draws: Draws::Mean,
            keep_draws: false,
            mode: Mode::Evaluate,
            ..options.clone()
        };
        let mut done = 0;
        for batch in batches {
            let (x, labels) = batch.map_err(|error| EvaluateError::Data(error.into()))?;
            let mean_network = match options.keep_draws && options.draws != Draws::Mean {
                true => {
                    let (x, at_mean) = (x.clone(), at_mean.clone());
                    Some(bayes.predict_giving_way(x, at_mean, &give_way).await?)
                }
                false => None,
            };
            let prediction = bayes.predict_giving_way(x, options.clone(), &give_way);
            let prediction = prediction.await?;
            self.add(&prediction, mean_network.as_ref(), &labels)?;
            done += labels.len();
            progress(done, self.curve()).await;
        }
        Ok(())
    }

    /// Predicts batches of data called `name`, of classes that the network does not know, and adds them.
    /// Their labels are not looked at, so there is no curve. The rest is as for [`add_batches`](Self::add_batches).
    ///
    /// # Errors
    ///
    /// As [`add_batches`](Self::add_batches), and [`add_out_of_distribution`](Self::add_out_of_distribution).
    pub async fn add_out_of_distribution_batches<const D: usize, M, E>(
        &mut self,
        name: &str,
        bayes: &Bayes<M>,
        batches: impl IntoIterator<Item = Result<(Tensor<D>, Vec<u32>), E>>,
        options: &PredictOptions,
        progress: impl AsyncFnMut(usize),
    ) -> Result<(), EvaluateError>
    where
        M: Classifier<D>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let give_way = async || {};
        self.add_out_of_distribution_batches_giving_way(
            name, bayes, batches, options, progress, give_way,
        )
        .await
    }

    /// As [`add_out_of_distribution_batches`](Self::add_out_of_distribution_batches), with `give_way` as in
    /// [`add_batches_giving_way`](Self::add_batches_giving_way).
    ///
    /// # Errors
    ///
    /// As [`add_out_of_distribution_batches`](Self::add_out_of_distribution_batches).
    pub async fn add_out_of_distribution_batches_giving_way<const D: usize, M, E>(
        &mut self,
        name: &str,
        bayes: &Bayes<M>,
        batches: impl IntoIterator<Item = Result<(Tensor<D>, Vec<u32>), E>>,
        options: &PredictOptions,
        mut progress: impl AsyncFnMut(usize),
        give_way: impl AsyncFn(),
    ) -> Result<(), EvaluateError>
    where
        M: Classifier<D>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let options = PredictOptions {
            keep_draws: false,
            ..options.clone()
        };
        let mut done = 0;
        for batch in batches {
            let (x, _) = batch.map_err(|error| EvaluateError::Data(error.into()))?;
            let prediction = bayes.predict_giving_way(x, options.clone(), &give_way);
            let prediction = prediction.await?;
            self.add_out_of_distribution(name, &prediction)?;
            done += prediction.examples();
            progress(done).await;
        }
        Ok(())
    }
}
