//! What the worker does with a request.

use super::{
    news::News,
    platform::Computer,
    worker::{Answer, Glimpse, Question, Request, Scrub, Scrubbed, View},
};
use crate::network::{self, Opened};
use anyhow::{Context, Result, bail};
use bayesadapter::{
    data::{Dataset, Picture},
    disk,
    evaluate::{EvaluateError, Evaluation, KernelPosterior, LayerPosterior, movements},
    models::ModelConfig,
    posterior::Inventory,
    predict::{Draws, PredictOptions, Prediction},
    session::{self, DeviceChoice, Method, RunFolder, RunSettings},
};
use burn::tensor::{Tensor, TensorData};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Draws of a prediction: enough to see their spread, few enough to answer while a digit is drawn.
const DRAWS: u32 = 30;

/// Test pictures that draws are shown with.
const GLIMPSES: usize = 12;

/// The file that is open.
pub struct Desk {
    computer: Computer,
    opened: Option<Opened>,
    test: Option<Arc<dyn Dataset>>,
    /// What the run of the file started from.
    start: Option<Inventory>,
    /// Positions of the test pictures that draws are shown with.
    glimpsed: Vec<usize>,
}

impl Desk {
    pub fn new(computer: Computer) -> Self {
        Self {
            computer,
            opened: None,
            test: None,
            start: None,
            glimpsed: Vec::new(),
        }
    }

    pub async fn handle(&mut self, request: Request) -> Result<News> {
        match request {
            Request::Open(path) => Ok(News::Opened(Arc::new(self.open(path).await?))),
            Request::Layer(path) => {
                let inventory = self.opened()?.bayes.inventory();
                Ok(News::Layer(Box::new(self.layer(&inventory, &path).await?)))
            }
            Request::Scrub(scrub) => self.scrub(scrub).await.map(News::Scrubbed),
            Request::Pictures(positions) => self.pictures(&positions).map(News::Pictures),
            Request::Ask(question) => self.answer(question).await.map(News::Answered),
            Request::Do(errand) => errand.run(&self.computer).await,
        }
    }

    fn opened(&self) -> Result<&Opened> {
        self.opened
            .as_ref()
            .context("no posterior is open; run the digits demo, or open a file")
    }

    async fn open(&mut self, path: PathBuf) -> Result<View> {
        let device = self.computer.device(DeviceChoice::Auto).await?.device;
        let opened = network::open(&path, &device)?;
        let inventory = opened.bayes.inventory();
        let summaries = inventory.summaries().await?;
        let run: Option<RunSettings> =
            serde_json::from_value(opened.header.run.clone().into()).ok();
        // Without its data, or the weights that it started from, the posterior can be shown all the same.
        let architecture = opened.header.architecture.as_ref();
        self.start = run.as_ref().zip(architecture).and_then(|(run, of)| {
            let start = session::starting_point(run, of, &device);
            start.ok().flatten()
        });
        let movements = match &self.start {
            Some(start) => movements(&inventory, start).await?,
            None => BTreeMap::new(),
        };
        let layer = match inventory.entries.first() {
            Some(first) => Some(self.layer(&inventory, &first.path).await?),
            None => None,
        };
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
        self.glimpsed = self.least_sure(&evaluations, &opened.method.to_string());
        let view = View {
            method: opened.method,
            about: about(&opened),
            input_shape: opened.header.input_shape,
            summaries,
            movements,
            layer,
            evaluations,
            history,
            path,
        };
        self.opened = Some(opened);
        Ok(view)
    }

    async fn layer(&self, inventory: &Inventory, path: &str) -> Result<LayerPosterior> {
        let layer = LayerPosterior::of_path(inventory, path, self.start.as_ref());
        Ok(layer.await?)
    }

    /// Positions of a few test pictures: where the network is least sure, its draws differ most.
    fn least_sure(&self, evaluations: &[Evaluation], method: &str) -> Vec<usize> {
        let there = self.test.as_ref().map_or(0, |test| test.len());
        let judged = evaluations.iter().find(|one| one.method == method);
        match judged {
            Some(judged) => {
                let positions = judged.by_rising_uncertainty().rev();
                positions.filter(|&at| at < there).take(GLIMPSES).collect()
            }
            None => (0..there.min(GLIMPSES)).collect(),
        }
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

    /// One network out of the posterior: its kernels, and what it says.
    async fn scrub(&self, scrub: Scrub) -> Result<Scrubbed> {
        let opened = self.opened()?;
        let (bayes, layer) = (&opened.bayes, &scrub.layer);
        let kernels = match scrub.draw {
            None => KernelPosterior::of_path(&bayes.inventory(), layer).await,
            Some(draw) => KernelPosterior::of_draw(bayes, layer, draw).await,
        };
        let kernels = match kernels {
            Err(EvaluateError::NoKernel { .. }) => None,
            kernels => Some(kernels?),
        };
        let answers = match &self.test {
            Some(test) => self.glimpses(opened, test, scrub.draw).await?,
            None => Vec::new(),
        };
        Ok(Scrubbed {
            scrub,
            kernels,
            answers,
        })
    }

    async fn glimpses(
        &self,
        opened: &Opened,
        test: &Arc<dyn Dataset>,
        draw: Option<u32>,
    ) -> Result<Vec<Glimpse>> {
        let draws = match draw {
            None => Draws::Mean,
            Some(draw) => Draws::List(vec![draw]),
        };
        let positions = self.glimpsed.iter();
        let pictures = positions.map(|&at| Ok((test.label(at), test.picture(at)?)));
        let pictures: Vec<(u32, Picture)> = pictures.collect::<Result<_>>()?;
        if pictures.is_empty() {
            return Ok(Vec::new());
        }
        let input = self
            .input(opened, pictures.iter().map(|(_, picture)| picture))
            .await?;
        let prediction = opened.bayes.predict_async(input, draws).await?;
        let rows = prediction.probabilities().chunks_exact(prediction.classes);
        let said = rows.zip(prediction.predicted_classes());
        let glimpse = |((label, picture), (row, said)): ((u32, Picture), (&[f32], u32))| Glimpse {
            picture,
            truth: opened.class_name(label as usize),
            said: opened.class_name(said as usize),
            probability: row[said as usize],
        };
        Ok(pictures.into_iter().zip(said).map(glimpse).collect())
    }

    /// Pictures as the network takes them.
    async fn input<'a>(
        &self,
        opened: &Opened,
        pictures: impl Iterator<Item = &'a Picture>,
    ) -> Result<Tensor<4>> {
        let preparation = opened.preparation()?;
        let (mut pixels, mut count) = (Vec::new(), 0);
        for picture in pictures {
            pixels.extend(preparation.prepare(picture)?);
            count += 1;
        }
        let [channels, height, width] = preparation.shape;
        let input = TensorData::new(pixels, [count, channels, height, width]);
        let device = self.computer.device(DeviceChoice::Auto).await?.device;
        Ok(Tensor::from_data(input, &device))
    }

    async fn answer(&self, question: Question) -> Result<Answer> {
        let opened = self.opened()?;
        let picture = match &question {
            Question::Drawn(picture) | Question::Pasted(picture) => picture.clone(),
            Question::File(path) => read(path)?,
        };
        let draws = match opened.method {
            Method::Map => Draws::Mean,
            _ => Draws::Fixed(DRAWS),
        };
        let input = self.input(opened, [&picture].into_iter()).await?;
        let options = PredictOptions::new(draws).with_draws_kept();
        let prediction = opened.bayes.predict_async(input, options).await?;
        let spreads = spreads(&prediction);
        let classes = prediction.probabilities().iter().zip(spreads).enumerate();
        let only = |values: &[f64]| values.first().copied().unwrap_or_default();
        Ok(Answer {
            question,
            picture,
            classes: classes
                .map(|(class, (&mean, spread))| (opened.class_name(class), f64::from(mean), spread))
                .collect(),
            draw_probabilities: prediction.draw_probabilities.clone().unwrap_or_default(),
            draws: prediction.draws.len(),
            mutual_information: only(prediction.mutual_information()),
            entropy: only(prediction.entropy()),
            aleatoric_entropy: only(prediction.aleatoric_entropy()),
        })
    }
}

fn read(path: &Path) -> Result<Picture> {
    let bytes = disk::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
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
