//! One network out of a posterior: its kernels, and what it says of a few test pictures.

use super::sample::spread;
use crate::{
    data::{DataError, Dataset, Picture, Preparation},
    evaluate::{EvaluateError, Evaluation, KernelPosterior},
    models::Network,
    posterior::Bayes,
    predict::Draws,
};
use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

/// Test pictures that networks are asked about.
const PICTURES: usize = 12;
/// Pixels on the longer side of those that come with an answer: as many as a display has for one among others.
const SIDE: usize = 128;

/// A network out of a posterior to look at: a draw, or the mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scrub {
    /// The draw; none for the mean.
    pub draw: Option<u32>,
    /// Path of the layer that is shown.
    pub layer: String,
}

/// What that network looks like, and says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scrubbed {
    /// What was asked for.
    pub scrub: Scrub,
    /// Of the layer, if it is a convolution.
    pub kernels: Option<KernelPosterior>,
    /// What it says of a few test pictures.
    pub answers: Vec<Glimpse>,
}

/// What one network says of a test picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Glimpse {
    /// The picture, small.
    pub picture: Picture,
    /// The name of its class.
    pub truth: String,
    /// The name of the likeliest class.
    pub said: String,
    /// The probability of that one.
    pub probability: f32,
}

/// A few test pictures that networks out of a posterior are asked about; by default none.
#[derive(Clone, Debug, Default)]
pub struct Probes {
    /// Small, with their classes.
    pictures: Vec<(u32, Picture)>,
    /// All of them as the network takes them, one after the other.
    input: Vec<f32>,
    /// Of one of them: channels, height and width.
    shape: [usize; 3],
    class_names: Vec<String>,
}

impl Probes {
    /// Numbers of a few of so many test pictures: those that a network was least sure of, where its draws differ most; if
    /// none was judged on as many, some from everywhere.
    pub fn choose(there: usize, judged: Option<&Evaluation>) -> Vec<usize> {
        // The data may be others by now.
        match judged.filter(|judged| judged.test_pictures() == there) {
            Some(judged) => judged.least_sure(PICTURES),
            None => spread(there, PICTURES),
        }
    }

    /// The pictures of these numbers. Those that cannot be read are left out.
    ///
    /// # Errors
    ///
    /// A preparation that cannot be done.
    pub fn new(
        test: &dyn Dataset,
        numbers: &[usize],
        preparation: &Preparation,
        class_names: &[String],
    ) -> Result<Self, DataError> {
        let mut probes = Self {
            shape: preparation.shape,
            class_names: class_names.to_vec(),
            ..Self::default()
        };
        for &number in numbers {
            let Ok(picture) = test.picture(number) else {
                continue;
            };
            probes.input.extend(preparation.prepare(&picture)?);
            let small = picture.within(SIDE);
            probes.pictures.push((test.label(number), small));
        }
        Ok(probes)
    }

    /// Looks at a network out of a posterior that computes on `device`. `give_way` is as for
    /// [`predict_giving_way`](Bayes::predict_giving_way).
    ///
    /// # Errors
    ///
    /// A network or a device that fails.
    pub async fn scrub(
        &self,
        bayes: &Bayes<Network>,
        scrub: Scrub,
        device: &Device,
        give_way: impl AsyncFn(),
    ) -> Result<Scrubbed, EvaluateError> {
        let layer = &scrub.layer;
        let kernels = match scrub.draw {
            None => KernelPosterior::of_path(&bayes.inventory(), layer).await,
            Some(draw) => KernelPosterior::of_draw(bayes, layer, draw).await,
        };
        let kernels = match kernels {
            Err(EvaluateError::NoKernel { .. }) => None,
            kernels => Some(kernels?),
        };
        let answers = match self.pictures.is_empty() {
            true => Vec::new(),
            false => self.answers(bayes, scrub.draw, device, give_way).await?,
        };
        Ok(Scrubbed {
            scrub,
            kernels,
            answers,
        })
    }

    async fn answers(
        &self,
        bayes: &Bayes<Network>,
        draw: Option<u32>,
        device: &Device,
        give_way: impl AsyncFn(),
    ) -> Result<Vec<Glimpse>, EvaluateError> {
        let draws = draw.map_or(Draws::Mean, |draw| Draws::List(vec![draw]));
        let [channels, height, width] = self.shape;
        let shape = [self.pictures.len(), channels, height, width];
        let input = TensorData::new(self.input.clone(), shape);
        let input = Tensor::<4>::from_data(input, device);
        let prediction = bayes.predict_giving_way(input, draws, give_way).await?;
        let rows = prediction.probabilities().chunks_exact(prediction.classes);
        let said = rows.zip(prediction.predicted_classes());
        let glimpse = |((label, picture), (row, said)): (&(u32, Picture), (&[f32], u32))| Glimpse {
            picture: picture.clone(),
            truth: self.class_name(*label),
            said: self.class_name(said),
            probability: row[said as usize],
        };
        Ok(self.pictures.iter().zip(said).map(glimpse).collect())
    }

    /// The name of a class, or its number where it has none.
    fn class_name(&self, class: u32) -> String {
        let name = self.class_names.get(class as usize);
        name.cloned().unwrap_or_else(|| class.to_string())
    }
}
