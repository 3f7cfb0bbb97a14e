//! What the network says of a picture that the user makes.

use super::{News, Panel, Wish, canvas::Canvas, dropped::Dropped};
use crate::{
    report::ClassBars,
    verdict::verdict,
    window::{
        keys,
        look::{self, BLUE, GREEN, VERMILION, terms},
        shown::texture,
        sort::Found,
        take_away,
        worker::{Answer, Question, View},
    },
};
use bayesadapter::evaluate::Measure;
use egui::{
    CornerRadius, Key, Modifiers, ProgressBar, Rect, RichText, ScrollArea, Sense, TextureHandle,
    Ui, Vec2,
};
use std::sync::Arc;

/// Points on a side of the canvas on a small display, its share of a higher one, and its largest side.
const SIDE: f32 = 320.0;
const SHARE: f32 = 0.4;
const LARGEST_SIDE: f32 = 720.0;
/// Points between what is drawn and the result, and what the result needs across beside it: with less, it is below.
const GAP: f32 = 24.0;
const LEAST_RESULT: f32 = 400.0;
/// Points that a number with its name takes.
const FIGURE: f32 = 120.0;
/// Points that the names of classes take, and their probabilities.
const NAME: f32 = 90.0;
const NUMBER: f32 = 64.0;
/// Points that all of the result is wide at most.
const WIDEST: f32 = 1200.0;
/// What the digits' network takes, and the canvas makes.
const DIGIT: [usize; 3] = [1, 8, 8];

/// The panel.
#[derive(Default)]
pub struct Predict {
    view: Option<Arc<View>>,
    canvas: Canvas,
    /// The drawing was asked about since the file was opened.
    asked: bool,
    dropped: Dropped,
    answer: Option<Answer>,
    /// The share of the test pictures that the network is surer of, if it was judged on some.
    rank: Option<f64>,
    seen: Option<TextureHandle>,
}

impl Panel for Predict {
    fn name(&self) -> &'static str {
        "Predict"
    }

    fn about(&self) -> &'static str {
        "Draw a digit or drop a picture, and see what the network says and how sure it is."
    }

    fn on_news(&mut self, news: &News) {
        match news {
            News::Opened(view) => {
                self.view = Some(Arc::clone(view));
                self.asked = false;
                (self.answer, self.seen) = (None, None);
            }
            News::Sorted(Found::Picture(path)) => self.dropped.add(path),
            News::Sorted(Found::Pictures { paths, .. }) => self.dropped.begin(paths),
            News::Answered(answer) if self.is_current(&answer.question) => {
                if !matches!(answer.question, Question::File(_)) {
                    self.dropped = Dropped::default();
                }
                self.rank = self.view.as_ref().and_then(|view| rank(view, answer));
                self.answer = Some(answer.clone());
                self.seen = None;
            }
            _ => {}
        }
    }

    /// A finger draws as well, on a telephone.
    fn least_width(&self) -> f32 {
        SIDE
    }

    fn ui(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let Some(view) = self.view.clone() else {
            look::nothing_yet(
                ui,
                "No network yet. It is here when the first run ends, or when you open a posterior file.",
            );
            return;
        };
        ui.label(RichText::new(&view.about).weak())
            .on_hover_text(super::training::explained(view.method));
        ui.add_space(8.0);
        let side = (SHARE * ui.available_height()).clamp(SIDE, LARGEST_SIDE);
        if ui.available_width() < side + GAP + LEAST_RESULT {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                self.input(ui, &view, SIDE, wishes);
                ui.add_space(GAP);
                self.result(ui, wishes);
                if let Some(answer) = &self.answer {
                    classes(ui, answer);
                }
            });
            return;
        }
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| {
                ui.set_width(side);
                self.input(ui, &view, side, wishes);
            });
            ui.add_space(GAP);
            ui.vertical(|ui| {
                ui.set_max_width(WIDEST.min(ui.available_width()));
                self.result(ui, wishes);
                if let Some(answer) = &self.answer {
                    let area = ScrollArea::vertical().auto_shrink(false);
                    area.show(ui, |ui| classes(ui, answer));
                }
            });
        });
    }
}

impl Predict {
    /// Whether a question is still asked: a drawing may have been cleared while its answer was on its way.
    fn is_current(&self, question: &Question) -> bool {
        match question {
            Question::Drawn(picture) => self.canvas.grew_from(picture),
            Question::Pasted(_) | Question::File(_) => true,
        }
    }

    fn input(&mut self, ui: &mut Ui, view: &View, side: f32, wishes: &mut Vec<Wish>) {
        if view.input_shape == Some(DIGIT) {
            self.drawing(ui, side, wishes);
        }
        let paste = ui.ctx().format_shortcut(&keys::PASTE);
        let text = format!("Or drop pictures on the window, or paste one ({paste}).");
        ui.label(RichText::new(text).weak());
        self.dropped.ui(ui, wishes);
    }

    fn drawing(&mut self, ui: &mut Ui, side: f32, wishes: &mut Vec<Wish>) {
        look::title(
            ui,
            "Draw a digit, or a scribble",
            "The network answers while you draw; it sees 8 x 8 pixels.",
        );
        let changed = self.canvas.ui(ui, side);
        // A file may have been opened since the digit was drawn.
        if changed || !(self.asked || self.canvas.is_empty()) {
            self.asked = true;
            let picture = self.canvas.picture();
            wishes.push(Wish::Ask(Question::Drawn(picture)));
        }
        let clear = ui.button("Clear").on_hover_text("Delete");
        let key = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Delete));
        if clear.clicked() || key {
            self.canvas.clear();
            (self.answer, self.seen) = (None, None);
        }
    }

    /// What is known of the picture, up to the probabilities themselves.
    fn result(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let Some(answer) = &self.answer else {
            look::title(
                ui,
                "What the network says",
                "Its classes and their probabilities.",
            );
            ui.label("Nothing yet.");
            return;
        };
        let seen = self
            .seen
            .get_or_insert_with(|| texture(ui, &answer.picture));
        let rank = self.rank;
        ui.horizontal(|ui| {
            let size = seen.size_vec2();
            ui.image((seen.id(), size * (72.0 / size.max_elem().max(1.0))))
                .on_hover_text("The picture that the network is asked about.");
            ui.vertical(|ui| {
                ui.label(RichText::new(headline(answer)).size(22.0).strong());
                let information = answer.mutual_information;
                let said = verdict(answer.draws, information, answer.entropy, rank);
                ui.label(RichText::new(said).strong());
                if let Some((class, probability)) = &answer.start {
                    ui.label(format!(
                        "The pre-trained network (MAP) says {class}, {:.1} %.",
                        100.0 * probability
                    ));
                }
                if let Some((coverage, classes)) = &answer.prediction_set {
                    ui.label(format!(
                        "{:.0} % prediction set: {}",
                        100.0 * coverage,
                        classes.join(", ")
                    ))
                    .on_hover_text(terms::PREDICTION_SET);
                }
                if let Question::File(path) = &answer.question {
                    ui.label(RichText::new(path.display().to_string()).weak());
                }
            });
        });
        ui.add_space(8.0);
        uncertainties(ui, answer);
        parts(ui, answer);
        if let Some(rank) = rank {
            among_others(ui, rank);
        }
        ui.add_space(10.0);
        let explained = "Mean over the draws; every tick is a draw, and the whisker one standard deviation to each side.";
        take_away::title(ui, "Probabilities", explained, wishes, || ClassBars {
            classes: answer.classes.clone(),
            draws: answer.draw_probabilities.clone(),
        });
    }
}

/// The likeliest class, and its probability.
fn headline(answer: &Answer) -> String {
    let likeliest = answer.classes.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    likeliest.map_or(String::new(), |(name, probability, _)| {
        format!("{name}, {:.1} %", 100.0 * probability)
    })
}

fn uncertainties(ui: &mut Ui, answer: &Answer) {
    let nats = |value: f64| format!("{value:.3}");
    let mut figures = Vec::new();
    if answer.draws > 1 {
        let (information, aleatoric) = (answer.mutual_information, answer.aleatoric_entropy);
        let explained = terms::MUTUAL_INFORMATION;
        figures.push(("Mutual information", nats(information), explained));
        figures.push(("Aleatoric", nats(aleatoric), terms::ALEATORIC));
    }
    figures.push(("Entropy", nats(answer.entropy), terms::ENTROPY));
    let draws = match answer.draws {
        0 => "at the mean".to_owned(),
        draws => draws.to_string(),
    };
    figures.push(("Draws", draws, terms::DRAWS));
    let across = (ui.available_width() / FIGURE).max(1.0) as usize;
    for line in figures.chunks(across) {
        ui.horizontal(|ui| {
            for (name, value, explained) in line {
                look::number(ui, name, value.clone(), explained);
            }
        });
    }
}

/// All bars end where the numbers of the classes begin.
fn bar_width(ui: &Ui) -> f32 {
    ui.available_width() - NUMBER
}

/// The entropy as a bar, cut into what the picture leaves open and what the weights do not know.
fn parts(ui: &mut Ui, answer: &Answer) {
    let most = (answer.classes.len().max(2) as f64).ln();
    let width = bar_width(ui);
    let (response, painter) = ui.allocate_painter(Vec2::new(width, 18.0), Sense::hover());
    let area = response.rect;
    let along = |nats: f64| area.left() + area.width() * (nats / most).clamp(0.0, 1.0) as f32;
    let (aleatoric, all) = (along(answer.aleatoric_entropy), along(answer.entropy));
    painter.rect_filled(area, 3.0, ui.visuals().extreme_bg_color);
    let part = |from, to| Rect::from_x_y_ranges(from..=to, area.y_range());
    painter.rect_filled(part(area.left(), aleatoric), 3.0, GREEN.on(ui));
    painter.rect_filled(part(aleatoric, all.max(aleatoric)), 3.0, VERMILION.on(ui));
    response.on_hover_text(format!(
        "The whole width is the entropy of a blind guess, {most:.2} nats."
    ));
    look::key(
        ui,
        &[
            ("what the picture leaves open", GREEN),
            ("what the weights do not know", VERMILION),
        ],
    );
}

/// The share of the test pictures that the network is surer of, if it was judged on some.
fn rank(view: &View, answer: &Answer) -> Option<f64> {
    let judged = view
        .evaluations
        .iter()
        .find(|one| one.method == view.name)?;
    let uncertainty = match judged.ranked_by {
        Measure::MutualInformation => answer.mutual_information,
        _ => answer.entropy,
    };
    Some(judged.share_below(judged.ranked_by, uncertainty))
}

fn among_others(ui: &mut Ui, rank: f64) {
    let text = format!(
        "less sure of it than of {:.0} % of the test pictures",
        100.0 * rank
    );
    let bar = ProgressBar::new(rank as f32);
    let text = RichText::new(text).color(ui.visuals().strong_text_color());
    let bar = bar.desired_width(bar_width(ui)).text(text);
    let fill = VERMILION.on(ui).gamma_multiply(0.55);
    ui.add(bar.fill(fill).corner_radius(3.0))
        .on_hover_text("By mutual information where there are draws, else by entropy.");
}

/// A bar per class with a whisker of one standard deviation and a tick for every draw.
fn classes(ui: &mut Ui, answer: &Answer) {
    let classes = answer.classes.len().max(1);
    for at in ClassBars::shown(&answer.classes) {
        let Some((name, mean, spread)) = answer.classes.get(at) else {
            continue;
        };
        let draws = answer.draw_probabilities.iter().skip(at).step_by(classes);
        ui.horizontal(|ui| {
            ui.scope(|ui| {
                ui.set_width(NAME);
                ui.add(egui::Label::new(name).truncate());
            });
            bar(ui, *mean, *spread, draws.copied());
            ui.label(format!("{:.1} %", 100.0 * mean));
        });
    }
}

fn bar(ui: &mut Ui, mean: f64, spread: f64, draws: impl Iterator<Item = f32>) {
    let width = bar_width(ui);
    let (response, painter) = ui.allocate_painter(Vec2::new(width, 22.0), Sense::hover());
    let area = response.rect.shrink2(Vec2::new(0.0, 2.0));
    let along = |share: f64| area.left() + area.width() * share.clamp(0.0, 1.0) as f32;
    let ground = ui.visuals().extreme_bg_color;
    painter.rect_filled(area, CornerRadius::same(2), ground);
    let filled = Rect::from_min_max(area.min, egui::pos2(along(mean), area.max.y));
    let blue = BLUE.on(ui);
    painter.rect_filled(filled, CornerRadius::same(2), blue.gamma_multiply(0.8));
    let text = ui.visuals().strong_text_color();
    if spread > 0.0 {
        let tick = egui::Stroke::new(1.0, text.gamma_multiply(0.45));
        for draw in draws {
            painter.vline(along(f64::from(draw)), area.shrink(3.0).y_range(), tick);
        }
        let ends = along(mean - spread)..=along(mean + spread);
        painter.hline(ends, area.center().y, egui::Stroke::new(2.0, text));
    }
    response.on_hover_text(format!(
        "{:.1} % with a standard deviation of {:.1} % over the draws",
        100.0 * mean,
        100.0 * spread
    ));
}
