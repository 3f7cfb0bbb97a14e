//! The course of a run: learn, save, judge.

use super::{Event, Job, Keeper, Method, Pace, Phase, Port, SessionError, learning::Learning};
use crate::{
    posterior::{IntoBayes, Point},
    train::TrainState,
};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    let ending = course(job, resumed, keeper, port, pace).await;
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
    let method = job.settings.posterior.method;
    let fresh = resumed.is_none();
    // Judged first: it is what the result is compared with, and shows at once whether weights and data fit.
    let baseline = match (method, &job.settings.model.weights) {
        (Method::Map, _) | (_, None) => None,
        _ => {
            let prior = Point::train(job.train.len());
            Some(job.network.clone().into_bayes(prior)?)
        }
    };
    let mut learning = Learning::new(&job, resumed, keeper, port, pace)?;
    learning.announce();
    let judge = job.judge();
    if let Some(baseline) = baseline.filter(|_| fresh) {
        let judged = judge.evaluate(&baseline, Method::Map, port, pace).await?;
        let Some(evaluation) = judged else {
            return Ok(Ending::Stopped);
        };
        learning.keeper.evaluation(&evaluation)?;
    }
    if learning.learn().await? == Ending::Stopped {
        return Ok(Ending::Stopped);
    }
    let (bayes, header) = learning.into_result();
    let kept = keeper.posterior(bayes.to_file_async(&header).await?);
    if let Err(error) = &kept {
        let message =
            format!("the posterior could not be written: {error}; it is judged all the same");
        port.emit(Event::Warning { message });
    }
    let judged = judge.evaluate(&bayes, method, port, pace).await?;
    let noted = judged.iter().try_for_each(|one| keeper.evaluation(one));
    kept.and(noted)?;
    Ok(match judged {
        Some(_) => Ending::Finished,
        None => Ending::Stopped,
    })
}
