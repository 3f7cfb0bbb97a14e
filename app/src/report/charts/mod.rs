//! The charts of a report, by section.

mod calibration;
mod draws;
mod kernels;
mod selection;
mod training;
mod uncertainty;

pub use calibration::Reliability;

use super::{
    Chart, Report, StrangeFigure,
    look::{Key, Look},
};
use anyhow::Result;
use bayesadapter::evaluate::Evaluation;
use std::collections::HashSet;

/// Charts that answer one question.
pub struct Section {
    /// Its anchor in the page.
    pub id: &'static str,
    pub title: &'static str,
    /// The terms that its charts need, each explained.
    pub introduction: &'static str,
    pub charts: Vec<Chart>,
}

/// All sections that have charts.
pub fn sections(report: &Report) -> Result<Vec<Section>> {
    let mut sections = vec![
        Section {
            id: "never-seen",
            title: "What does it say of what it has never seen?",
            introduction: "A network without a posterior (MAP) chooses one of its classes for every image, and is \
                often sure of it even where the image is of none of them. A posterior predicts with several draws, \
                which are networks sampled from it. They agree about images like those of training, and disagree \
                about others.",
            charts: report.strange.iter().map(StrangeFigure::chart).collect(),
        },
        Section {
            id: "calibration",
            title: "Is it as sure as it should be?",
            introduction: "The confidence of a prediction is the probability that the network gives to the \
                class that it chose. A network is calibrated if, of the predictions made with 80 % \
                confidence, 80 % are right.",
            charts: calibration::charts(report)?,
        },
        Section {
            id: "uncertainty",
            title: "Does it know what it does not know?",
            introduction: "A Bayesian network has a distribution over its weights instead of one value for \
                each. A draw is an ordinary network taken from that distribution. The mutual information is \
                how much the draws disagree about an image: it is 0 when all of them say the same. The \
                entropy measures all uncertainty, also where an image is ambiguous in itself. Both are in \
                nats, the unit of natural logarithms.",
            charts: uncertainty::charts(report)?,
        },
        Section {
            id: "selection",
            title: "What if it may abstain?",
            introduction: "A network that knows when it is unsure can leave those images to somebody else. \
                Coverage is the share of images that it keeps, and risk the share of errors among them.",
            charts: selection::charts(report)?,
        },
        Section {
            id: "draws",
            title: "How many draws are enough?",
            introduction: "The ensemble averages the probabilities of several draws. The mean network has \
                the mean of the distribution as its weights, and needs no draws.",
            charts: draws::charts(report)?,
        },
        Section {
            id: "training",
            title: "How did training go?",
            introduction: "Training lowers two terms. The negative log-likelihood (NLL) says how badly the network \
                explains the training images. The complexity loss says how far the distribution over the weights \
                is from what was assumed before seeing any data. After each epoch the network is also evaluated \
                on images of the validation set, if there is one: it does not learn from these.",
            charts: training::charts(report)?,
        },
        Section {
            id: "posterior",
            title: "What do the weights look like?",
            introduction: "The kernels of the first layer are small pictures: each is the pattern that one \
                of its outputs looks for.",
            charts: kernels::charts(report),
        },
    ];
    sections.retain(|section| !section.charts.is_empty());
    make_names_unique(&mut sections);
    Ok(sections)
}

/// Methods may share a name, and files may not.
fn make_names_unique(sections: &mut [Section]) {
    let mut taken = HashSet::new();
    for chart in sections.iter_mut().flat_map(|section| &mut section.charts) {
        let name = chart.name.clone();
        let mut number = 2;
        while !taken.insert(chart.name.clone()) {
            chart.name = format!("{name}-{number}");
            number += 1;
        }
    }
}

/// The evaluations with their looks.
fn methods(report: &Report) -> impl Iterator<Item = (Look, &Evaluation)> {
    let evaluations = report.evaluations.iter().enumerate();
    evaluations.map(|(place, evaluation)| (Look::of_method(place), evaluation))
}

/// The look of a method by its name, so that it is the same in every chart.
fn look_of(report: &Report, method: &str) -> Look {
    let mut methods = methods(report);
    let found = methods.find(|(_, evaluation)| evaluation.method == method);
    found.map_or(Look::of_method(1), |(look, _)| look)
}

/// A legend of lines.
fn lines<'a>(methods: impl Iterator<Item = (Look, &'a str)>) -> Vec<(Key, String)> {
    methods
        .map(|(look, name)| (Key::Line(look), name.to_owned()))
        .collect()
}
