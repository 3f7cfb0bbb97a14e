//! What happens when only confident predictions are kept.

use super::{lines, methods};
use crate::report::{
    Chart, Report,
    figure::{Axis, HEIGHT, Unit, axes, figure, shares_of},
    look::Look,
};
use anyhow::Result;

pub fn charts(report: &Report) -> Result<Vec<Chart>> {
    Ok(vec![
        error_above_confidence(report)?,
        risk_coverage(report)?,
    ])
}

type Line = (Look, Vec<(f64, f64)>);

fn error_above_confidence(report: &Report) -> Result<Chart> {
    let strangers = report
        .evaluations
        .iter()
        .find_map(|evaluation| evaluation.out_of_distribution.as_ref());
    let (title, what) = match strangers {
        Some(strangers) => (
            format!("Error above a confidence, with {}", strangers.name),
            format!(
                " Images of {}, whose classes the network does not know, are mixed in, and every prediction \
                 of them counts as wrong.",
                strangers.name
            ),
        ),
        None => ("Error above a confidence".to_owned(), String::new()),
    };
    let curves: Vec<Line> = methods(report)
        .map(|(look, evaluation)| {
            let points = evaluation.error_above_confidence.iter();
            let kept = points.filter_map(|point| Some((point.threshold, point.error?)));
            (look, kept.collect())
        })
        .collect();
    let elements = plot(report, &title, &curves, "Least confidence that is kept")?;
    Ok(Chart::new(
        "error-above-confidence".to_owned(),
        title,
        format!(
            "How to read it: of the predictions with at least the confidence below, the line shows the share \
             that is wrong; lower is better.{what} A network that is rightly unsure of what it does not know \
             has a low line on the right."
        ),
        HEIGHT,
        &elements,
    ))
}

fn risk_coverage(report: &Report) -> Result<Chart> {
    let title = "Risk against coverage".to_owned();
    let curves: Vec<Line> = methods(report)
        .map(|(look, evaluation)| {
            let points = evaluation.risk_coverage.iter();
            (
                look,
                points.map(|point| (point.coverage, point.risk)).collect(),
            )
        })
        .collect();
    let elements = plot(
        report,
        &title,
        &curves,
        "Share of images that is kept, the most confident first",
    )?;
    Ok(Chart::new(
        "risk-coverage".to_owned(),
        title,
        "How to read it: at the right end the network answers for every image; further left it answers only \
         for those of which it is most confident. A good line is low, and falls to zero early on its way to \
         the left."
            .to_owned(),
        HEIGHT,
        &elements,
    ))
}

fn plot(report: &Report, title: &str, curves: &[Line], x_label: &str) -> Result<String> {
    let names = methods(report).map(|(look, evaluation)| (look, evaluation.method.as_str()));
    figure(title, &lines(names), HEIGHT, |area| {
        let x = Axis::new(x_label, 0.0..1.0, Unit::Percent);
        let errors = curves
            .iter()
            .flat_map(|(_, points)| points.iter().map(|point| point.1));
        let y = Axis::new("Error", 0.0..shares_of(errors).end, Unit::Percent);
        let mut plot = axes(area, &x, &y)?;
        for (look, points) in curves {
            look.line(&mut plot, points)?;
        }
        Ok(())
    })
}
