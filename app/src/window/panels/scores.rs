//! What networks are worth, in the columns of a table.

use crate::window::look::terms;
use bayesadapter::evaluate::{ComparisonRow, Detection, Measure};
use egui::{RichText, Ui};

/// A score.
pub struct Column {
    pub name: &'static str,
    explained: &'static str,
    pub of: fn(&ComparisonRow<'_>) -> Option<f64>,
    decimals: usize,
    more_is_better: bool,
}

pub const COLUMNS: [Column; 7] = [
    Column {
        name: "accuracy, %",
        explained: terms::ACCURACY,
        of: |one| Some(100.0 * one.scores.accuracy),
        decimals: 2,
        more_is_better: true,
    },
    Column {
        name: "NLL, nats",
        explained: terms::NLL,
        of: |one| Some(one.scores.nll),
        decimals: 4,
        more_is_better: false,
    },
    Column {
        name: "Brier",
        explained: terms::BRIER,
        of: |one| Some(one.scores.brier),
        decimals: 4,
        more_is_better: false,
    },
    Column {
        name: "ECE",
        explained: terms::ECE,
        of: |one| Some(one.scores.ece),
        decimals: 4,
        more_is_better: false,
    },
    Column {
        name: "AUROC, errors",
        explained: "How well the uncertainty finds wrong answers: 1 is perfect, 0.5 is chance.",
        of: |one| auroc(one.errors_found()),
        decimals: 4,
        more_is_better: true,
    },
    Column {
        name: "AUROC, OOD by MI",
        explained: "How well mutual information finds OOD images: 1 is perfect, 0.5 is chance.",
        of: |one| auroc(one.ood_by(Measure::MutualInformation)),
        decimals: 4,
        more_is_better: true,
    },
    Column {
        name: "by entropy",
        explained: "How well entropy finds OOD images: 1 is perfect, 0.5 is chance.",
        of: |one| auroc(one.ood_by(Measure::Entropy)),
        decimals: 4,
        more_is_better: true,
    },
];

fn auroc(detection: Option<Detection>) -> Option<f64> {
    detection.map(|detection| detection.auroc)
}

/// The heads of all columns, after that of the networks.
pub fn heads(ui: &mut Ui) {
    ui.label(RichText::new("network").weak());
    for column in &COLUMNS {
        ui.label(RichText::new(column.name).weak())
            .on_hover_text(column.explained);
    }
    ui.label(RichText::new("draws").weak())
        .on_hover_text(terms::DRAWS);
}

/// The scores of one network among these; the best of a column is strong.
pub fn cells(ui: &mut Ui, row: &ComparisonRow<'_>, all: &[ComparisonRow<'_>]) {
    for column in &COLUMNS {
        column.cell(ui, row, all);
    }
    ui.label(match row.draws {
        0 => "at the mean".to_owned(),
        draws => draws.to_string(),
    });
}

impl Column {
    fn cell(&self, ui: &mut Ui, row: &ComparisonRow<'_>, all: &[ComparisonRow<'_>]) {
        let Some(value) = (self.of)(row) else {
            ui.label(RichText::new("none").weak());
            return;
        };
        let mut others = all.iter().filter_map(self.of);
        let best = others.all(|other| match self.more_is_better {
            true => value >= other,
            false => value <= other,
        });
        let text = RichText::new(format!("{value:.0$}", self.decimals)).monospace();
        match best && all.len() > 1 {
            true => ui
                .label(text.strong().underline())
                .on_hover_text("The best"),
            false => ui.label(text),
        };
    }
}
