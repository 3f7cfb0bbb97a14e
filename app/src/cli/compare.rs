//! `bayesadapter compare`: runs in one table, with means and deviations over random seeds.

use super::{Voice, exit::BadInput};
use anyhow::Result;
use bayesadapter::{
    evaluate::{ComparisonRow, Evaluation, Measure},
    session::{RunFolder, RunSettings},
};
use clap::Args;
use serde::Serialize;
use std::{
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
const NAMES: [&str; 12] = [
    "val acc %",
    "val NLL",
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
const TEST: usize = 2;
/// The first of these that stands in a table of its own, below the others.
const BELOW: usize = 8;

/// One run as it was read.
struct Run {
    folder: PathBuf,
    /// The settings without the random seed: runs that share them are counted together.
    group: String,
    lines: Vec<Line>,
}

pub fn run(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    let runs: Result<Vec<Run>> = flags.runs.iter().map(|folder| read(folder)).collect();
    let mut runs = runs?;
    if flags.validation {
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
    table(&runs, &means, 0..BELOW, width, voice);
    let with_ood = |line: &Line| line.scores[BELOW..].iter().any(Option::is_some);
    if runs.iter().flat_map(|run| &run.lines).any(with_ood) {
        voice.say("\nOOD images: AP, and FPR at 95 % TPR; their AUROC is in the table above");
        table(&runs, &means, BELOW..NAMES.len(), width, voice);
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
        group: without_seed(&settings)?,
        lines: lines.collect(),
    })
}

/// The settings of a run as text, without what differs between random seeds.
fn without_seed(settings: &RunSettings) -> Result<String> {
    let settings = RunSettings {
        seed: 0,
        ..settings.clone()
    };
    Ok(settings.to_toml()?)
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
    let mut done: Vec<&str> = Vec::new();
    let mut means = Vec::new();
    for first in runs {
        if done.contains(&first.group.as_str()) {
            continue;
        }
        done.push(&first.group);
        let same: Vec<&Run> = runs.iter().filter(|run| run.group == first.group).collect();
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

    fn line(nll: f64) -> Line {
        let mut scores = [None; NAMES.len()];
        scores[3] = Some(nll);
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
        let run = |group: &str, nll| Run {
            folder: PathBuf::from(format!("runs/{nll}")),
            group: group.to_owned(),
            lines: vec![line(nll)],
        };
        let runs = [run("a", 1.0), run("b", 9.0), run("a", 2.0), run("a", 6.0)];
        let means = means(&runs);
        assert_eq!(means.len(), 1, "one run has no deviation");
        let (folders, line) = &means[0];
        assert_eq!((folders.as_str(), line.runs), ("1, 2, 6", 3));
        assert_eq!(line.scores[3], Some(3.0));
        // (4 + 1 + 9) / 2
        assert_eq!(line.deviations[3], Some(7f64.sqrt()));
        assert_eq!(line.scores[4], None);
    }
}
