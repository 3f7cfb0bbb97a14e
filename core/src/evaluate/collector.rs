//! Predictions in, an evaluation out.

use super::{
    Calibrated, Calibration, Detections, EvaluateError, Evaluation, ImageSet, Measure,
    OutOfDistribution, Outcomes, Scores,
    calibration::tempered,
    curve::{RunningCurve, thinned},
};
use crate::{
    metrics::{
        DrawCurve, DrawProbabilities, ECE_BINS, MI_BUCKETS, MetricError, Predictions, accuracy,
        adaptive_ece, brier, classwise_ece, draw_curve, ece, error_above_confidence, nll,
        reliability_bins, risk_coverage, top_k_accuracy, uncertainty_buckets,
    },
    predict::Prediction,
};

/// Steps of confidence at which errors are counted.
const CONFIDENCE_STEPS: u8 = 100;

/// Steps of coverage that are kept of the risk.
const COVERAGE_STEPS: usize = 200;

/// Gathers predictions batch by batch. Of each it keeps the mean probabilities and uncertainties; the
/// probabilities of the draws go into the [`DrawCurve`] and are dropped.
///
/// ```
/// use bayesadapter::evaluate::{Collector, Measure};
/// use bayesadapter::metrics::{DrawProbabilities, decompose};
/// use bayesadapter::predict::Prediction;
///
/// // Two examples under two draws: the draws agree about the first one.
/// let draws = vec![0.9, 0.1, 0.8, 0.2, 0.9, 0.1, 0.3, 0.7];
/// let prediction = Prediction {
///     classes: 2,
///     draws: vec![0, 1],
///     summary: decompose(&DrawProbabilities::new(&draws, 2, 2)?),
///     draw_probabilities: Some(draws),
///     features: None,
/// };
/// let mut collector = Collector::new(["cat", "dog"]);
/// collector.add(&prediction, None, &[0, 1])?;
/// let evaluation = collector.finish("MFG")?;
/// assert_eq!(evaluation.scores.accuracy, 0.5);
/// assert_eq!(evaluation.ranked_by, Measure::MutualInformation);
/// assert_eq!(evaluation.by_rising_uncertainty().collect::<Vec<_>>(), [0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Collector {
    class_names: Vec<String>,
    labels: Vec<u32>,
    /// Mean over the draws, `[examples, classes]`.
    probabilities: Vec<f32>,
    examples: Outcomes,
    strangers: Option<(String, Outcomes)>,
    /// The same of the OOD images.
    ood_probabilities: Vec<f32>,
    draws: Option<usize>,
    curve: RunningCurve,
    calibration: Option<Calibration>,
}

impl Collector {
    /// For a network that tells these classes apart.
    pub fn new(class_names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            class_names: class_names.into_iter().map(Into::into).collect(),
            labels: Vec::new(),
            probabilities: Vec::new(),
            examples: Outcomes::default(),
            strangers: None,
            ood_probabilities: Vec::new(),
            draws: None,
            curve: RunningCurve::default(),
            calibration: None,
        }
    }

    /// With a calibration of the network, whose scores on the examples will be in the evaluation.
    pub fn with_calibration(mut self, calibration: Option<Calibration>) -> Self {
        self.calibration = calibration;
        self
    }

    /// Fits a temperature and prediction sets to the examples so far, which are described by `source`.
    ///
    /// # Errors
    ///
    /// No examples, and a coverage that is not between 0 and 1.
    pub fn calibrate(
        &self,
        source: impl Into<String>,
        coverage: f64,
    ) -> Result<Calibration, EvaluateError> {
        if self.labels.is_empty() {
            return Err(EvaluateError::Empty);
        }
        let predictions =
            Predictions::new(&self.probabilities, self.class_names.len(), &self.labels)?;
        Ok(Calibration::fit(&predictions, source, coverage)?)
    }

    /// Adds a batch of test examples. With the probabilities of every draw in `prediction`, and the
    /// prediction of the network at its mean, there will be a [`DrawCurve`].
    ///
    /// # Errors
    ///
    /// Another number of classes than there are names; probabilities that are none; another number of
    /// labels than of examples, or a label that is no class; the mean network among draws. Nothing is added
    /// then.
    pub fn add(
        &mut self,
        prediction: &Prediction,
        mean_network: Option<&Prediction>,
        labels: &[u32],
    ) -> Result<(), EvaluateError> {
        let draws = self.checked_draws(prediction)?;
        let wrong = |reason| EvaluateError::Batch {
            first: self.labels.len(),
            reason,
        };
        // Checks the labels.
        Predictions::new(prediction.probabilities(), prediction.classes, labels).map_err(wrong)?;
        let examples = Outcomes::of(prediction).map_err(wrong)?;
        let curve = curve_of(prediction, mean_network, labels).map_err(wrong)?;
        self.draws = Some(draws);
        self.curve.add(curve, labels.len());
        self.labels.extend_from_slice(labels);
        self.probabilities
            .extend_from_slice(prediction.probabilities());
        self.examples.append(examples);
        Ok(())
    }

    /// Adds a batch of data called `name`, of classes that the network does not know: every prediction of
    /// them is wrong.
    ///
    /// # Errors
    ///
    /// Another name than before, and what [`add`](Self::add) refuses in a prediction.
    pub fn add_out_of_distribution(
        &mut self,
        name: &str,
        prediction: &Prediction,
    ) -> Result<(), EvaluateError> {
        let draws = self.checked_draws(prediction)?;
        let (first, so_far) = match &self.strangers {
            Some((first, outcomes)) => (first.as_str(), outcomes.len()),
            None => (name, 0),
        };
        if first != name {
            return Err(EvaluateError::SecondName {
                first: first.to_owned(),
                second: name.to_owned(),
            });
        }
        let later = Outcomes::of(prediction).map_err(|reason| EvaluateError::Batch {
            first: so_far,
            reason,
        })?;
        let (_, outcomes) = self
            .strangers
            .get_or_insert_with(|| (name.to_owned(), Outcomes::default()));
        outcomes.append(later);
        self.ood_probabilities
            .extend_from_slice(prediction.probabilities());
        self.draws = Some(draws);
        Ok(())
    }

    /// Accuracy and likelihood against the number of draws, on the examples so far.
    pub fn curve(&self) -> Option<&DrawCurve> {
        self.curve.so_far()
    }

    /// The number of draws with this batch.
    fn checked_draws(&self, prediction: &Prediction) -> Result<usize, EvaluateError> {
        if prediction.classes != self.class_names.len() {
            return Err(EvaluateError::Classes {
                names: self.class_names.len(),
                found: prediction.classes,
            });
        }
        let draws = prediction.draws.len();
        match self.draws {
            Some(before) if (before == 0) != (draws == 0) => Err(EvaluateError::MeanAndDraws),
            before => Ok(draws.max(before.unwrap_or(0))),
        }
    }

    /// The evaluation of a network that is called `method`.
    ///
    /// # Errors
    ///
    /// No test examples.
    pub fn finish(mut self, method: impl Into<String>) -> Result<Evaluation, EvaluateError> {
        if self.labels.is_empty() {
            return Err(EvaluateError::Empty);
        }
        let calibration = self.calibration.take();
        let calibrated = calibration.map(|calibration| self.calibrated(calibration));
        let calibrated = calibrated.transpose()?.map(Box::new);
        let (examples, draws) = (self.examples, self.draws.unwrap_or(0));
        let ranked_by = match draws {
            0 | 1 => Measure::Entropy,
            _ => Measure::MutualInformation,
        };
        let classes = self.class_names.len();
        let predictions = Predictions::new(&self.probabilities, classes, &self.labels)?;
        let correct = predictions.correct();
        let risk = risk_coverage(&examples.confidence, &correct)?;
        let error_detection = Detections::of_errors(&examples, &correct, draws)?;
        let scores = scores(&predictions, risk.aurc, error_detection)?;
        let strangers = self.strangers.as_ref();
        let strange = strangers.map_or(&[][..], |(_, strangers)| &strangers.confidence);
        let thresholds: Vec<f32> = (0..CONFIDENCE_STEPS)
            .map(|step| f32::from(step) / f32::from(CONFIDENCE_STEPS))
            .collect();
        let error_above_confidence =
            error_above_confidence(&examples.confidence, &correct, strange, &thresholds)?;
        let out_of_distribution = self
            .strangers
            .map(|(name, strangers)| {
                Ok::<_, MetricError>(OutOfDistribution {
                    name,
                    detection: Detections::of_strangers(&strangers, &examples, draws)?,
                    examples: strangers,
                })
            })
            .transpose()?;
        Ok(Evaluation {
            method: method.into(),
            network: String::new(),
            set: ImageSet::Test,
            draws,
            ranked_by,
            scores,
            reliability: reliability_bins(&examples.confidence, &correct, ECE_BINS)?,
            buckets: uncertainty_buckets(&examples.uncertainty(ranked_by), &correct, MI_BUCKETS)?,
            curve: self.curve.finish(),
            error_above_confidence,
            risk_coverage: thinned(&risk.points, COVERAGE_STEPS),
            class_names: self.class_names,
            labels: self.labels,
            passed_over: Vec::new(),
            examples,
            out_of_distribution,
            calibrated,
        })
    }

    /// The scores of a calibration on the examples.
    fn calibrated(&self, calibration: Calibration) -> Result<Calibrated, MetricError> {
        let (classes, draws) = (self.class_names.len(), self.draws.unwrap_or(0));
        let plain = Predictions::new(&self.probabilities, classes, &self.labels)?;
        let sets = calibration.sets.iter().map(|sets| sets.score(&plain));
        let sets = sets.collect();
        let temperature = calibration.temperature;
        let mut probabilities = self.probabilities.clone();
        let examples = tempered(&self.examples, &mut probabilities, classes, temperature)?;
        let predictions = Predictions::new(&probabilities, classes, &self.labels)?;
        let correct = predictions.correct();
        let risk = risk_coverage(&examples.confidence, &correct)?;
        let error_detection = Detections::of_errors(&examples, &correct, draws)?;
        let out_of_distribution = match &self.strangers {
            None => None,
            Some((_, ood)) => {
                let mut probabilities = self.ood_probabilities.clone();
                let ood = tempered(ood, &mut probabilities, classes, temperature)?;
                Some(Detections::of_strangers(&ood, &examples, draws)?)
            }
        };
        Ok(Calibrated {
            scores: scores(&predictions, risk.aurc, error_detection)?,
            reliability: reliability_bins(&examples.confidence, &correct, ECE_BINS)?,
            out_of_distribution,
            sets,
            calibration,
        })
    }
}

fn curve_of(
    prediction: &Prediction,
    mean_network: Option<&Prediction>,
    labels: &[u32],
) -> Result<Option<DrawCurve>, MetricError> {
    let (Some(probabilities), 1..) = (&prediction.draw_probabilities, prediction.draws.len())
    else {
        return Ok(None);
    };
    let draws = DrawProbabilities::new(probabilities, prediction.draws.len(), prediction.classes)?;
    let mean_network = mean_network.map(Prediction::probabilities);
    draw_curve(&draws, labels, mean_network).map(Some)
}

fn scores(
    predictions: &Predictions<'_>,
    aurc: f64,
    error_detection: Option<Detections>,
) -> Result<Scores, MetricError> {
    let top_5 = (predictions.classes() > 5).then(|| top_k_accuracy(predictions, 5));
    Ok(Scores {
        examples: predictions.examples(),
        accuracy: accuracy(predictions),
        top_5_accuracy: top_5.transpose()?,
        nll: nll(predictions),
        brier: brier(predictions),
        ece: ece(predictions, ECE_BINS)?,
        adaptive_ece: adaptive_ece(predictions, ECE_BINS)?,
        classwise_ece: classwise_ece(predictions, ECE_BINS)?,
        aurc,
        error_detection,
    })
}
