//! All methods in one table.

use super::section;
use crate::report::{
    Report,
    text::{count, escaped, percent},
};
use bayesadapter::evaluate::{Detections, Evaluation, Measure};
use std::fmt::Write;

/// A row of the table.
struct Row {
    name: String,
    explanation: String,
    higher_is_better: bool,
    /// Percent with two decimals, or a plain number with four.
    percent: bool,
    /// One per method.
    values: Vec<Option<f64>>,
}

pub fn html(report: &Report) -> String {
    let evaluations = &report.evaluations;
    let mut content = String::new();
    let introduction = match evaluations.as_slice() {
        [] => return content,
        [_] => String::new(),
        [baseline, ..] => format!(
            "<p>The best value of each row is <strong class=\"best\">marked</strong>; beneath each value is \
             its difference to {}.</p>\n",
            escaped(&baseline.method)
        ),
    };
    content += &introduction;
    content += "<div class=\"table\"><table>\n<thead><tr><th scope=\"col\">Measure</th>";
    for evaluation in evaluations {
        let draws = match evaluation.draws {
            0 => "no draws".to_owned(),
            1 => "1 draw".to_owned(),
            draws => format!("{} draws", count(draws)),
        };
        // Writing to a string cannot fail.
        let _ = write!(
            content,
            "<th scope=\"col\">{}<small>{draws}</small></th>",
            escaped(&evaluation.method)
        );
    }
    content += "</tr></thead>\n<tbody>\n";
    for row in rows(evaluations) {
        content += &row.html();
    }
    content += "</tbody>\n</table></div>\n";
    content += &method_notes(evaluations);
    section("comparison", "All numbers", &content)
}

fn rows(evaluations: &[Evaluation]) -> Vec<Row> {
    let row = |name: &str,
               explanation: &str,
               higher,
               percent,
               of: &dyn Fn(&Evaluation) -> Option<f64>| Row {
        name: name.to_owned(),
        explanation: explanation.to_owned(),
        higher_is_better: higher,
        percent,
        values: evaluations.iter().map(of).collect(),
    };
    let mut rows = vec![
        row(
            "Accuracy",
            "share of images predicted correctly",
            true,
            true,
            &|one| Some(one.scores.accuracy),
        ),
        row(
            "Top-5 accuracy",
            "share of images whose class is among the five most probable",
            true,
            true,
            &|one| one.scores.top_5_accuracy,
        ),
        row(
            "NLL",
            "negative log-likelihood: how surprised the network is by the true class, in nats",
            false,
            false,
            &|one| Some(one.scores.nll),
        ),
        row(
            "Brier score",
            "squared distance of the probabilities from the truth",
            false,
            false,
            &|one| Some(one.scores.brier),
        ),
        row(
            "ECE",
            "expected calibration error: how far confidence and accuracy are apart, over 15 bins",
            false,
            false,
            &|one| Some(one.scores.ece),
        ),
        row(
            "AURC",
            "area under risk against coverage: the error when only the most confident are kept, averaged",
            false,
            false,
            &|one| Some(one.scores.aurc),
        ),
    ];
    rows.extend(detection_rows(
        evaluations,
        "Errors found",
        "AUROC: how often a wrong prediction is the less sure one of a wrong and a right prediction",
        |one| one.scores.error_detection.as_ref(),
    ));
    let strangers = evaluations
        .iter()
        .find_map(|one| one.out_of_distribution.as_ref());
    if let Some(strangers) = strangers {
        rows.extend(detection_rows(
            evaluations,
            &format!("{} found", strangers.name),
            "AUROC: how often it is the less sure one of an unknown and a test image",
            |one| {
                one.out_of_distribution
                    .as_ref()
                    .map(|strangers| &strangers.detection)
            },
        ));
    }
    rows.retain(|row| row.values.iter().any(Option::is_some));
    rows
}

/// A row for each measure of uncertainty that a search may go by.
fn detection_rows(
    evaluations: &[Evaluation],
    name: &str,
    explanation: &str,
    of: impl Fn(&Evaluation) -> Option<&Detections>,
) -> Vec<Row> {
    let again = "the same, by how much the draws disagree";
    [
        (Measure::Entropy, explanation),
        (Measure::MutualInformation, again),
    ]
    .into_iter()
    .map(|(measure, explanation)| Row {
        name: format!("{name} by {measure}"),
        explanation: explanation.to_owned(),
        higher_is_better: true,
        percent: false,
        values: evaluations
            .iter()
            .map(|one| Some(of(one)?.by(measure)?.auroc))
            .collect(),
    })
    .collect()
}

impl Row {
    fn html(&self) -> String {
        let direction = if self.higher_is_better {
            "higher is better"
        } else {
            "lower is better"
        };
        let mut out = format!(
            "<tr><th scope=\"row\">{}<small>{}; {direction}</small></th>",
            escaped(&self.name),
            escaped(&self.explanation)
        );
        let best = self.best();
        for (place, &value) in self.values.iter().enumerate() {
            let Some(value) = value else {
                out += "<td>–</td>";
                continue;
            };
            let number = self.number(value);
            // Writing to a string cannot fail.
            let _ = match best == Some(value) {
                true => write!(out, "<td class=\"best\"><strong>{number}</strong>"),
                false => write!(out, "<td>{number}"),
            };
            if let (Some(Some(baseline)), 1..) = (self.values.first(), place) {
                out += &self.difference(value - baseline);
            }
            out += "</td>";
        }
        out + "</tr>\n"
    }

    /// The best value, if there are several to choose from.
    fn best(&self) -> Option<f64> {
        let values = || self.values.iter().copied().flatten();
        let better = |a: f64, b: f64| match self.higher_is_better {
            true => a.max(b),
            false => a.min(b),
        };
        (values().count() > 1).then(|| values().reduce(better))?
    }

    fn number(&self, value: f64) -> String {
        match self.percent {
            true => percent(value, 2),
            false => format!("{value:.4}"),
        }
    }

    fn difference(&self, difference: f64) -> String {
        let shown = match self.percent {
            true => format!("{:+.2}\u{a0}pp", 100.0 * difference),
            false => format!("{difference:+.4}"),
        };
        // A true minus is as wide as a plus.
        let shown = shown.replace('-', "−");
        let class = match (difference > 0.0) == self.higher_is_better {
            _ if difference == 0.0 => "same",
            true => "better",
            false => "worse",
        };
        format!("<small class=\"{class}\">{shown}</small>")
    }
}

/// What the usual names of methods mean.
fn method_notes(evaluations: &[Evaluation]) -> String {
    let known = [
        (
            "MAP",
            "the ordinary network: one value for each weight, the most probable one",
        ),
        (
            "MFG",
            "mean-field Gaussian: every weight has a normal distribution of its own",
        ),
        (
            "PSE",
            "parameter-sharing ensemble: several networks that share their weights up to a few factors each",
        ),
    ];
    let notes: Vec<String> = known
        .into_iter()
        .filter(|(name, _)| evaluations.iter().any(|one| one.method == *name))
        .map(|(name, meaning)| format!("<div><dt>{name}</dt><dd>{meaning}.</dd></div>\n"))
        .collect();
    match notes.is_empty() {
        true => String::new(),
        false => format!("<dl class=\"notes\">\n{}</dl>\n", notes.concat()),
    }
}
