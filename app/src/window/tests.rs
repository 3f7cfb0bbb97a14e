//! Every page as a user sees it. The pictures are left in `target/window`.

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../tests/report/synthetic.rs"]
mod synthetic;

mod closing;
mod compare;
mod drops;
mod files;
mod judged;
mod judging;
mod live;
mod outside;
mod pictures;
mod posterior;
mod remembered;
mod settings;
mod setup;
mod several;
mod sizes;
mod take_away;
mod whole;
mod worker;

use super::{
    Window,
    album::TestData,
    look,
    news::{News, Wish},
    panels::{self, Panel},
    welcome::Welcome,
    worker::{Answer, Question, View},
};
use bayesadapter::{
    data::Picture,
    evaluate::{KernelPosterior, LayerFactors, LayerPosterior, LayerSpread, Movement},
    metrics::Histogram,
    posterior::{Conversion, ConversionAccount, Summary},
    session::{Command, Event, Glimpse, Method, Phase, Prepared, Progress, Scrubbed},
    train::{Position, Rates},
};
use egui::{
    PointerButton, Pos2, Theme, Vec2, ViewportCommand, ViewportEvent, ViewportId, accesskit::Role,
};
use egui_kittest::{Harness, kittest::Queryable};
use std::{path::PathBuf, sync::Arc};

struct Page {
    panel: Box<dyn Panel>,
    wishes: Vec<Wish>,
}

/// A page that was told the news.
fn page(name: &str, news: &[News]) -> Harness<'static, Page> {
    let found = panels::all().into_iter().find(|one| one.name() == name);
    let mut panel = found.unwrap();
    for one in news {
        panel.on_news(one);
    }
    let page = Page {
        panel,
        wishes: Vec::new(),
    };
    let draw = |ui: &mut egui::Ui, page: &mut Page| {
        egui::CentralPanel::default().show(ui, |ui| page.panel.ui(ui, &mut page.wishes));
    };
    let mut harness = Harness::builder()
        .with_size(Vec2::new(1280.0, 760.0))
        .build_ui_state(draw, page);
    look::apply(&harness.ctx);
    harness.run_steps(3);
    harness
}

/// Leaves pictures in dark and in light, and checks that there is something on them.
fn picture<State>(harness: &mut Harness<'_, State>, name: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/window");
    std::fs::create_dir_all(folder).unwrap();
    for (theme, ending) in [(Theme::Light, "-light"), (Theme::Dark, "")] {
        harness.ctx.set_theme(theme);
        harness.run_steps(2);
        let picture = harness.render().unwrap();
        let again = harness.render().unwrap();
        assert!(picture == again, "{name} is drawn in two ways");
        picture
            .save(format!("{folder}/{name}{ending}.png"))
            .unwrap();
        let ground = picture.get_pixel(2, 2);
        let inked = picture.pixels().filter(|&pixel| pixel != ground).count();
        assert!(inked > 1_000, "{name}: {inked} pixels");
    }
}

fn progress(step: usize) -> News {
    let fade = (-(step as f64) / 200.0).exp();
    News::Run(Event::Progress(Progress {
        position: Position {
            step,
            epoch: (step / 14) as u32,
            batch: step % 14,
        },
        steps: 840,
        epochs: 60,
        likelihood_loss: 0.1 + 2.0 * fade,
        complexity_loss: 0.8 - 0.1 * fade,
        accuracy: 0.98 - 0.8 * fade,
        rates: Rates {
            lr: 5e-3,
            variational_lr: 0.1 * 0.2f64.powi((step / 210) as i32),
        },
        examples_per_second: 2_345.0,
        seconds_left: 75.0,
    }))
}

fn phase(phase: Phase) -> News {
    News::Run(Event::Phase { phase })
}

fn began(method: Method) -> News {
    News::Began {
        method,
        folder: PathBuf::from("runs/demo"),
        data: data(),
    }
}

fn data() -> TestData {
    TestData {
        path: "few-digits".to_owned(),
        split: Some(("none".to_owned(), 0)),
        set: Default::default(),
    }
}

fn judged() -> Vec<News> {
    let evaluations = synthetic::report().evaluations;
    let events = evaluations.into_iter().map(Box::new);
    let events = events.map(|one| News::Run(Event::Evaluated(one)));
    [began(Method::Pse)].into_iter().chain(events).collect()
}

/// A layer of an ensemble.
fn layer(path: &str) -> LayerPosterior {
    let kernels = KernelPosterior {
        path: path.to_owned(),
        ..synthetic::report().first_layers.remove(0).kernels
    };
    let values = |values: &[f32]| Histogram::of(values.iter().copied().map(f64::from), 60);
    let factor = |at: usize| 1.0 + 0.1 * (at as f32).sin();
    LayerPosterior {
        path: path.to_owned(),
        shape: kernels.shape.to_vec(),
        mean: values(&kernels.mean),
        spread: Some(LayerSpread {
            std: values(&kernels.std),
            signal_to_noise: values(&kernels.mean),
        }),
        movement: Some(Movement {
            share: 0.123,
            elements: values(&kernels.mean),
        }),
        factors: Some(LayerFactors {
            components: 8,
            rank: 1,
            left: (0..8 * 27).map(factor).collect(),
            right: (0..8 * 16).map(factor).collect(),
        }),
        kernels: Some(kernels),
    }
}

fn opened() -> News {
    let summary = |path: &str, spread| Summary {
        path: path.to_owned(),
        shape: vec![16, 3, 3, 3],
        mean: 0.01,
        std: 0.2,
        spread,
    };
    News::Opened(Arc::new(View {
        path: PathBuf::from("runs/demo/pse/posterior.safetensors"),
        method: Method::Pse,
        name: Method::Pse.to_string(),
        about: "PSE posterior of digits-cnn".to_owned(),
        input_shape: Some([1, 8, 8]),
        different_draws: Some(20),
        summaries: vec![
            summary("conv1.weight", Some(0.07)),
            summary("conv2.weight", Some(0.05)),
            summary("norm1.gamma", None),
        ],
        movements: [("conv1.weight".to_owned(), 0.123)].into(),
        layer: Some(Arc::new(layer("conv1.weight"))),
        evaluations: synthetic::report().evaluations,
        data: Some(data()),
        ..View::default()
    }))
}

/// A network that says 3, but is not sure.
fn answer(question: Question, picture: Picture) -> News {
    let probability = |class| if class == 3 { 0.64 } else { 0.04 };
    let classes = (0..10).map(|class| (class.to_string(), probability(class), 0.05));
    let near = |at: usize| probability(at % 10) + 0.08 * (at as f64).sin();
    News::Answered(Answer {
        question,
        picture,
        classes: classes.collect(),
        draw_probabilities: (0..300).map(|at| near(at).max(0.0) as f32).collect(),
        draws: 30,
        mutual_information: 1.7,
        entropy: 2.0,
        aleatoric_entropy: 0.3,
        start: Some(("3".to_owned(), 0.998)),
        prediction_set: Some((0.9, vec!["3".to_owned(), "8".to_owned()])),
    })
}

#[test]
fn pages_say_what_to_do_before_there_is_anything_to_show() {
    for panel in panels::all() {
        let harness = page(panel.name(), &[]);
        assert!(
            harness.query_by_label_contains("yet").is_some(),
            "{} is silent",
            panel.name()
        );
    }
}

#[test]
fn training_shows_curves_and_obeys() {
    let mut news = vec![began(Method::Pse), phase(Phase::Training)];
    let waiting = page("Training", &news);
    let compiles = "Learning (a GPU compiles its kernels first)";
    assert!(waiting.query_by_label(compiles).is_some());
    news.extend((1..60).map(|at| progress(14 * at)));
    let message = "the disk is full; free some space".to_owned();
    news.push(News::Run(Event::Warning { message }));
    let mut harness = page("Training", &news);
    assert!(harness.query_by_label("Learning").is_some());
    assert!(harness.query_by_label("826 of 840").is_some());
    assert!(harness.query_by_label("1 min 15 s").is_some());
    assert!(
        harness
            .query_by_label_contains("the disk is full")
            .is_some()
    );
    picture(&mut harness, "training");
    harness.get_by_label("Pause").click();
    harness.run_steps(2);
    harness.get_by_label("Stop").click();
    harness.run_steps(2);
    harness.state_mut().panel.on_news(&phase(Phase::Paused));
    harness.run_steps(2);
    harness.get_by_label("Resume").click();
    harness.run_steps(2);
    let told: Vec<&Command> = harness
        .state()
        .wishes
        .iter()
        .filter_map(|wish| match wish {
            Wish::Tell(command) => Some(command),
            _ => None,
        })
        .collect();
    assert_eq!(told, [&Command::Pause, &Command::Stop, &Command::Resume]);
}

#[test]
fn a_run_that_failed_says_why_and_can_go_on() {
    let error = "the loss stopped being a finite number; lower the learning rates".to_owned();
    let ending = Err(error);
    let method = Method::Mfg;
    let news = [
        began(method),
        News::Ended { method, ending },
        News::Over(Ok(())),
    ];
    let mut harness = page("Training", &news);
    assert!(
        harness
            .query_by_label_contains("lower the learning rates")
            .is_some()
    );
    assert!(harness.query_by_label("Stop").is_none());
    harness.get_by_label("Continue").click();
    harness.run_steps(2);
    assert!(matches!(harness.state().wishes[..], [Wish::Continue]));
}

fn click<State>(harness: &mut Harness<'_, State>, at: Pos2) {
    for pressed in [true, false] {
        harness.event(egui::Event::PointerMoved(at));
        harness.event(egui::Event::PointerButton {
            pos: at,
            button: PointerButton::Primary,
            pressed,
            modifiers: egui::Modifiers::NONE,
        });
        harness.run_steps(2);
    }
}

/// Draws a line on the canvas; returns the picture that is asked about.
fn draw(harness: &mut Harness<'_, Page>, from: Vec2, to: Vec2) -> Picture {
    let corner = harness.get_by_label("Canvas").rect().min;
    harness.drag_at(corner + from);
    harness.run_steps(2);
    harness.hover_at(corner + to);
    harness.run_steps(2);
    harness.drop_at(corner + to);
    harness.run_steps(2);
    let asked = harness.state().wishes.iter().rev();
    let asked = asked.clone().find_map(|wish| match wish {
        Wish::Ask(Question::Drawn(picture)) => Some(picture.clone()),
        _ => None,
    });
    asked.unwrap()
}

#[test]
fn an_answer_to_a_drawing_that_is_gone_is_not_shown() {
    let mut harness = page("Predict", &[opened()]);
    let [left, right] = [60.0, 260.0];
    let drawn = draw(&mut harness, Vec2::new(left, 60.0), Vec2::new(left, 260.0));
    let late = answer(Question::Drawn(drawn.clone()), drawn);
    let is_shown = |harness: &mut Harness<'_, Page>| {
        harness.state_mut().panel.on_news(&late);
        harness.run_steps(3);
        harness.query_by_label("3, 64.0 %").is_some()
    };
    harness.get_by_label("Clear").click();
    harness.run_steps(2);
    assert!(!is_shown(&mut harness));
    // Another drawing is none of its business either.
    draw(
        &mut harness,
        Vec2::new(right, 60.0),
        Vec2::new(right, 260.0),
    );
    assert!(!is_shown(&mut harness));
    // Of the same one it is, though it went on since.
    draw(&mut harness, Vec2::new(left, 60.0), Vec2::new(left, 260.0));
    assert!(is_shown(&mut harness));
}

#[test]
fn a_drawn_digit_is_asked_about_and_answered() {
    let mut harness = page("Predict", &[opened()]);
    let (from, to) = (Vec2::new(80.0, 60.0), Vec2::new(230.0, 210.0));
    let drawn = draw(&mut harness, from, to);
    assert!(drawn.pixels.iter().filter(|&&pixel| pixel > 0).count() > 5);
    let answer = answer(Question::Drawn(drawn.clone()), drawn);
    harness.state_mut().panel.on_news(&answer);
    harness.run_steps(3);
    assert!(harness.query_by_label("3, 64.0 %").is_some());
    assert!(
        harness
            .query_by_label_contains("Unlike anything seen in training")
            .is_some()
    );
    picture(&mut harness, "predict");
}
