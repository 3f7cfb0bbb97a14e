//! All methods in one table.

mod detection;

use super::section;
use crate::report::{
    Report,
    text::{count, escaped, percent},
};
use bayesadapter::evaluate::{ComparisonRow, Evaluation, Scores};
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
    let columns: Vec<ComparisonRow<'_>> = report
        .evaluations
        .iter()
        .flat_map(Evaluation::comparison_rows)
        .collect();
    let mut content = String::new();
    let introduction = match columns.as_slice() {
        [] => return content,
        [_] => String::new(),
        [baseline, ..] => format!(
            "<p>The best value of each row is <strong class=\"best\">marked</strong>; beneath each value is \
             its difference to {}.</p>\n",
            escaped(baseline.method)
        ),
    };
    content += &introduction;
    content += &sources(&report.evaluations);
    content += "<div class=\"table\"><table>\n<thead><tr><th scope=\"col\">Metric</th>";
    for column in &columns {
        let draws = match column.draws {
            0 => "no draws".to_owned(),
            1 => "1 draw".to_owned(),
            draws => format!("{} draws", count(draws)),
        };
        let below = match column.temperature {
            Some(temperature) => format!("T = {temperature:.2}"),
            None => draws,
        };
        // Writing to a string cannot fail.
        let _ = write!(
            content,
            "<th scope=\"col\">{}<small>{below}</small></th>",
            escaped(&column.name())
        );
    }
    content += "</tr></thead>\n<tbody>\n";
    let ood = report
        .evaluations
        .iter()
        .find_map(|one| one.out_of_distribution.as_ref());
    for row in rows(&columns, ood.map(|ood| ood.name.as_str())) {
        content += &row.html();
    }
    content += "</tbody>\n</table></div>\n";
    content += &prediction_sets(&report.evaluations);
    content += &method_notes(&report.evaluations);
    section("comparison", "All numbers", &content)
}

/// Which images the numbers are from.
fn sources(evaluations: &[Evaluation]) -> String {
    let Some(first) = evaluations.first() else {
        return String::new();
    };
    let test = count(first.scores.examples);
    let validation = first.calibrated.as_ref().map(|calibrated| {
        format!(
            " Temperatures (+ T) and prediction sets were fitted on {}.",
            escaped(&calibrated.calibration.source)
        )
    });
    format!(
        "<p>All numbers are from the {test} images of the test set.{}</p>\n",
        validation.unwrap_or_default()
    )
}

fn rows(columns: &[ComparisonRow<'_>], ood: Option<&str>) -> Vec<Row> {
    let row =
        |name: &str, explanation: &str, higher, percent, of: &dyn Fn(&Scores) -> Option<f64>| Row {
            name: name.to_owned(),
            explanation: explanation.to_owned(),
            higher_is_better: higher,
            percent,
            values: columns.iter().map(|column| of(column.scores)).collect(),
        };
    let mut rows = vec![
        row(
            "Accuracy",
            "share of images predicted correctly",
            true,
            true,
            &|scores| Some(scores.accuracy),
        ),
        row(
            "Top-5 accuracy",
            "share of images whose class is among the five most probable",
            true,
            true,
            &|scores| scores.top_5_accuracy,
        ),
        row(
            "NLL",
            "negative log-likelihood: how surprised the network is by the true class, in nats",
            false,
            false,
            &|scores| Some(scores.nll),
        ),
        row(
            "Brier score",
            "squared distance of the probabilities from the truth",
            false,
            false,
            &|scores| Some(scores.brier),
        ),
        row(
            "ECE",
            "expected calibration error: how far confidence and accuracy are apart, over 15 bins",
            false,
            false,
            &|scores| Some(scores.ece),
        ),
        row(
            "AURC",
            "area under risk against coverage: the error when only the most confident are kept, averaged",
            false,
            false,
            &|scores| Some(scores.aurc),
        ),
    ];
    rows.extend(detection::of_errors(columns));
    if let Some(ood) = ood {
        rows.extend(detection::of_ood(columns, ood));
    }
    rows.retain(|row| row.values.iter().any(Option::is_some));
    rows
}

/// Coverage and size of the prediction sets of every network.
fn prediction_sets(evaluations: &[Evaluation]) -> String {
    let mut lines = String::new();
    for evaluation in evaluations {
        let Some(calibrated) = &evaluation.calibrated else {
            continue;
        };
        for (sets, scores) in calibrated.calibration.sets.iter().zip(&calibrated.sets) {
            // Writing to a string cannot fail.
            let _ = writeln!(
                lines,
                "<tr><th scope=\"row\">{}, {}</th><td>{}</td><td>{}</td><td>{:.2}</td></tr>",
                escaped(&evaluation.method),
                sets.method(),
                percent(sets.coverage(), 0),
                percent(scores.coverage, 1),
                scores.mean_size
            );
        }
    }
    if lines.is_empty() {
        return lines;
    }
    format!(
        "<p>A prediction set holds the true class of as many images as was asked for, on images like those of the \
         validation set; the smaller the sets, the better.</p>\n<div class=\"table\"><table>\n<thead><tr>\
         <th scope=\"col\">Prediction sets</th><th scope=\"col\">Asked for</th><th scope=\"col\">Coverage</th>\
         <th scope=\"col\">Classes</th></tr></thead>\n<tbody>\n{lines}</tbody>\n</table></div>\n"
    )
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
