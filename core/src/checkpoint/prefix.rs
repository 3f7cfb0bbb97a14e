//! What stands in front of the names: the keys of dictionaries around a state dict, and the modules
//! that wrapped the network when it was saved.
//!
//! No list of wrappers is needed: the right prefix is the one under which most parameters are found.

use super::matching::{Target, Tensors, fits};
use super::names::Naming;
use std::collections::BTreeMap;

/// More equally good prefixes than this are not compared further.
const MAX_COMPARED: usize = 64;

/// How to read the names of a file.
pub(super) struct Choice {
    pub(super) naming: Naming,
    pub(super) prefix: String,
    pub(super) alternatives: Vec<String>,
}

/// Parameters found by name, and of these the ones whose shape fits.
type Score = (usize, usize);

/// The naming and prefix under which most parameters are found; the first of several.
pub(super) fn choose(
    tensors: &Tensors<'_>,
    targets: &[Target],
    namings: &[Naming],
    given: Option<&str>,
) -> Choice {
    let mut best: Option<(Score, Choice)> = None;
    for &naming in namings {
        let (score, choice) = match given {
            Some(prefix) => with_prefix(tensors, targets, naming, prefix),
            None => search(tensors, targets, naming),
        };
        if best.as_ref().is_none_or(|(known, _)| score > *known) {
            best = Some((score, choice));
        }
    }
    best.map_or_else(
        || Choice {
            naming: Naming::Torch,
            prefix: String::new(),
            alternatives: Vec::new(),
        },
        |(_, choice)| choice,
    )
}

fn with_prefix(
    tensors: &Tensors<'_>,
    targets: &[Target],
    naming: Naming,
    prefix: &str,
) -> (Score, Choice) {
    let mut prefix = prefix.to_owned();
    if !prefix.is_empty() && !prefix.ends_with('.') {
        prefix.push('.');
    }
    let score = score(tensors, targets, naming, &prefix);
    let choice = Choice {
        naming,
        prefix,
        alternatives: Vec::new(),
    };
    (score, choice)
}

fn search(tensors: &Tensors<'_>, targets: &[Target], naming: Naming) -> (Score, Choice) {
    let counts = count_prefixes(tensors, targets, naming);
    let most = counts.values().copied().max().unwrap_or(0);
    let equal = counts
        .into_iter()
        .filter(|&(_, count)| count == most)
        .map(|(prefix, _)| prefix);
    let mut scored: Vec<(Score, &str)> = equal
        .take(MAX_COMPARED)
        .map(|prefix| (score(tensors, targets, naming, prefix), prefix))
        .collect();
    // The best first; averaged copies after the weights themselves; short ones before long ones.
    scored.sort_by_key(|&((names, shapes), prefix)| {
        let fewest = (usize::MAX - names, usize::MAX - shapes);
        (fewest, is_average(prefix), prefix.len())
    });
    let score = scored.first().map_or((0, 0), |&(score, _)| score);
    let mut prefixes = scored
        .into_iter()
        .filter(|&(other, _)| other == score)
        .map(|(_, prefix)| prefix.to_owned());
    let choice = Choice {
        naming,
        prefix: prefixes.next().unwrap_or_default(),
        alternatives: prefixes.collect(),
    };
    (score, choice)
}

/// Every prefix that leaves the name of a parameter, with how many it does so for.
fn count_prefixes<'a>(
    tensors: &'a Tensors<'_>,
    targets: &[Target],
    naming: Naming,
) -> BTreeMap<&'a str, usize> {
    let wanted: std::collections::BTreeSet<&str> = targets
        .iter()
        .map(|target| target.slot(naming).name.as_str())
        .collect();
    let longest = wanted.iter().map(|name| name.len()).max().unwrap_or(0);
    let mut counts = BTreeMap::new();
    for name in tensors.by_name.keys() {
        let dots = name.rmatch_indices('.').map(|(dot, _)| dot + 1);
        // Nothing longer can be a wanted name, which also bounds the work for absurd names.
        let starts = dots
            .chain([0])
            .take_while(|start| name.len() - start <= longest);
        for start in starts {
            let (prefix, rest) = name.split_at(start);
            if wanted.contains(rest) {
                *counts.entry(prefix).or_insert(0) += 1;
            }
        }
    }
    counts
}

fn score(tensors: &Tensors<'_>, targets: &[Target], naming: Naming, prefix: &str) -> Score {
    let mut score = (0, 0);
    for target in targets {
        let slot = target.slot(naming);
        if let Some((_, tensor)) = tensors.find(prefix, slot) {
            score.0 += 1;
            score.1 += usize::from(fits(slot, tensor.shape()));
        }
    }
    score
}

/// Whether a prefix belongs to a moving average of the weights, or to an optimiser.
fn is_average(prefix: &str) -> bool {
    prefix
        .split(['.', '_'])
        .any(|word| matches!(word, "ema" | "teacher" | "shadow" | "swa" | "optimizer"))
}
