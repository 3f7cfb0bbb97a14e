//! What was found, in sentences.

use super::section;
use crate::report::{
    Report,
    text::{count, escaped, percent, spoken_percent},
};
use bayesadapter::evaluate::Evaluation;
use std::fmt::Write;

pub fn html(report: &Report) -> String {
    let Some((baseline, others)) = report.evaluations.split_first() else {
        return String::new();
    };
    let mut content = "<div class=\"cards\">\n".to_owned();
    let shown = if others.is_empty() {
        std::slice::from_ref(baseline)
    } else {
        others
    };
    for evaluation in shown {
        let compared = (!others.is_empty()).then_some(baseline);
        // Writing to a string cannot fail.
        let _ = writeln!(
            content,
            "<div class=\"card\"><h3>{}</h3><ul>",
            escaped(&evaluation.method)
        );
        for sentence in sentences(evaluation, compared) {
            let _ = writeln!(content, "<li>{}</li>", escaped(&sentence));
        }
        content += "</ul></div>\n";
    }
    content += "</div>\n";
    section("summary", "In short", &content)
}

fn sentences(evaluation: &Evaluation, baseline: Option<&Evaluation>) -> Vec<String> {
    let scores = &evaluation.scores;
    let with_baseline = |sentence: String, value: fn(&Evaluation) -> String| match baseline {
        Some(baseline) => format!("{sentence}; {}: {}.", baseline.method, value(baseline)),
        None => format!("{sentence}."),
    };
    let accuracy = |evaluation: &Evaluation| percent(evaluation.scores.accuracy, 2);
    let ece = |evaluation: &Evaluation| format!("by {}", percent(evaluation.scores.ece, 1));
    let mut sentences = vec![
        with_baseline(
            format!(
                "It is right on {} of {} test images",
                accuracy(evaluation),
                count(scores.examples)
            ),
            accuracy,
        ),
        with_baseline(
            format!("Its confidence is off {} on average", ece(evaluation)),
            ece,
        ),
    ];
    sentences.extend(ends_of_buckets(evaluation));
    sentences.extend(strangers(evaluation));
    sentences
}

/// The surest and the least sure tenth.
fn ends_of_buckets(evaluation: &Evaluation) -> Option<String> {
    let surest = evaluation.buckets.first()?.accuracy?;
    let least_sure = evaluation.buckets.last()?.accuracy?;
    Some(format!(
        "Of the tenth of the images that it is surest of, {} are right; of the tenth that it is least sure of, {}.",
        spoken_percent(surest),
        spoken_percent(least_sure)
    ))
}

fn strangers(evaluation: &Evaluation) -> Option<String> {
    let strangers = evaluation.out_of_distribution.as_ref()?;
    let detection = strangers.detection.by(evaluation.ranked_by)?;
    Some(format!(
        "Given an image of {} and a test image, it is less sure of the former in {} of cases.",
        strangers.name,
        spoken_percent(detection.auroc)
    ))
}
