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
    let estimated = read_sync(survey::estimate(settings.clone(), &Computer::default()));
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
    news.push(answer(Question::Drawn(drawn.clone()), drawn));
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
        let mut harness = Harness::builder()
            .with_size(size)
            .with_pixels_per_point(scale)
            .build_eframe(|creation| {
                look::apply(&creation.egui_ctx);
                Window::new()
            });
        for one in &news {
            harness.state_mut().tell(one);
        }
        for panel in panels::all() {
            let name = panel.name();
            harness.state_mut().show_panel(name);
            harness.run_steps(4);
            // The worker knows nothing of what the pages were told.
            while harness.state().worker.is_busy() {
                harness.run_steps(1);
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            harness.state_mut().notice = None;
            let named = harness.query_all_by(|node| node.label().is_some());
            for node in named.filter(|node| node.rect().right() > width + 1.0) {
                let label = node.accesskit_node().label();
                cut.push(format!("{name}, {ending}: {label:?} at {:?}", node.rect()));
            }
            let name = name.to_lowercase().replace(' ', "-");
            picture(&mut harness, &format!("{name}-{ending}"));
        }
    }
    assert!(cut.is_empty(), "{}", cut.join("\n"));
}
