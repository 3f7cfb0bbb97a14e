//! Every page as a user sees it. The pictures are left in `target/window`.

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../tests/report/synthetic.rs"]
mod synthetic;

mod compare;
mod files;
mod setup;

use super::{
    Window, look,
    news::{News, Wish},
    panels::{self, Panel},
    welcome::Welcome,
    worker::{Answer, Glimpse, Question, Scrubbed, View},
};
use bayesadapter::{
    data::Picture,
    evaluate::{KernelPosterior, LayerFactors, LayerPosterior, LayerSpread, Movement},
    metrics::Histogram,
    posterior::{Conversion, ConversionAccount, Summary},
    session::{Command, Event, Method, Phase, Prepared, Progress},
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
            mean: 5e-3,
            spread: 0.1 * 0.2f64.powi((step / 210) as i32),
        },
        examples_per_second: 2_345.0,
        seconds_left: 75.0,
    }))
}

fn phase(phase: Phase) -> News {
    News::Run(Event::Phase { phase })
}

fn began(method: Method) -> News {
    let folder = PathBuf::from("runs/demo");
    News::Began { method, folder }
}

fn judged() -> Vec<News> {
    let evaluations = synthetic::report().evaluations;
    let events = evaluations.into_iter().map(Box::new);
    events.map(|one| News::Run(Event::Evaluated(one))).collect()
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
        about: "PSE posterior of digits-cnn".to_owned(),
        input_shape: Some([1, 8, 8]),
        summaries: vec![
            summary("conv1.weight", Some(0.07)),
            summary("conv2.weight", Some(0.05)),
            summary("norm1.gamma", None),
        ],
        movements: [("conv1.weight".to_owned(), 0.123)].into(),
        layer: Some(layer("conv1.weight")),
        evaluations: synthetic::report().evaluations,
        history: Vec::new(),
    }))
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
fn a_run_that_failed_says_why() {
    let error = "the loss stopped being a finite number; lower the learning rates".to_owned();
    let ending = Err(error);
    let method = Method::Mfg;
    let news = [
        began(method),
        News::Ended { method, ending },
        News::Over(Ok(())),
    ];
    let harness = page("Training", &news);
    assert!(
        harness
            .query_by_label_contains("lower the learning rates")
            .is_some()
    );
    assert!(harness.query_by_label("Stop").is_none());
}

#[test]
fn posterior_shows_any_layer_and_any_draw() {
    let mut harness = page("Posterior", &[opened()]);
    assert!(harness.query_by_label("norm1.gamma").is_some());
    assert!(harness.query_by_label("point").is_some());
    assert!(harness.query_by_label("12.3 %").is_some());
    let picture_of = |class: u32| Glimpse {
        picture: Picture::new(1, 8, 8, (0..64).map(|at| 4 * at).collect()).unwrap(),
        truth: class.to_string(),
        said: "3".to_owned(),
        probability: 0.42,
    };
    harness.get_by_role(Role::Slider).focus();
    harness.run_steps(2);
    for _ in 0..3 {
        harness.key_press(egui::Key::ArrowRight);
        harness.run_steps(2);
    }
    let asked = harness
        .state()
        .wishes
        .iter()
        .rev()
        .find_map(|wish| match wish {
            Wish::Scrub(scrub) => Some(scrub.clone()),
            _ => None,
        });
    let scrub = asked.unwrap();
    assert_eq!(scrub.draw, Some(2));
    harness.state_mut().panel.on_news(&News::Scrubbed(Scrubbed {
        kernels: layer(&scrub.layer).kernels,
        answers: (0..8).map(picture_of).collect(),
        scrub,
    }));
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("Draw 2:").is_some());
    assert!(
        harness
            .query_by_label_contains("What draw 2 says")
            .is_some()
    );
    picture(&mut harness, "posterior");
    harness.get_by_label("conv2.weight").click();
    harness.run_steps(3);
    let asked = |wish: &Wish| matches!(wish, Wish::Layer(path) if path == "conv2.weight");
    assert!(harness.state().wishes.iter().any(asked));
}

#[test]
fn posterior_follows_a_run() {
    let prepared = Prepared {
        load: None,
        conversion: ConversionAccount {
            converted: ["conv1.weight", "conv2.weight"]
                .map(|path| Conversion {
                    path: path.to_owned(),
                    shape: vec![16, 3, 3, 3],
                    added: 432,
                })
                .to_vec(),
            ..Default::default()
        },
        examples: 445,
        test_examples: 1352,
        class_names: Vec::new(),
        steps: 840,
        position: Position::default(),
    };
    let prepared = News::Run(Event::Prepared(Box::new(prepared)));
    let mut harness = page(
        "Posterior",
        &[prepared, phase(Phase::Training), progress(140)],
    );
    let asked = |wish: &Wish| {
        let path = "conv1.weight";
        matches!(wish, Wish::Tell(Command::ShowLayer(asked)) if asked == path)
    };
    assert!(harness.state().wishes.iter().any(asked));
    let told = News::Run(Event::Layer(Box::new(layer("conv1.weight"))));
    harness.state_mut().panel.on_news(&told);
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("after step 140").is_some());
    assert!(harness.query_by_label_contains("Moved by,").is_some());
    picture(&mut harness, "posterior-live");
}

#[test]
fn the_ensemble_is_told_while_it_is_judged() {
    let mut evaluations = synthetic::report().evaluations;
    let curve = evaluations.remove(2).curve.map(Box::new);
    let told = News::Run(Event::Evaluating {
        method: "PSE".to_owned(),
        done: 100,
        of: 1000,
        curve,
    });
    let harness = page("Ensemble", &[told]);
    assert!(
        harness
            .query_by_label_contains("of the test pictures so far")
            .is_some()
    );
}

#[test]
fn a_click_on_a_confidence_asks_for_its_pictures() {
    let mut harness = page("Calibration", &judged());
    let over = harness.query_all_by_label("ECE").next().unwrap().rect();
    click(&mut harness, over.left_bottom() + Vec2::new(290.0, 250.0));
    let asked = harness.state().wishes.iter().find_map(|wish| match wish {
        Wish::Pictures(positions) => Some(positions.clone()),
        _ => None,
    });
    assert!(!asked.unwrap().is_empty());
    assert!(
        harness
            .query_by_label_contains("by rising confidence")
            .is_some()
    );
}

#[test]
fn evaluations_fill_three_pages() {
    let news = judged();
    for (name, label) in [
        ("Ensemble", "Test accuracy, %"),
        ("Uncertainty", "Reject the least sure"),
        ("Calibration", "classwise"),
    ] {
        let mut harness = page(name, &news);
        assert!(harness.query_all_by_label(label).next().is_some(), "{name}");
        picture(&mut harness, &name.to_lowercase());
    }
}

#[test]
fn a_click_on_a_bucket_asks_for_its_pictures() {
    let mut harness = page("Uncertainty", &judged());
    let over = harness.get_by_label_contains("click a bar").rect();
    click(&mut harness, over.left_bottom() + Vec2::new(380.0, 180.0));
    let asked = harness.state().wishes.iter().find_map(|wish| match wish {
        Wish::Pictures(positions) => Some(positions.clone()),
        _ => None,
    });
    let asked = asked.unwrap();
    assert_eq!(asked.len(), 200);
    let one = Picture::new(1, 8, 8, (0..64).map(|at| 4 * at).collect()).unwrap();
    let found = asked.into_iter().map(|at| (at, one.clone())).collect();
    harness.state_mut().panel.on_news(&News::Pictures(found));
    harness.run_steps(3);
    assert!(
        harness
            .query_by_label_contains("Pictures of bucket")
            .is_some()
    );
    picture(&mut harness, "bucket");
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

#[test]
fn a_drawn_digit_is_asked_about_and_answered() {
    let mut harness = page("Predict", &[opened()]);
    let over = harness.get_by_label("Draw a digit, or a scribble").rect();
    let from = over.left_bottom() + Vec2::new(80.0, 60.0);
    harness.drag_at(from);
    harness.run_steps(2);
    harness.hover_at(from + Vec2::new(150.0, 150.0));
    harness.run_steps(2);
    let asked = harness
        .state()
        .wishes
        .iter()
        .rev()
        .find_map(|wish| match wish {
            Wish::Ask(Question::Drawn(picture)) => Some(picture.clone()),
            _ => None,
        });
    let drawn = asked.unwrap();
    assert!(drawn.pixels.iter().filter(|&&pixel| pixel > 0).count() > 5);
    let probability = |class| if class == 3 { 0.64 } else { 0.04 };
    let classes = (0..10).map(|class| (class.to_string(), probability(class), 0.05));
    let answer = News::Answered(Answer {
        question: Question::Drawn(drawn.clone()),
        picture: drawn,
        classes: classes.collect(),
        draw_probabilities: (0..300).map(|at| (at % 17) as f32 / 60.0).collect(),
        draws: 30,
        mutual_information: 1.7,
        entropy: 2.0,
        aleatoric_entropy: 0.3,
    });
    harness.state_mut().panel.on_news(&answer);
    harness.run_steps(3);
    assert!(harness.query_by_label("3, 64.0 %").is_some());
    assert!(
        harness
            .query_by_label_contains("hardly seen the like")
            .is_some()
    );
    picture(&mut harness, "predict");
}

#[test]
fn the_demo_is_one_click_away() {
    let draw = |ui: &mut egui::Ui, (welcome, wishes): &mut (Welcome, Vec<Wish>)| {
        egui::CentralPanel::default().show(ui, |ui| welcome.ui(ui, "/tmp".as_ref(), false, wishes));
    };
    let mut harness = Harness::builder()
        .with_size(Vec2::new(1280.0, 760.0))
        .build_ui_state(draw, (Welcome::default(), Vec::new()));
    look::apply(&harness.ctx);
    picture(&mut harness, "welcome");
    harness.get_by_label("Digits demo").click();
    harness.run_steps(2);
    let wishes = &harness.state().1;
    assert!(matches!(wishes[..], [Wish::Demo(Method::Pse)]));
}

#[test]
fn keys_turn_pages_and_a_missing_file_is_told() {
    let mut harness = Harness::builder()
        .with_size(Vec2::new(1280.0, 800.0))
        .build_eframe(|creation| {
            look::apply(&creation.egui_ctx);
            Window::new()
        });
    harness.key_press(egui::Key::Num7);
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("No network yet").is_some());
    let missing = PathBuf::from("no-such-posterior.safetensors");
    harness.state_mut().fulfil(Wish::Open(missing));
    let told = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        harness.run_steps(1);
        harness
            .query_by_label_contains("no-such-posterior")
            .is_some()
    });
    assert!(told);
    harness.run_steps(3);
    picture(&mut harness, "notice");
    harness.get_by_label("Dismiss").click();
    harness.run_steps(3);
    assert!(
        harness
            .query_by_label_contains("no-such-posterior")
            .is_none()
    );
}

#[test]
fn closing_asks_while_a_run_goes_on_and_saves_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = Harness::builder()
        .with_size(Vec2::new(1280.0, 800.0))
        .build_eframe(|creation| {
            look::apply(&creation.egui_ctx);
            Window::new()
        });
    harness.state_mut().out = folder.path().to_owned();
    harness.state_mut().fulfil(Wish::Demo(Method::Pse));
    let asks = |harness: &mut Harness<'_, Window>, command: ViewportCommand| {
        (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            harness.run_steps(1);
            let root = &harness.output().viewport_output[&ViewportId::ROOT];
            root.commands.contains(&command)
        })
    };
    assert!((0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        harness.run_steps(1);
        harness.state().phase == Phase::Training
    }));
    let root = harness.input_mut().viewports.entry(ViewportId::ROOT);
    root.or_default().events.push(ViewportEvent::Close);
    harness.run_steps(1);
    let root = &harness.output().viewport_output[&ViewportId::ROOT];
    assert!(root.commands.contains(&ViewportCommand::CancelClose));
    if let Some(root) = harness.input_mut().viewports.get_mut(&ViewportId::ROOT) {
        root.events.clear();
    }
    harness.run_steps(3);
    picture(&mut harness, "closing");
    harness.get_by_label("Save it and close").click();
    assert!(asks(&mut harness, ViewportCommand::Close));
    let states = folder.path().join("demo-1/map/checkpoints");
    assert!(std::fs::read_dir(states).unwrap().next().is_some());
}
