//! The course of a run: learn, save, judge.

use super::{
    Event, Job, Keeper, Method, Pace, Phase, Port, SessionError, complaint::caught,
    learning::Learning,
};
use crate::{
    evaluate::EvaluateError,
    posterior::{IntoBayes, Point},
    predict::PredictError,
    train::TrainState,
};
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// All is done.
    Finished,
    /// As it was told, and saved; it can be resumed.
    Stopped,
}

/// Runs a job from its start, or from a saved state, to its end.
///
/// # Errors
///
/// What keeps the run from going on. Before it is returned, what can be saved is saved.
pub async fn run(
    job: Job,
    resumed: Option<TrainState>,
    keeper: &mut impl Keeper,
    port: &Port,
    pace: &impl Pace,
) -> Result<Ending, SessionError> {
    let ending = caught(course(job, resumed, keeper, port, pace)).await;
    port.emit(Event::Phase {
        phase: Phase::Ended,
    });
    ending
}

async fn course(
    job: Job,
    resumed: Option<TrainState>,
    keeper: &mut impl Keeper,
    port: &Port,
    pace: &impl Pace,
) -> Result<Ending, SessionError> {
    let (start, result) = (Method::Map.to_string(), job.settings.result_name());
    let fresh = resumed.is_none();
    // Judged first: it is what the result is compared with, and shows at once whether weights and data fit.
    let baseline = match &job.settings.model.weights {
        None => None,
        Some(_) => {
            let prior = Point::train(job.train.len());
            Some(job.network.clone().into_bayes(prior)?)
        }
    };
    let mut learning = Learning::new(&job, resumed, keeper, port, pace)?;
    learning.announce();
    let judge = job.judge();
    if let Some(baseline) = baseline.filter(|_| fresh) {
        let known = match learning.keeper.judged(&start) {
            Some(known) => {
                let same = judge.has_judged(&baseline, &known).await?;
                same.then_some(known)
            }
            None => None,
        };
        match known {
            // The run ended before its first state was saved, or the start came with what it is worth.
            Some(known) => {
                learning.suit(&known)?;
                learning.show_draws_by(&known);
                port.emit(Event::Evaluated(Box::new(known)));
            }
            None => {
                let judged = judge.evaluate(&baseline, &start, port, pace).await?;
                let Some(evaluation) = judged else {
                    return Ok(Ending::Stopped);
                };
                learning.keeper.evaluation(&evaluation)?;
                learning.suit(&evaluation)?;
                learning.show_draws_by(&evaluation);
            }
        }
    }
    if learning.learn().await? == Ending::Stopped {
        return Ok(Ending::Stopped);
    }
    let kept = learning.keep_posterior().await;
    let judged = judge.evaluate(learning.bayes(), &result, port, pace);
    let judged = judged.await;
    if let Err(SessionError::Evaluate(EvaluateError::Predict(error))) = &judged
        && matches!(error, PredictError::Probabilities(_))
    {
        // The weights are finite, and so large that what they give is not.
        return Err(learning.set_back("a probability").await);
    }
    let judged = judged?;
    let calibrated = judged.as_ref().and_then(|one| one.calibrated.as_ref());
    let calibration = calibrated.map(|calibrated| calibrated.calibration.clone());
    let kept = match (kept, calibration) {
        (Ok(()), Some(calibration)) => learning.keep_calibrated_posterior(calibration).await,
        (kept, _) => kept,
    };
    let noted = judged
        .iter()
        .try_for_each(|one| learning.keeper.evaluation(one));
    kept?;
    noted?;
    Ok(match judged {
        Some(_) => Ending::Finished,
        None => Ending::Stopped,
    })
}
