//! Test images and drawings that are none, each with what two networks say of it.

use super::{
    Chart,
    palette::{BLUE, FAINT, Ink, QUIET, TEXT, VERMILION},
    svg::{WIDTH, pixels, rectangle, words},
    text::{count, percent},
};
use crate::verdict::{STRANGE_RANK, is_strange, is_sure};
use image::RgbImage;

/// Images side by side.
pub const STRANGE_COLUMNS: usize = 6;

/// Sizes in units.
const MARGIN: f64 = 14.0;
const TITLE: f64 = 40.0;
const SUMMARY_LINE: f64 = 36.0;
const HEADING: f64 = 62.0;
const TILE: f64 = 116.0;
/// What is seen of a tile's ground around its image.
const FRAME: f64 = 5.0;
const LINE: f64 = 28.0;
const ROW: f64 = TILE + 2.0 * LINE + 30.0;

/// Sizes of letters: a line of fifteen of them is as wide as a column, even in a wide font.
const TITLE_SIZE: u32 = 30;
const SUMMARY_SIZE: u32 = 25;
const LINE_SIZE: u32 = 19;

/// How much of a posterior's colour is behind its words, so that they can be read on light and dark ground.
const TINT: f64 = 0.25;

/// What a posterior says of an image, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recognition {
    /// It is sure of the class.
    Sure,
    /// It is not sure, but the image is not strange.
    Unsure,
    /// The draws disagree as about no image like those of training.
    NeverSeen,
}

impl Recognition {
    /// By the entropy of the prediction, in nats, and the share of the test images with less mutual information.
    pub fn of(entropy: f64, rank: f64) -> Self {
        match is_strange(rank) {
            true => Self::NeverSeen,
            false if is_sure(entropy, rank) => Self::Sure,
            false => Self::Unsure,
        }
    }

    fn ink(self) -> Ink {
        match self {
            Self::Sure => BLUE,
            Self::Unsure => QUIET,
            Self::NeverSeen => VERMILION,
        }
    }

    fn words(self, class: &str) -> String {
        match self {
            Self::Sure => format!("{class}, sure"),
            Self::Unsure => format!("{class}, unsure"),
            Self::NeverSeen => "never seen".to_owned(),
        }
    }
}

/// An image with what both networks say of it.
#[derive(Clone, Debug, PartialEq)]
pub struct StrangeTile {
    pub image: RgbImage,
    /// The class that the pre-trained network chooses.
    pub baseline_class: String,
    /// The probability that it gives to that class.
    pub baseline_confidence: f64,
    /// The class that the posterior chooses.
    pub class: String,
    pub recognition: Recognition,
}

/// Test images and drawings that are none, with what a pre-trained network and a posterior say of them.
#[derive(Clone, Debug, PartialEq)]
pub struct StrangeFigure {
    /// What the pre-trained network is called.
    pub baseline: String,
    /// What the posterior is called.
    pub method: String,
    /// Drawings that both were evaluated on; some of them are shown.
    pub drawings: usize,
    /// The probability that the pre-trained network gives to the class that it chooses, on average over the drawings.
    pub baseline_confidence: f64,
    /// Share of the drawings that the posterior recognises as never seen.
    pub recognised: f64,
    /// Test images.
    pub known: Vec<StrangeTile>,
    /// Drawings that are none.
    pub strange: Vec<StrangeTile>,
}

impl StrangeFigure {
    /// The chart, as reports and `strange.png` show it.
    pub fn chart(&self) -> Chart {
        let title = "Test digits, and drawings that are no digits".to_owned();
        let mut out = words((MARGIN, TITLE), TITLE_SIZE, TEXT, "start", &title);
        let mut top = TITLE;
        for line in &self.summary() {
            top += SUMMARY_LINE;
            out.push_str(&words((MARGIN, top), SUMMARY_SIZE, FAINT, "start", line));
        }
        for (heading, tiles) in [
            ("Test digits", &self.known),
            ("Drawings that are no digits", &self.strange),
        ] {
            if tiles.is_empty() {
                continue;
            }
            let place = (MARGIN, top + HEADING - 18.0);
            out.push_str(&words(place, SUMMARY_SIZE, TEXT, "start", heading));
            top += HEADING;
            for row in tiles.chunks(STRANGE_COLUMNS) {
                self.row(row, top, &mut out);
                top += ROW;
            }
        }
        let height = (top + MARGIN).ceil() as u32;
        Chart::new(
            "strange-drawings".to_owned(),
            title,
            self.caption(),
            height,
            &out,
        )
    }

    /// Lines beneath the title, of about 70 letters at most.
    fn summary(&self) -> [String; 2] {
        [
            format!(
                "{} is {} sure of {} drawings that are no digits, on average.",
                self.baseline,
                percent(self.baseline_confidence, 0),
                count(self.drawings)
            ),
            format!(
                "{} recognises {} of them as something that it has never seen.",
                self.method,
                percent(self.recognised, 0)
            ),
        ]
    }

    fn caption(&self) -> String {
        let Self {
            baseline, method, ..
        } = self;
        format!(
            "How to read it: beneath each image stands which class {baseline} takes it for, with its probability, and \
             what {method} says. “Never seen” is an image about which the draws of {method} disagree more than about \
             {} of the test images. {method} was fine-tuned to be unsure of drawings that another program made. The \
             images are the first of each kind.",
            percent(STRANGE_RANK, 0)
        )
    }

    fn row(&self, tiles: &[StrangeTile], top: f64, out: &mut String) {
        let pitch = (f64::from(WIDTH) - 2.0 * MARGIN) / STRANGE_COLUMNS as f64;
        for (column, tile) in tiles.iter().enumerate() {
            let middle = MARGIN + pitch * (column as f64 + 0.5);
            let (left, ink) = (middle - 0.5 * TILE, tile.recognition.ink());
            let ground = [
                left - FRAME,
                top - FRAME,
                TILE + 2.0 * FRAME,
                TILE + 2.0 * FRAME,
            ];
            rectangle(out, ground, ink, 1.0);
            let (width, height) = tile.image.dimensions();
            let scale = [width, height].map(|side| TILE / f64::from(side.max(1)));
            pixels(out, &tile.image, (left, top), scale);
            let said = format!(
                "{}: {}, {}",
                self.baseline,
                tile.baseline_class,
                percent(tile.baseline_confidence, 0)
            );
            let line = top + TILE + FRAME + LINE;
            out.push_str(&words(
                (middle, line - 7.0),
                LINE_SIZE,
                TEXT,
                "middle",
                &said,
            ));
            let band = [middle - 0.5 * pitch + 3.0, line, pitch - 6.0, LINE];
            rectangle(out, band, ink, TINT);
            let said = format!("{}: {}", self.method, tile.recognition.words(&tile.class));
            let place = (middle, line + LINE - 8.0);
            out.push_str(&words(place, LINE_SIZE, TEXT, "middle", &said));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(class: &str, recognition: Recognition) -> StrangeTile {
        StrangeTile {
            image: RgbImage::new(8, 8),
            baseline_class: class.to_owned(),
            baseline_confidence: 0.998,
            class: class.to_owned(),
            recognition,
        }
    }

    fn figure(known: usize, strange: usize) -> StrangeFigure {
        StrangeFigure {
            baseline: "MAP".to_owned(),
            method: "PSE".to_owned(),
            drawings: 1_200,
            baseline_confidence: 0.93,
            recognised: 0.96,
            known: vec![tile("4", Recognition::Sure); known],
            strange: vec![tile("7", Recognition::NeverSeen); strange],
        }
    }

    #[test]
    fn every_image_has_two_lines() {
        let svg = figure(6, 12).chart().svg;
        assert_eq!(svg.matches("<g ").count(), 18);
        assert_eq!(svg.matches(">MAP: 4, 100\u{a0}%</text>").count(), 6);
        assert_eq!(svg.matches(">PSE: 4, sure</text>").count(), 6);
        assert_eq!(svg.matches(">MAP: 7, 100\u{a0}%</text>").count(), 12);
        assert_eq!(svg.matches(">PSE: never seen</text>").count(), 12);
    }

    #[test]
    fn numbers_are_beneath_the_title() {
        let svg = figure(1, 1).chart().svg;
        let map = ">MAP is 93\u{a0}% sure of 1,200 drawings that are no digits, on average.</text>";
        let pse = ">PSE recognises 96\u{a0}% of them as something that it has never seen.</text>";
        assert!(svg.contains(map) && svg.contains(pse), "{svg}");
        assert!(svg.contains("more than about 97\u{a0}% of the test images"));
    }

    #[test]
    fn rows_make_the_figure_higher_and_stay_inside() {
        let height = |known, strange| {
            let svg = figure(known, strange).chart().svg;
            let (_, rest) = svg.split_once("viewBox=\"0 0 960 ").unwrap_or_default();
            let (height, _) = rest.split_once('"').unwrap_or_default();
            height.parse::<f64>().unwrap_or_default()
        };
        assert_eq!(height(6, 12) - height(6, 6), ROW);
        assert_eq!(height(6, 7), height(6, 12));
        let bottom = TITLE + 2.0 * SUMMARY_LINE + 2.0 * HEADING + 3.0 * ROW;
        assert!(height(6, 12) >= bottom);
        // Without images there is still a title.
        assert!(figure(0, 0).chart().svg.contains("no digits"));
    }

    #[test]
    fn names_are_text_and_not_markup() {
        let mut figure = figure(1, 1);
        figure.baseline = "<b>&".to_owned();
        figure.method = "<i>".to_owned();
        figure.known[0].class = "\"4'".to_owned();
        let svg = figure.chart().svg;
        assert!(!svg.contains("<b>") && !svg.contains("<i>"));
        assert!(svg.contains(">&lt;b&gt;&amp;: 4, 100\u{a0}%</text>"));
        assert!(svg.contains(">&lt;i&gt;: &quot;4&#39;, sure</text>"));
    }

    #[test]
    fn words_follow_the_verdict() {
        assert_eq!(Recognition::of(0.1, 0.5), Recognition::Sure);
        assert_eq!(Recognition::of(0.1, 0.9), Recognition::Unsure);
        assert_eq!(Recognition::of(1.2, 0.5), Recognition::Unsure);
        assert_eq!(Recognition::of(0.1, 0.98), Recognition::NeverSeen);
    }
}
