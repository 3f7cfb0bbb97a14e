//! Rows that tell how well a network finds what it should be unsure of.

use super::Row;
use bayesadapter::evaluate::{ComparisonRow, Detection, Detections, Measure};

/// A number that tells how well something is found.
struct Score {
    /// What the name of its row ends with.
    ending: &'static str,
    explanation: &'static str,
    higher_is_better: bool,
    of: fn(&Detection) -> f64,
}

const ERRORS: [Score; 1] = [Score {
    ending: "",
    explanation: "AUROC: how often a wrong prediction is the less sure one of a wrong and a right prediction",
    higher_is_better: true,
    of: |found| found.auroc,
}];

const OOD: [Score; 3] = [
    Score {
        ending: "",
        explanation: "AUROC: how often it is the less sure one of an OOD and a test image",
        higher_is_better: true,
        of: |found| found.auroc,
    },
    Score {
        ending: ", AP",
        explanation: "average precision: the area under precision against recall of the OOD images; chance is their \
                      share of all images",
        higher_is_better: true,
        of: |found| found.aupr,
    },
    Score {
        ending: ", FPR95",
        explanation: "FPR at 95 % TPR: the share of test images that are taken for OOD images where 95 % of those are \
                      found",
        higher_is_better: false,
        of: |found| found.false_alarms_at_95,
    },
];

/// How well wrong predictions are found.
pub(super) fn of_errors(columns: &[ComparisonRow<'_>]) -> Vec<Row> {
    let detections = columns
        .iter()
        .map(|one| one.scores.error_detection.as_ref());
    rows(&detections.collect::<Vec<_>>(), "Errors found", &ERRORS)
}

/// How well the OOD images called `name` are told from test images.
pub(super) fn of_ood(columns: &[ComparisonRow<'_>], name: &str) -> Vec<Row> {
    let detections = columns.iter().map(|one| one.ood);
    let name = format!("{name} found");
    rows(&detections.collect::<Vec<_>>(), &name, &OOD)
}

/// A row for each measure of uncertainty that a search may go by, and each score. There is one detection per column.
fn rows(columns: &[Option<&Detections>], name: &str, scores: &[Score]) -> Vec<Row> {
    let by = |measure: Measure| {
        scores.iter().map(move |score| Row {
            name: format!("{name} by {measure}{}", score.ending),
            explanation: match measure {
                Measure::MutualInformation => "the same, by how much the draws disagree",
                _ => score.explanation,
            }
            .to_owned(),
            higher_is_better: score.higher_is_better,
            percent: false,
            values: columns
                .iter()
                .map(|&column| Some((score.of)(&column?.by(measure)?)))
                .collect(),
        })
    };
    [Measure::Entropy, Measure::MutualInformation]
        .into_iter()
        .flat_map(by)
        .collect()
}
