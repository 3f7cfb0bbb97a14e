//! `bayesadapter compare`: runs in one table, with means and deviations over random seeds, and the settings that differ.

use super::{Voice, exit::BadInput};
use crate::outcome::settings_by_name;
use anyhow::Result;
use bayesadapter::{
    evaluate::{ComparisonRow, Evaluation, Measure},
    session::RunFolder,
};
use clap::Args;
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(Args)]
pub struct Flags {
    /// Folders of runs.
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// Tell scores on the validation set alone, to choose settings by; the test set is not looked at.
    #[arg(long)]
    validation: bool,
}

/// The scores of one network; what is not known is not there.
#[derive(Clone, Serialize)]
struct Line {
    name: String,
    temperature: Option<f64>,
    /// How many runs it is the mean of.
    runs: usize,
    scores: [Option<f64>; NAMES.len()],
    /// Standard deviations over the runs.
    deviations: [Option<f64>; NAMES.len()],
}

/// What is told of a network.
const NAMES: [&str; 13] = [
    "val acc %",
    "val NLL",
    "T",
    "acc %",
    "NLL",
    "Brier",
    "ECE",
    "OOD MI",
    "OOD ent.",
    "OOD MI AP",
    "OOD MI FPR95",
    "OOD ent. AP",
    "OOD ent. FPR95",
];
/// The first of these that is of the test set.
const TEST: usize = 3;
/// The first of these that stands in a table of its own, below the others.
const BELOW: usize = 9;

/// One run as it was read.
struct Run {
    folder: PathBuf,
    settings: BTreeMap<String, String>,
    lines: Vec<Line>,
}

pub fn run(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    let runs: Result<Vec<Run>> = flags.runs.iter().map(|folder| read(folder)).collect();
    let mut runs = runs?;
    let mut columns = 0..BELOW;
    if flags.validation {
        columns.end = TEST;
        for line in runs.iter_mut().flat_map(|run| &mut run.lines) {
            line.scores[TEST..].fill(None);
        }
    }
    let width = 21
        + flags
            .runs
            .iter()
            .map(|path| name_of(path).len())
            .max()
            .unwrap_or(0);
    let means = means(&runs);
    table(&runs, &means, columns, width, voice);
    let with_ood = |line: &Line| line.scores[BELOW..].iter().any(Option::is_some);
    if runs.iter().flat_map(|run| &run.lines).any(with_ood) {
        voice.say("\nOOD images: AP, and FPR at 95 % TPR; their AUROC is in the table above");
        table(&runs, &means, BELOW..NAMES.len(), width, voice);
    }
    let differing = differing(&runs);
    if !differing.is_empty() {
        voice.say("\nSettings that differ");
        for run in &runs {
            let of_run = differing.iter().filter_map(|name| {
                let value = run.settings.get(name)?;
                Some(format!("{name} {value}"))
            });
            let text = of_run.collect::<Vec<_>>().join(", ");
            voice.say(format_args!("{:width$}{text}", name_of(&run.folder)));
        }
    }
    for run in &runs {
        for line in &run.lines {
            tell(&run.folder, line, voice);
        }
    }
    for (group, line) in &means {
        tell(Path::new(group), line, voice);
    }
    Ok(ExitCode::SUCCESS)
}

/// Some columns of all runs, and of the means over them.
fn table(
    runs: &[Run],
    means: &[(String, Line)],
    columns: Range<usize>,
    width: usize,
    voice: &Voice,
) {
    let heads = NAMES[columns.clone()].iter();
    let heads: String = heads.map(|name| format!("{name:>16}")).collect();
    voice.say(format_args!("{:width$}{heads}", ""));
    for run in runs {
        for line in &run.lines {
            let name = format!("{} {}", name_of(&run.folder), line.name);
            let cells = line.cells(columns.clone());
            voice.say(format_args!("{name:width$}{cells}"));
        }
    }
    for (group, line) in means {
        let name = format!("{} x {}", line.runs, line.name);
        let cells = line.cells(columns.clone());
        voice.say(format_args!("{name:width$}{cells}  {group}"));
    }
}

/// The names of the settings that not all runs share.
fn differing(runs: &[Run]) -> BTreeSet<String> {
    let names: BTreeSet<&String> = runs.iter().flat_map(|run| run.settings.keys()).collect();
    let differs = |name: &&String| {
        let mut values = runs.iter().map(|run| run.settings.get(*name));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    names.into_iter().filter(differs).cloned().collect()
}

fn tell(what: &Path, line: &Line, voice: &Voice) {
    voice.json(
        &serde_json::json!({ "event": "compared", "run": what, "columns": NAMES, "line": line }),
    );
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn read(path: &Path) -> Result<Run> {
    let (folder, settings) = RunFolder::open(path)?;
    let evaluations = folder.evaluations()?;
    if evaluations.is_empty() {
        let text = "has no evaluation yet; finish it with `bayesadapter finetune --resume`";
        return Err(BadInput(format!("{} {text}", path.display())).into());
    }
    let lines = evaluations.iter().flat_map(|evaluation| {
        let rows = evaluation.comparison_rows();
        rows.map(|row| Line::of(&row, evaluation))
    });
    Ok(Run {
        folder: path.to_owned(),
        settings: settings_by_name(&settings).into_iter().collect(),
        lines: lines.collect(),
    })
}

/// Where a run keeps its random seed.
const SEED: &str = "seed";

impl Run {
    /// Whether the other run differs in its random seed at the most: such runs are counted together.
    fn is_like(&self, other: &Self) -> bool {
        let without_seed = |run: &Self| {
            let settings = run.settings.iter();
            let settings = settings.filter(|(name, _)| *name != SEED);
            settings
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect::<Vec<_>>()
        };
        without_seed(self) == without_seed(other)
    }
}

impl Line {
    fn of(row: &ComparisonRow<'_>, evaluation: &Evaluation) -> Self {
        let calibrated = evaluation.calibrated.as_ref();
        let validation = calibrated.map(|calibrated| &calibrated.calibration);
        let validation_nll = validation.and_then(|one| match row.temperature {
            None => Some(one.nll),
            Some(_) => one.tempered_nll,
        });
        let [by_information, by_entropy] =
            [Measure::MutualInformation, Measure::Entropy].map(|measure| row.ood_by(measure));
        Self {
            name: row.name(),
            temperature: row.temperature,
            runs: 1,
            scores: [
                validation.map(|one| 100.0 * one.accuracy),
                validation_nll,
                row.temperature,
                Some(100.0 * row.scores.accuracy),
                Some(row.scores.nll),
                Some(row.scores.brier),
                Some(row.scores.ece),
                by_information.map(|found| found.auroc),
                by_entropy.map(|found| found.auroc),
                by_information.map(|found| found.aupr),
                by_information.map(|found| found.false_alarms_at_95),
                by_entropy.map(|found| found.aupr),
                by_entropy.map(|found| found.false_alarms_at_95),
            ],
            deviations: [None; NAMES.len()],
        }
    }

    /// Some columns of it.
    fn cells(&self, columns: Range<usize>) -> String {
        columns
            .map(|at| {
                let decimals = if NAMES[at].ends_with('%') { 2 } else { 4 };
                let text = match (self.scores[at], self.deviations[at]) {
                    (None, _) => "-".to_owned(),
                    (Some(score), None) => format!("{score:.decimals$}"),
                    (Some(score), Some(deviation)) => {
                        format!("{score:.decimals$} ± {deviation:.decimals$}")
                    }
                };
                format!("{text:>16}")
            })
            .collect()
    }
}

/// Means and deviations over the runs that differ in their random seed alone, with the folders they are of.
fn means(runs: &[Run]) -> Vec<(String, Line)> {
    let mut means = Vec::new();
    for (at, first) in runs.iter().enumerate() {
        if runs[..at].iter().any(|run| run.is_like(first)) {
            continue;
        }
        let same: Vec<&Run> = runs.iter().filter(|run| run.is_like(first)).collect();
        if same.len() < 2 {
            continue;
        }
        let folders: Vec<String> = same.iter().map(|run| name_of(&run.folder)).collect();
        for line in &first.lines {
            let of_all: Vec<&Line> = same
                .iter()
                .flat_map(|run| run.lines.iter().filter(|other| other.name == line.name))
                .collect();
            means.push((folders.join(", "), mean(line, &of_all)));
        }
    }
    means
}

fn mean(line: &Line, of_all: &[&Line]) -> Line {
    let mut mean = line.clone();
    mean.runs = of_all.len();
    mean.temperature = None;
    for at in 0..NAMES.len() {
        let values: Option<Vec<f64>> = of_all.iter().map(|one| one.scores[at]).collect();
        let statistics = values.filter(|values| values.len() > 1).map(|values| {
            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / count;
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            (mean, (squares / (count - 1.0)).sqrt())
        });
        mean.scores[at] = statistics.map(|(mean, _)| mean);
        mean.deviations[at] = statistics.map(|(_, deviation)| deviation);
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place of the negative log-likelihood.
    const NLL: usize = TEST + 1;

    fn line(nll: f64) -> Line {
        let mut scores = [None; NAMES.len()];
        scores[NLL] = Some(nll);
        Line {
            name: "PSE".to_owned(),
            temperature: None,
            runs: 1,
            scores,
            deviations: [None; NAMES.len()],
        }
    }

    #[test]
    fn runs_of_the_same_settings_are_averaged() {
        let run = |epochs: &str, seed: &str, nll| Run {
            folder: PathBuf::from(format!("runs/{nll}")),
            settings: [("training.epochs", epochs), (SEED, seed), ("device", "cpu")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            lines: vec![line(nll)],
        };
        let runs = [
            run("2", "0", 1.0),
            run("3", "0", 9.0),
            run("2", "1", 2.0),
            run("2", "2", 6.0),
        ];
        assert_eq!(
            differing(&runs).into_iter().collect::<Vec<_>>(),
            [SEED, "training.epochs"]
        );
        assert!(differing(&runs[..1]).is_empty());
        let means = means(&runs);
        assert_eq!(means.len(), 1, "one run has no deviation");
        let (folders, line) = &means[0];
        assert_eq!((folders.as_str(), line.runs), ("1, 2, 6", 3));
        assert_eq!(line.scores[NLL], Some(3.0));
        // (4 + 1 + 9) / 2
        assert_eq!(line.deviations[NLL], Some(7f64.sqrt()));
        assert_eq!(line.scores[NLL + 1], None);
    }
}
