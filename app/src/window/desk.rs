//! What the worker does with a request.

use super::{
    computer::Computer,
    news::News,
    worker::{Answer, Question, Request, View},
};
use crate::network::{self, Opened};
use anyhow::{Context, Result, bail};
use bayesadapter::{
    data::{Dataset, Picture},
    evaluate::KernelPosterior,
    models::ModelConfig,
    predict::{Draws, PredictOptions, Prediction},
    session::{self, Method, RunFolder, RunSettings},
};
use burn::tensor::{Tensor, TensorData, read_sync};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Draws of a prediction: enough to see their spread, few enough to answer while a digit is drawn.
const DRAWS: u32 = 30;

/// The file that is open.
pub struct Desk {
    computer: Computer,
    opened: Option<Opened>,
    test: Option<Arc<dyn Dataset>>,
}

impl Desk {
    pub fn new(computer: Computer) -> Self {
        Self {
            computer,
            opened: None,
            test: None,
        }
    }

    pub fn handle(&mut self, request: Request) -> Result<News> {
        match request {
            Request::Open(path) => Ok(News::Opened(Arc::new(self.open(path)?))),
            Request::Kernels(path) => {
                let inventory = self.opened()?.bayes.inventory();
                let kernels = read_sync(KernelPosterior::of_path(&inventory, &path))?;
                Ok(News::Kernels(kernels))
            }
            Request::Pictures(positions) => self.pictures(&positions).map(News::Pictures),
            Request::Ask(question) => self.answer(question).map(News::Answered),
        }
    }

    fn opened(&self) -> Result<&Opened> {
        self.opened
            .as_ref()
            .context("no posterior is open; run the digits demo, or open a file")
    }

    fn open(&mut self, path: PathBuf) -> Result<View> {
        let device = self.computer.with(|named| named.device.clone())?;
        let opened = network::open(&path, &device)?;
        let inventory = opened.bayes.inventory();
        let summaries = read_sync(inventory.summaries())?;
        let kernels = read_sync(KernelPosterior::of_first_convolution(&inventory))?;
        let run: Option<RunSettings> =
            serde_json::from_value(opened.header.run.clone().into()).ok();
        // Without its data the posterior can be shown all the same.
        self.test = run.and_then(|run| {
            let splits = session::open_splits(&run.data.path, run.seed).ok()?;
            Some(splits.test)
        });
        let folder = path.parent().map(RunFolder::open);
        let (evaluations, history) = match folder {
            Some(Ok((folder, _))) => (folder.evaluations()?, folder.history_rows()?),
            // A file on its own, or one whose run goes on.
            _ => (Vec::new(), Vec::new()),
        };
        let convolutions = summaries.iter().filter(|one| one.shape.len() == 4);
        let view = View {
            method: opened.method,
            about: about(&opened),
            input_shape: opened.header.input_shape,
            convolutions: convolutions.map(|one| one.path.clone()).collect(),
            summaries,
            kernels,
            evaluations,
            history,
            path,
        };
        self.opened = Some(opened);
        Ok(view)
    }

    fn pictures(&self, positions: &[usize]) -> Result<Vec<(usize, Picture)>> {
        let Some(test) = &self.test else {
            bail!(
                "the test pictures of this posterior are not where they were; only its numbers can be shown"
            );
        };
        let picture = |&at: &usize| Ok((at, test.picture(at)?));
        positions.iter().map(picture).collect()
    }

    fn answer(&self, question: Question) -> Result<Answer> {
        let opened = self.opened()?;
        let preparation = opened.preparation()?;
        let picture = match &question {
            Question::Drawn(picture) => picture.clone(),
            Question::File(path) => read(path)?,
        };
        let draws = match opened.method {
            Method::Map => Draws::Mean,
            _ => Draws::Fixed(DRAWS),
        };
        let [channels, height, width] = preparation.shape;
        let input = TensorData::new(preparation.prepare(&picture)?, [1, channels, height, width]);
        let device = self.computer.with(|named| named.device.clone())?;
        let options = PredictOptions::new(draws).with_draws_kept();
        let input = Tensor::<4>::from_data(input, &device);
        let prediction = opened.bayes.predict(input, options)?;
        let spreads = spreads(&prediction);
        let classes = prediction.probabilities().iter().zip(spreads).enumerate();
        let only = |values: &[f64]| values.first().copied().unwrap_or_default();
        Ok(Answer {
            question,
            picture,
            classes: classes
                .map(|(class, (&mean, spread))| (opened.class_name(class), f64::from(mean), spread))
                .collect(),
            draws: prediction.draws.len(),
            mutual_information: only(prediction.mutual_information()),
            entropy: only(prediction.entropy()),
            aleatoric_entropy: only(prediction.aleatoric_entropy()),
        })
    }
}

fn read(path: &Path) -> Result<Picture> {
    let bytes =
        std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(Picture::decode(&bytes, &path.display().to_string())?)
}

fn about(opened: &Opened) -> String {
    let (account, prior) = (opened.bayes.account(), opened.bayes.posterior().prior());
    let name = opened.header.architecture.as_ref().map(ModelConfig::name);
    format!(
        "{} posterior of {}: {} parameters for {} weights, prior lambda {} for {} examples",
        opened.method,
        name.as_deref().unwrap_or("a network of its own"),
        account.parameters_after,
        account.parameters_before,
        prior.lambda,
        prior.examples
    )
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
