//! Draws through the network, as many at once as memory allows.

use super::{
    Classifier, Outcome, PredictError, PredictOptions, draws::Run, outcome::Part, team::Team,
};
use crate::{
    ops::{Hardware, OpError},
    pass::{Draw, Estimator, Mode, Pass, PassError, Use},
    posterior::{Bayes, Conversion, Posterior},
    read,
};
use burn::{
    module::Module,
    tensor::{Tensor, activation::softmax},
};
use std::ops::Range;

/// Maps are seldom so many times as large as the input that they are made of. What fits even then needs no trial.
const SELDOM_LARGER: usize = 64;

/// Rows that one thread takes through the network at once: enough to be worth their weights, and few enough for its
/// cache.
const ROWS_OF_THREAD: usize = 16;

pub(super) struct Launcher<M: Module> {
    /// Without autodiff: it would keep the activations of every launch, since no backward pass frees them.
    network: M,
    /// Where threads do better apart.
    team: Option<Team<M>>,
    mode: Mode,
    features: bool,
    rows_at_once: usize,
    draws_at_once: u32,
}

/// Some draws, or the mean network, of some examples.
struct Share {
    first: Option<u32>,
    count: u32,
    examples: Range<usize>,
}

impl Share {
    fn rows(&self) -> usize {
        self.count as usize * self.examples.len()
    }
}

/// How a launch ended.
enum Launched {
    Done,
    /// One draw was shared among all rows: the network reads a parameter past its layer, which no account can tell.
    Mixed,
}

impl<M: Module> Launcher<M> {
    pub(super) fn new<const D: usize>(
        bayes: &Bayes<M>,
        options: &PredictOptions,
        x: &Tensor<D>,
    ) -> Result<Self, PredictError>
    where
        M: Classifier<D>,
    {
        let network = bayes.network().valid();
        if !options.keep_features && !network.has_classifier() {
            return Err(PredictError::NoClassifier);
        }
        let hardware = Hardware::of(&x.device());
        let limit = hardware.tensor_limit;
        let limit = limit.map_or(usize::MAX, |limit| limit.try_into().unwrap_or(usize::MAX));
        let rows = x.dims()[0].saturating_mul(options.draws.at_once());
        let rows = rows.min(options.rows_at_once).max(1);
        Ok(Self {
            rows_at_once: fitting_rows(&network, x, rows, options.map_bytes.min(limit))?,
            draws_at_once: fitting_draws(bayes, options.weight_bytes.min(limit)),
            team: match hardware.cpu && rows > 1 {
                true => Team::new(&network),
                false => None,
            },
            network,
            mode: options.mode,
            features: options.keep_features,
        })
    }

    /// Adds the probabilities of a run of draws to the outcome.
    pub(super) async fn launch<const D: usize>(
        &mut self,
        x: &Tensor<D>,
        run: Run,
        outcome: &mut Outcome,
        give_way: &impl AsyncFn(),
    ) -> Result<(), PredictError>
    where
        M: Classifier<D>,
    {
        let (first, count) = match run {
            Run::Mean => (None, 1),
            Run::Draws { first, count } => (Some(first), count),
        };
        let mut done = 0;
        while done < count {
            let next = first.map(|first| first.wrapping_add(done));
            let examples = x.dims()[0];
            // What they say is in memory until it is added up.
            let of_team = u32::try_from(self.rows_at_once / examples).unwrap_or(u32::MAX);
            let of_team = of_team.clamp(1, count - done);
            if let Some(shares) = self.shares(examples, next, of_team) {
                match self.by_team(x, &shares, outcome, give_way).await? {
                    Launched::Done => done += of_team,
                    Launched::Mixed => self.draws_at_once = 1,
                }
                continue;
            }
            let rows = examples.min(self.rows_at_once);
            let fitting = u32::try_from(self.rows_at_once / rows).unwrap_or(u32::MAX);
            let now = fitting.min(self.draws_at_once).min(count - done);
            match self.part(x, next, now, outcome, give_way).await {
                Ok(Launched::Done) => done += now,
                Ok(Launched::Mixed) => self.draws_at_once = 1,
                Err(error) if is_too_large(&error) && self.shrink(now, rows) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Makes the next launch half as large as one of so many draws and rows; false if that was the smallest.
    fn shrink(&mut self, draws: u32, rows: usize) -> bool {
        match (draws, rows) {
            (1, 1) => return false,
            (1, rows) => self.rows_at_once = rows / 2,
            (draws, _) => self.draws_at_once = draws / 2,
        }
        true
    }

    /// What the threads of the team take each, if there is enough for all of them.
    fn shares(&self, examples: usize, first: Option<u32>, count: u32) -> Option<Vec<Share>> {
        let size = self.team.as_ref()?.size();
        let rows = (examples * count as usize).div_ceil(size);
        let rows = rows.min(ROWS_OF_THREAD).min(self.rows_at_once / size);
        if rows == 0 {
            return None;
        }
        // All of them have their drawn weights in memory at the same time.
        let most = (self.draws_at_once as usize / size).max(1);
        let draws = (rows / examples).clamp(1, most) as u32;
        let starts = (0..count).step_by(draws as usize);
        let shares = starts.flat_map(|start| {
            let slices = (0..examples).step_by(rows);
            slices.map(move |slice| Share {
                first: first.map(|first| first.wrapping_add(start)),
                count: draws.min(count - start),
                examples: slice..examples.min(slice + rows),
            })
        });
        let shares: Vec<Share> = shares.collect();
        (shares.len() >= size).then_some(shares)
    }

    /// All draws of the shares, for all examples. No more rows than usual go by before others have a turn.
    async fn by_team<const D: usize>(
        &mut self,
        x: &Tensor<D>,
        shares: &[Share],
        outcome: &mut Outcome,
        give_way: &impl AsyncFn(),
    ) -> Result<Launched, PredictError>
    where
        M: Classifier<D>,
    {
        let (Some(team), Some(largest)) = (&mut self.team, shares.first()) else {
            return Ok(Launched::Mixed);
        };
        let (mode, features) = (self.mode, self.features);
        let mut made = Vec::with_capacity(shares.len());
        for shares in shares.chunks((self.rows_at_once / largest.rows()).max(1)) {
            let launched = team.map(shares, |network, share| {
                let x = x.clone().slice(share.examples.clone());
                let pass = pass(share.first, share.count, mode, share.examples.start);
                rows(network, x, pass, share.count as usize, features)
            });
            for part in launched {
                match part? {
                    Some(part) => made.push(part.read().await?),
                    None => return Ok(Launched::Mixed),
                }
            }
            give_way().await;
        }
        let mut made = made.into_iter();
        for shares in shares.chunk_by(|a, b| a.first == b.first) {
            let parts = made.by_ref().take(shares.len()).collect();
            outcome.add(shares[0].first, shares[0].count, parts)?;
        }
        Ok(Launched::Done)
    }

    /// The mean network, one draw, or several, for all examples.
    async fn part<const D: usize>(
        &self,
        x: &Tensor<D>,
        first: Option<u32>,
        count: u32,
        outcome: &mut Outcome,
        give_way: &impl AsyncFn(),
    ) -> Result<Launched, PredictError>
    where
        M: Classifier<D>,
    {
        let examples = x.dims()[0];
        let at_once = (self.rows_at_once / count as usize).max(1);
        let mut parts = Vec::new();
        for start in (0..examples).step_by(at_once) {
            let part = x.clone().slice(start..(start + at_once).min(examples));
            let pass = pass(first, count, self.mode, start);
            match rows(&self.network, part, pass, count as usize, self.features)? {
                Some(part) => parts.push(part.read().await?),
                None => return Ok(Launched::Mixed),
            }
            give_way().await;
        }
        outcome.add(first, count, parts)?;
        Ok(Launched::Done)
    }
}

/// The pass of `count` draws from `first` on, or of the mean network, over examples from `start` on.
fn pass(first: Option<u32>, count: u32, mode: Mode, start: usize) -> Pass {
    let draw = match (first, count) {
        (None, _) => Draw::Mean,
        (Some(draw), 1) => Draw::One(draw),
        (Some(first), count) => Draw::Several { first, count },
    };
    Pass {
        draw,
        mode,
        first_example: start as u32,
        ..Pass::mean()
    }
}

/// What the network says of `x` for each of `count` draws; nothing if a layer cannot tell their rows apart.
fn rows<const D: usize>(
    network: &impl Classifier<D>,
    x: Tensor<D>,
    pass: Pass,
    count: usize,
    features: bool,
) -> Result<Option<OnDevice>, PredictError> {
    let x = match count {
        1 => x,
        _ => x.repeat_dim(0, count),
    };
    let rows = x.dims()[0];
    let ((features, logits), trace) = pass.trace(|| match features {
        true => network.features_and_logits(x),
        false => (None, network.logits(x)),
    })?;
    if pass.mode == Mode::EvaluateWithDropout && trace.dropout_layers == 0 {
        return Err(PredictError::NoDropout);
    }
    let vanilla = |one: &Use| one.estimator == Estimator::Vanilla;
    if count > 1 && trace.uses.iter().any(vanilla) {
        return Ok(None);
    }
    if let Some(features) = &features
        && (features.dims()[0] != rows || features.dims()[1] == 0)
    {
        let found = features.dims().to_vec();
        return Err(PredictError::Features { rows, found });
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

/// Up to `most` rows, of which no map takes more bytes than given, as one example tells that goes through the network.
fn fitting_rows<const D: usize>(
    network: &impl Classifier<D>,
    x: &Tensor<D>,
    most: usize,
    bytes: usize,
) -> Result<usize, PredictError> {
    let example = x.shape().num_elements() / x.dims()[0].max(1) * size_of::<f32>();
    let seldom_more = example.saturating_mul(SELDOM_LARGER).saturating_mul(most);
    if most == 1 || seldom_more <= bytes {
        return Ok(most);
    }
    let one = x.clone().slice(0..1);
    let (_, trace) = Pass::mean().trace(|| network.logits(one))?;
    let largest = trace.activations.largest.max(1) * size_of::<f32>();
    Ok((bytes / largest).clamp(1, most))
}

/// Draws whose weights take no more bytes than given, in the largest layer; one where a layer cannot tell rows apart.
fn fitting_draws<M: Module>(bayes: &Bayes<M>, bytes: usize) -> u32 {
    let converted = &bayes.account().converted;
    match bayes.posterior() {
        _ if converted.iter().any(Conversion::is_vanilla_only) => 1,
        // An ensemble never materialises its weights, and a point has none to draw.
        Posterior::LowRankEnsemble(_) | Posterior::Point(_) => u32::MAX,
        Posterior::MeanField(_) => {
            let elements = |one: &Conversion| one.shape.iter().product::<usize>();
            let largest = converted.iter().map(elements).max().unwrap_or(1);
            let largest = largest.max(1) * size_of::<f32>();
            u32::try_from(bytes / largest).unwrap_or(u32::MAX).max(1)
        }
    }
}

/// Whether a device refused a tensor for its size.
fn is_too_large(error: &PredictError) -> bool {
    matches!(
        error,
        PredictError::Pass(PassError::Op(OpError::Limit { .. }))
    )
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
