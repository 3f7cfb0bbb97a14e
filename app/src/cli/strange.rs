//! The networks of the demo on drawings that are no digits.

use super::Voice;
use crate::{
    demo::run_folder,
    network::{self, Opened},
    outcome::image_of,
    report::{PICTURE_SCALE, Recognition, STRANGE_COLUMNS, StrangeFigure, StrangeTile, png},
    verdict::{STRANGE_RANK, is_strange},
};
use anyhow::Result;
use bayesadapter::{
    data::{Dataset, Pictures, StrangeDrawings, strange_drawings},
    evaluate::{Evaluation, Measure},
    file::write_atomically,
    predict::{Draws, Prediction},
    session::Method,
};
use burn::tensor::{Device, Tensor, TensorData};
use image::RgbImage;
use serde::Serialize;
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

/// Drawings of each kind that the networks are evaluated on.
const PER_KIND: usize = 50;
/// The drawings are the same for every demo, whatever its random seed, so that demos compare.
const SEED: u64 = 0;
/// Drawings in the figure: the first of each kind, then the second ones.
const SHOWN: usize = 2 * STRANGE_COLUMNS;
/// A probability below which a network is not sure of the class that it chooses.
const SURE: f64 = 0.7;

/// What both networks say of one image.
#[derive(Clone, Copy)]
struct Said {
    /// The class that MAP chooses.
    map_class: u32,
    /// The probability that it gives to that class.
    map_confidence: f64,
    /// The class that PSE chooses.
    class: u32,
    /// Of PSE's prediction, in nats.
    entropy: f64,
    /// Share of the test images of which PSE has less mutual information.
    rank: f64,
}

/// A line of the table.
#[derive(Serialize)]
struct Row {
    kind: String,
    images: usize,
    /// Mean probability of the class that MAP chooses.
    map_confidence: f64,
    /// Share of the images to whose class MAP gives less than 70 %.
    map_unsure: f64,
    /// Share of the images that PSE recognises as strange.
    pse_strange: f64,
}

/// Evaluates the pre-trained network and the ensemble of the demo in `out` on drawings that are no digits, tells what
/// they say, and returns the figure of it; nothing if one of their evaluations is missing. `test` is the test set of
/// the evaluations.
pub fn compare(
    evaluations: &[Evaluation],
    out: &Path,
    test: &dyn Dataset,
    device: &Device,
    voice: &Voice,
) -> Result<Option<StrangeFigure>> {
    let of_method = |method: Method| {
        let name = method.to_string();
        evaluations.iter().find(|one| one.method == name)
    };
    let (Some(map), Some(pse)) = (of_method(Method::Map), of_method(Method::Pse)) else {
        return Ok(None);
    };
    let open = |method: Method| {
        let file = run_folder(out, method).join("posterior.safetensors");
        network::open(&file, device)
    };
    let networks = [(open(Method::Map)?, map), (open(Method::Pse)?, pse)];
    let mut drawings = Vec::new();
    for of_kind in strange_drawings(PER_KIND, SEED) {
        let said = said_of_drawings(&networks, &of_kind.images)?;
        drawings.push((of_kind, said));
    }
    let digits = said_of_test_images(map, pse);
    let all: Vec<Said> = drawings.iter().flat_map(|(_, said)| said.clone()).collect();
    let all = Row::of("all drawings", &all);
    let kinds = drawings
        .iter()
        .map(|(of_kind, said)| Row::of(of_kind.kind.name(), said));
    tell(
        &kinds.collect::<Vec<_>>(),
        &all,
        &Row::of("test digits", &digits),
        voice,
    );
    Ok(Some(StrangeFigure {
        baseline: map.method.clone(),
        method: pse.method.clone(),
        drawings: all.images,
        baseline_confidence: all.map_confidence,
        recognised: all.pse_strange,
        known: first_of_classes(pse, &digits, test),
        strange: first_of_kinds(pse, &drawings),
    }))
}

/// Writes the figure as `strange.png` into a folder. Returns its path.
pub fn write(figure: &StrangeFigure, folder: &Path) -> Result<PathBuf> {
    let path = folder.join("strange.png");
    write_atomically(&path, &png(&figure.chart().svg, PICTURE_SCALE)?)?;
    Ok(path)
}

/// Both networks on images; the ranks are by the evaluation of the second one.
fn said_of_drawings(
    [map, pse]: &[(Opened, &Evaluation); 2],
    images: &Pictures,
) -> Result<Vec<Said>> {
    let [of_map, of_pse] = [predict(map, images)?, predict(pse, images)?];
    let uncertainties = of_pse.entropy().iter().zip(of_pse.mutual_information());
    let said = uncertainties
        .enumerate()
        .filter_map(|(at, (&entropy, &information))| {
            let (map_class, map_confidence) = of_map.most_probable(at)?;
            let (class, _) = of_pse.most_probable(at)?;
            Some(Said {
                map_class,
                map_confidence,
                class,
                entropy,
                rank: pse.1.share_below(Measure::MutualInformation, information),
            })
        });
    Ok(said.collect())
}

/// With the draws that the evaluation used, so that uncertainties compare.
fn predict((network, evaluation): &(Opened, &Evaluation), images: &Pictures) -> Result<Prediction> {
    let preparation = network.preparation()?;
    let [channels, height, width] = preparation.shape;
    let mut inputs = Vec::new();
    for index in 0..images.len() {
        inputs.extend(preparation.prepare(&images.picture(index)?)?);
    }
    let inputs = TensorData::new(inputs, [images.len(), channels, height, width]);
    let draws = match evaluation.draws {
        0 => Draws::Mean,
        draws => Draws::Fixed(draws as u32),
    };
    let inputs = Tensor::<4>::from_data(inputs, &network.device);
    Ok(network.bayes.predict(inputs, draws)?)
}

fn said_of_test_images(map: &Evaluation, pse: &Evaluation) -> Vec<Said> {
    let (of_map, of_pse) = (&map.examples, &pse.examples);
    let said = |at: usize| Said {
        map_class: of_map.predicted[at],
        map_confidence: f64::from(of_map.confidence[at]),
        class: of_pse.predicted[at],
        entropy: of_pse.entropy[at],
        rank: pse.share_below(Measure::MutualInformation, of_pse.mutual_information[at]),
    };
    (0..of_map.len().min(of_pse.len())).map(said).collect()
}

impl Row {
    fn of(kind: &str, said: &[Said]) -> Self {
        let mean = |value: &dyn Fn(&Said) -> f64| {
            said.iter().map(value).sum::<f64>() / said.len().max(1) as f64
        };
        let share = |holds: &dyn Fn(&Said) -> bool| mean(&|one| f64::from(u8::from(holds(one))));
        Self {
            kind: kind.to_owned(),
            images: said.len(),
            map_confidence: mean(&|one| one.map_confidence),
            map_unsure: share(&|one| one.map_confidence < SURE),
            pse_strange: share(&|one| is_strange(one.rank)),
        }
    }
}

fn tell(kinds: &[Row], all: &Row, digits: &Row, voice: &Voice) {
    voice.say(format_args!(
        "Drawings that are no digits; strange to PSE is what its draws disagree about more than about {:.0} % of the \
         test images:\n{:20} {:>7} {:>16} {:>15} {:>14}",
        100.0 * STRANGE_RANK,
        "",
        "images",
        "MAP's confidence",
        "MAP below 70 %",
        "PSE: strange"
    ));
    for row in kinds.iter().chain([all, digits]) {
        let share = |share: f64| format!("{:.1} %", 100.0 * share);
        voice.say(format_args!(
            "{:20} {:>7} {:>16} {:>15} {:>14}",
            row.kind,
            row.images,
            share(row.map_confidence),
            share(row.map_unsure),
            share(row.pse_strange)
        ));
    }
    voice.say("");
    voice.json(&serde_json::json!({
        "event": "strange-drawings",
        "kinds": kinds,
        "all": all,
        "test": digits,
    }));
}

/// The first test image of each of some classes.
fn first_of_classes(pse: &Evaluation, said: &[Said], test: &dyn Dataset) -> Vec<StrangeTile> {
    // The data may be others by now.
    if pse.test_pictures() != test.len() {
        return Vec::new();
    }
    let mut met = HashSet::new();
    let first = pse.labels.iter().zip(said).enumerate();
    let first = first.filter(|(_, (label, _))| met.insert(**label));
    let tiles = first.filter_map(|(at, (_, said))| {
        let image = test.picture(pse.picture_of(at)).ok()?;
        Some(tile(pse, image_of(&image)?, said))
    });
    tiles.take(STRANGE_COLUMNS).collect()
}

/// The first drawings of each kind, in the order of the kinds: not chosen by what is said of them.
fn first_of_kinds(pse: &Evaluation, drawings: &[(StrangeDrawings, Vec<Said>)]) -> Vec<StrangeTile> {
    let kinds = drawings.len().max(1);
    let mut tiles = Vec::new();
    for (place, (of_kind, said)) in drawings.iter().enumerate() {
        let count = SHOWN / kinds + usize::from(place < SHOWN % kinds);
        tiles.extend(
            said.iter()
                .take(count)
                .enumerate()
                .filter_map(|(at, said)| {
                    let image = of_kind.images.picture(at).ok()?;
                    Some(tile(pse, image_of(&image)?, said))
                }),
        );
    }
    tiles
}

fn tile(pse: &Evaluation, image: RgbImage, said: &Said) -> StrangeTile {
    StrangeTile {
        image,
        baseline_class: pse.class_name(said.map_class),
        baseline_confidence: said.map_confidence,
        class: pse.class_name(said.class),
        recognition: Recognition::of(said.entropy, said.rank),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_means_and_shares() {
        let said = |map_confidence, rank| Said {
            map_class: 1,
            map_confidence,
            class: 2,
            entropy: 0.1,
            rank,
        };
        let all = [
            said(1.0, 0.99),
            said(0.9, 0.98),
            said(0.6, 0.97),
            said(0.7, 0.2),
        ];
        let row = Row::of("letters", &all);
        assert_eq!((row.kind.as_str(), row.images), ("letters", 4));
        assert!((row.map_confidence - 0.8).abs() < 1e-12);
        assert_eq!((row.map_unsure, row.pse_strange), (0.25, 0.5));
        assert_eq!(Row::of("none", &[]).map_confidence, 0.0);
    }
}
