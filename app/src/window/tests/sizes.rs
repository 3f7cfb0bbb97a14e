//! Every page of a whole window, on small and on large displays.

use super::{compare, *};
use crate::window::{LEAST_WIDTH, platform::Computer, purpose::Purpose, sort::Found, survey};
use bayesadapter::session::{DeviceChoice, RunSettings};
use burn::tensor::read_sync;
use egui_kittest::kittest::NodeT;

/// A run that was set up, has learnt, was judged and is looked at.
fn everything() -> Vec<News> {
    let settings = RunSettings {
        device: DeviceChoice::Cpu,
        ..RunSettings::default()
    };
    let of = settings.clone();
    // On a thread of its own: it gives way to others, and this one draws.
    let estimate = std::thread::spawn(|| read_sync(survey::estimate(of, &Computer::default())));
    let estimated = estimate.join().unwrap();
    let mut news = vec![
        News::Chosen(Purpose::RunsFolder, PathBuf::from("runs")),
        News::Sorted(Found::Settings(Box::new(settings.clone()))),
        News::Surveyed(Box::new(survey::survey(settings))),
        News::Estimated(Box::new(estimated)),
        began(Method::Pse),
        phase(Phase::Training),
    ];
    news.extend((1..60).map(|at| progress(14 * at)));
    news.extend(judged());
    news.extend([opened(), compare::compared()]);
    let drawn = Picture::new(1, 8, 8, (0..64).map(|at| 4 * at).collect()).unwrap();
    news.push(answer(Question::Pasted(drawn.clone()), drawn));
    news
}

#[test]
fn every_page_fits_on_small_and_large_displays() {
    let news = everything();
    let mut cut = Vec::new();
    for (size, scale, ending) in [
        (Vec2::new(1000.0, 640.0), 1.0, "smallest"),
        (Vec2::new(1280.0, 800.0), 1.0, "usual"),
        (Vec2::new(1920.0, 1080.0), 2.0, "4k"),
        (Vec2::new(3840.0, 2160.0), 1.0, "4k-unscaled"),
    ] {
        // A narrower window scrolls.
        let width = size.x.max(LEAST_WIDTH + 24.0);
        let mut harness = told(size, scale, &news);
        for panel in panels::all() {
            let name = panel.name();
            show(&mut harness, name);
            let bottom = match name {
                "Ensemble" | "Uncertainty" | "Calibration" | "Compare" => size.y,
                // The others are scrolled where they are higher.
                _ => f32::INFINITY,
            };
            let area = Vec2::new(width, bottom);
            cut.extend(beyond(&harness, area, &format!("{name}, {ending}")));
            let name = name.to_lowercase().replace(' ', "-");
            picture(&mut harness, &format!("{name}-{ending}"));
        }
    }
    assert!(cut.is_empty(), "{}", cut.join("\n"));
}

/// Digits are drawn with a finger too: neither that page nor the bar over it is wider than a telephone.
#[test]
fn drawing_fits_on_a_telephone() {
    let size = Vec2::new(390.0, 844.0);
    let mut harness = told(size, 2.0, &everything());
    show(&mut harness, "Predict");
    let area = Vec2::new(size.x, f32::INFINITY);
    let cut = beyond(&harness, area, "telephone");
    assert!(cut.is_empty(), "{}", cut.join("\n"));
    let place = |label: &str| harness.get_by_label(label).rect();
    assert!(place("Canvas").width() > 300.0);
    assert!(place("Mutual information").top() > place("Canvas").bottom());
    picture(&mut harness, "predict-telephone");
}

/// A window that knows all of this.
fn told(size: Vec2, scale: f32, news: &[News]) -> Harness<'static, Window> {
    let mut harness = Harness::builder()
        .with_size(size)
        .with_pixels_per_point(scale)
        .build_eframe(|creation| {
            look::apply(&creation.egui_ctx);
            Window::new()
        });
    for one in news {
        harness.state_mut().tell(one);
    }
    harness
}

fn show(harness: &mut Harness<'_, Window>, page: &str) {
    harness.state_mut().show_panel(page);
    harness.run_steps(4);
    // The worker knows nothing of what the pages were told.
    while harness.state().worker.is_busy() {
        harness.run_steps(1);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    harness.state_mut().notices.clear();
}

/// What has a name and ends to the right of an area, or below it.
fn beyond(harness: &Harness<'_, Window>, area: Vec2, place: &str) -> Vec<String> {
    let named = harness.query_all_by(|node| node.label().is_some());
    let cut = named.filter(|node| {
        let end = node.rect().max;
        end.x > area.x + 1.0 || end.y > area.y + 1.0
    });
    cut.map(|node| {
        let label = node.accesskit_node().label();
        format!("{place}: {label:?} at {:?}", node.rect())
    })
    .collect()
}
