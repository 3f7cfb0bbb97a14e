//! What the worker does with a request about the posterior that is open.

use super::{
    album::{Album, TestData, Wanted},
    news::News,
    opening::{self, Open, TestSet},
    platform::{self, Computer},
    shown,
    worker::{Answer, Question, Request},
};
use crate::network::Opened;
use anyhow::{Context, Result};
use bayesadapter::{
    data::{Dataset, Picture},
    disk,
    evaluate::CalibratedPrediction,
    metrics::ConformalMethod,
    predict::{Draws, PredictOptions, Prediction},
    session::{DeviceChoice, Method, Scrub, Scrubbed},
};
use burn::tensor::{Tensor, TensorData};
use std::{path::Path, sync::Arc};

/// Draws of a prediction: enough to see their spread, few enough to answer while a digit is drawn.
const DRAWS: u32 = 30;

/// The file that is open.
pub struct Desk {
    computer: Computer,
    open: Option<Open>,
    /// Other test pictures than those of the file, which were looked at last.
    others: Option<TestSet>,
}

impl Desk {
    pub fn new(computer: Computer) -> Self {
        Self {
            computer,
            open: None,
            others: None,
        }
    }

    pub async fn handle(&mut self, request: Request) -> Result<News> {
        match request {
            Request::Open(path) => {
                let named = self.computer.device(DeviceChoice::Auto).await?;
                platform::give_way(&named);
                let (open, view) = opening::open(path, &named.device).await?;
                self.open = Some(open);
                Ok(News::Opened(Arc::new(view)))
            }
            Request::Layer(path) => {
                let layer = self.open()?.layer(&path).await?;
                Ok(News::Layer(Arc::new(layer)))
            }
            Request::Scrub(scrub) => {
                let scrubbed = self.scrub(scrub).await?;
                Ok(News::Scrubbed(Arc::new(scrubbed)))
            }
            Request::Pictures(wanted) => Ok(News::Pictures(Arc::new(self.pictures(wanted)))),
            Request::Ask(question) => self.answer(question).await.map(News::Answered),
        }
    }

    fn open(&self) -> Result<&Open> {
        self.open
            .as_ref()
            .context("no posterior is open; run the digits demo, or open a file")
    }

    fn pictures(&mut self, wanted: Wanted) -> Album {
        let test = self.test_pictures(&wanted.data);
        let pictures = test.and_then(|test| wanted.fetch(test.as_ref()));
        Album {
            pictures: pictures.map_err(|error| format!("{error:#}")),
            wanted,
        }
    }

    /// The pictures of these data; those of the file that is open are at hand.
    fn test_pictures(&mut self, data: &TestData) -> Result<Arc<dyn Dataset>> {
        let of_file = self.open.as_ref().and_then(|open| open.test.as_ref());
        let mut known = of_file.into_iter().chain(&self.others);
        if let Some(known) = known.find(|known| known.data == *data) {
            return Ok(Arc::clone(&known.pictures));
        }
        let pictures = data.open().with_context(|| {
            format!(
                "the test pictures are not where they were ({}); only the numbers can be shown",
                data.path
            )
        })?;
        self.others = Some(TestSet {
            data: data.clone(),
            pictures: Arc::clone(&pictures),
        });
        Ok(pictures)
    }

    /// One network out of the posterior: its kernels, and what it says.
    async fn scrub(&self, scrub: Scrub) -> Result<Scrubbed> {
        let Open { opened, probes, .. } = self.open()?;
        let (bayes, device) = (&opened.bayes, &opened.device);
        Ok(probes.scrub(bayes, scrub, device, async || {}).await?)
    }

    async fn answer(&self, question: Question) -> Result<Answer> {
        let open = self.open()?;
        let opened = &open.opened;
        let picture = match &question {
            Question::Drawn(picture) | Question::Pasted(picture) => picture.clone(),
            Question::File(path) => read(path)?,
        };
        let draws = match opened.method {
            Method::Map => Draws::Mean,
            _ => {
                let different = opened.bayes.posterior().different_draws();
                Draws::Fixed(different.map_or(DRAWS, |different| different.min(DRAWS)))
            }
        };
        let input = input(opened, &picture)?;
        let options = PredictOptions::new(draws).with_draws_kept();
        let start = match &open.start_network {
            Some(start) => {
                let said = start.predict_async(input.clone(), Draws::Mean).await?;
                said.most_probable(0)
            }
            None => None,
        };
        let prediction = opened.bayes.predict_async(input, options).await?;
        let calibration = opened.header.calibration.as_ref();
        let method = ConformalMethod::Threshold;
        let calibrated = CalibratedPrediction::new(prediction, calibration, method, true)?;
        let prediction = calibrated.prediction;
        let spreads = spreads(&prediction);
        let classes = prediction.probabilities().iter().zip(spreads).enumerate();
        let only = |values: &[f64]| values.first().copied().unwrap_or_default();
        Ok(Answer {
            picture: picture.within(shown::ALONE),
            question,
            classes: classes
                .map(|(class, (&mean, spread))| (opened.class_name(class), f64::from(mean), spread))
                .collect(),
            draw_probabilities: prediction.draw_probabilities.clone().unwrap_or_default(),
            draws: prediction.draws.len(),
            mutual_information: only(prediction.mutual_information()),
            entropy: only(prediction.entropy()),
            aleatoric_entropy: only(prediction.aleatoric_entropy()),
            start: start
                .map(|(class, probability)| (opened.class_name(class as usize), probability)),
            prediction_set: calibrated.sets.map(|sets| opened.prediction_set(&sets)),
        })
    }
}

/// A picture as the network takes it, where it is: another device may have been chosen since it was opened.
fn input(opened: &Opened, picture: &Picture) -> Result<Tensor<4>> {
    let preparation = opened.preparation()?;
    let [channels, height, width] = preparation.shape;
    let pixels = preparation.prepare(picture)?;
    let input = TensorData::new(pixels, [1, channels, height, width]);
    Ok(Tensor::from_data(input, &opened.device))
}

fn read(path: &Path) -> Result<Picture> {
    let bytes = disk::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(Picture::decode(&bytes, &path.display().to_string())?)
}

/// Standard deviation of each class's probability over the draws of one example.
fn spreads(prediction: &Prediction) -> Vec<f64> {
    let (classes, means) = (prediction.classes, prediction.probabilities());
    let draws = prediction.draw_probabilities.as_deref().unwrap_or_default();
    let count = (draws.len() / classes.max(1)).max(1) as f64;
    let spread = |(class, &mean): (usize, &f32)| {
        let of_class = draws.iter().skip(class).step_by(classes);
        let squares = of_class.map(|&one| f64::from(one - mean).powi(2));
        (squares.sum::<f64>() / count).sqrt()
    };
    means.iter().enumerate().map(spread).collect()
}
