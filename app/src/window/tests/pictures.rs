//! Pictures of one run of the tests, compared with each other: what changed on them, and where.

use super::*;
use crate::window::album::Album;
use egui::Rect;
use image::{RgbaImage, imageops};

/// The smallest area that holds every pixel in which two pictures differ; nothing if they are the same.
fn changed(before: &RgbaImage, after: &RgbaImage) -> Option<Rect> {
    assert_eq!(before.dimensions(), after.dimensions());
    let pixels = before.enumerate_pixels().zip(after.pixels());
    let differ = pixels.filter(|((_, _, one), other)| one != other);
    differ
        .map(|((x, y, _), _)| Rect::from_min_size(Pos2::new(x as f32, y as f32), Vec2::splat(1.0)))
        .reduce(Rect::union)
}

/// The same for a part of both.
fn changed_within(before: &RgbaImage, after: &RgbaImage, part: Rect) -> Option<Rect> {
    let [before, after] = [before, after].map(|picture| {
        let (from, size) = (part.min, part.size());
        let [x, y, width, height] = [from.x, from.y, size.x, size.y].map(|value| value as u32);
        imageops::crop_imm(picture, x, y, width, height).to_image()
    });
    changed(&before, &after)
}

/// So much of what lies below a heading.
fn below(heading: Rect, width: f32, height: f32) -> Rect {
    Rect::from_min_size(heading.left_bottom(), Vec2::new(width, height))
}

fn render<State>(harness: &mut Harness<'_, State>) -> RgbaImage {
    // No widget is under the pointer.
    harness.event(egui::Event::PointerGone);
    harness.run_steps(4);
    harness.render().unwrap()
}

#[test]
fn an_answer_is_drawn_beside_the_canvas_and_nowhere_else() {
    let mut harness = page("Predict", &[opened()]);
    let before = render(&mut harness);
    assert_eq!(changed(&before, &render(&mut harness)), None);
    let one = Picture::new(1, 8, 8, (0..64).map(|at| 4 * at).collect()).unwrap();
    let told = answer(Question::Pasted(one.clone()), one);
    harness.state_mut().panel.on_news(&told);
    let area = changed(&before, &render(&mut harness)).unwrap();
    let canvas = harness.get_by_label("Canvas").rect();
    assert!(area.left() > canvas.right(), "{area:?} and {canvas:?}");
    assert!(area.width() > 400.0 && area.height() > 300.0, "{area:?}");
}

#[test]
fn a_curve_that_grows_changes_the_curves_and_not_the_log() {
    let mut news = vec![began(Method::Pse), phase(Phase::Training)];
    news.extend((1..30).map(|at| progress(14 * at)));
    let mut harness = page("Training", &news);
    let before = render(&mut harness);
    harness.state_mut().panel.on_news(&progress(14 * 45));
    let area = changed(&before, &render(&mut harness)).unwrap();
    let below = harness.get_by_label("What the run says").rect();
    let controls = harness.get_by_label("Pause").rect();
    assert!(area.bottom() <= below.top(), "{area:?} and {below:?}");
    assert!(
        area.top() >= controls.top() - 4.0,
        "{area:?} and {controls:?}"
    );
    for plot in ["Likelihood loss", "Throughput", "Learning rates"] {
        let over = harness.query_all_by_label(plot).last().unwrap().rect();
        assert!(
            area.contains(over.left_bottom() + Vec2::new(60.0, 60.0)),
            "{plot}"
        );
    }
}

#[test]
fn a_digit_is_drawn_where_the_pen_was() {
    let mut harness = page("Predict", &[opened()]);
    let before = render(&mut harness);
    let canvas = harness.get_by_label("Canvas").rect();
    click(&mut harness, canvas.center());
    let after = render(&mut harness);
    let area = changed(&before, &after).unwrap();
    // A dot of 3.4 of 32 cells, rounded to whole cells.
    let cell = canvas.width() / 32.0;
    let room = Rect::from_center_size(canvas.center(), Vec2::splat(5.0 * cell));
    assert!(room.contains_rect(area), "{area:?} and {room:?}");
    let at = canvas.center();
    assert_eq!(after.get_pixel(at.x as u32, at.y as u32).0, [255; 4]);
    assert_eq!(before.get_pixel(at.x as u32, at.y as u32).0[..3], [0; 3]);
}

#[test]
fn a_tick_changes_its_layer_and_nothing_of_the_files() {
    let mut harness = setup::set_up(&setup::settings());
    let before = render(&mut harness);
    let layer = harness.get_by_label("fc2").rect();
    click(&mut harness, layer.center());
    let after = render(&mut harness);
    assert!(changed_within(&before, &after, layer).is_some());
    let untouched = harness.get_by_label("conv1").rect();
    assert_eq!(changed_within(&before, &after, untouched), None);
    let area = changed(&before, &after).unwrap();
    let heading = harness.get_by_label("Bayesian layers").rect();
    assert!(
        area.left() >= heading.left() - 2.0,
        "{area:?} and {heading:?}"
    );
}

#[test]
fn another_draw_is_drawn_in_the_place_of_the_mean_and_beside_its_deviation() {
    let mut harness = page("Posterior", &[opened()]);
    let mean = harness.get_by_label_contains("Mean:").rect();
    let deviation = harness.get_by_label_contains("Standard deviation:").rect();
    let before = render(&mut harness);
    let slider = harness.get_by_role(Role::Slider).rect();
    click(&mut harness, slider.center());
    let asked = harness.state().wishes.iter().rev();
    let asked = asked.clone().find_map(|wish| match wish {
        Wish::Scrub(scrub) => Some(scrub.clone()),
        _ => None,
    });
    let scrub = asked.unwrap();
    assert!(scrub.draw.is_some());
    let mut kernels = layer(&scrub.layer).kernels.unwrap();
    kernels.mean.iter_mut().for_each(|weight| *weight *= -1.0);
    let scrubbed = News::Scrubbed(Arc::new(Scrubbed {
        scrub,
        kernels: Some(kernels),
        answers: Vec::new(),
    }));
    harness.state_mut().panel.on_news(&scrubbed);
    let after = render(&mut harness);
    let drawn = changed_within(&before, &after, below(mean, 180.0, 60.0));
    assert!(drawn.is_some_and(|area| area.width() > 100.0), "{drawn:?}");
    assert!(changed_within(&before, &after, slider).is_some());
    let other = below(deviation, 180.0, 60.0);
    assert_eq!(changed_within(&before, &after, other), None);
    // The table of layers stays.
    let area = changed(&before, &after).unwrap();
    let table = harness.get_by_label("norm1.gamma").rect();
    assert!(area.left() > table.right(), "{area:?} and {table:?}");
}

#[test]
fn a_curve_that_arrives_changes_both_plots_and_not_the_table() {
    let all = synthetic::report().evaluations;
    let arrives = |at: usize| {
        News::Run(Event::Evaluating {
            method: "PSE".to_owned(),
            done: 100,
            of: 1000,
            curve: all[at].curve.clone().map(Box::new),
        })
    };
    let start = News::Run(Event::Evaluated(Box::new(all[0].clone())));
    let mut harness = page("Ensemble", &[began(Method::Pse), start, arrives(1)]);
    let before = render(&mut harness);
    harness.state_mut().panel.on_news(&arrives(2));
    let after = render(&mut harness);
    for title in ["Test accuracy, %", "Negative log-likelihood, nats"] {
        let heading = harness.query_all_by_label(title).next().unwrap();
        let plot = below(heading.rect(), 400.0, 300.0);
        assert!(changed_within(&before, &after, plot).is_some(), "{title}");
    }
    let area = changed(&before, &after).unwrap();
    let row = harness.get_by_label("MAP").rect();
    assert!(area.top() > row.bottom(), "{area:?} and {row:?}");
}

#[test]
fn a_bucket_that_is_clicked_is_marked_and_its_pictures_are_below() {
    let mut harness = page("Uncertainty", &judged());
    let before = render(&mut harness);
    let over = harness.get_by_label_contains("click a bar").rect();
    let at = over.left_bottom() + Vec2::new(380.0, 180.0);
    click(&mut harness, at);
    let after = render(&mut harness);
    // The whole bar is marked, whose top may lie below the click.
    let bar = Rect::from_x_y_ranges(at.x - 20.0..=at.x + 20.0, at.y..=at.y + 120.0);
    assert!(changed_within(&before, &after, bar).is_some());
    let area = changed(&before, &after).unwrap();
    assert!(area.top() >= over.bottom(), "{area:?} and {over:?}");
    let beside = harness.get_by_label("Error among what is kept").rect();
    assert!(area.right() < beside.left(), "{area:?} and {beside:?}");
    // The pictures themselves are in the lower half, and change nothing above it.
    let wanted = harness.state().wishes.iter().rev();
    let wanted = wanted.clone().find_map(|wish| match wish {
        Wish::Pictures(wanted) => Some(wanted.clone()),
        _ => None,
    });
    let wanted = wanted.unwrap();
    let one = Picture::new(1, 8, 8, (0..64).map(|at| 4 * at).collect()).unwrap();
    let pictures = Ok(vec![Ok(one); wanted.positions.len()]);
    let album = News::Pictures(Arc::new(Album { wanted, pictures }));
    harness.state_mut().panel.on_news(&album);
    let area = changed(&after, &render(&mut harness)).unwrap();
    let title = harness.get_by_label_contains("Pictures of bucket").rect();
    assert!(area.top() > title.bottom(), "{area:?} and {title:?}");
    assert!(area.width() > 300.0 && area.height() > 100.0, "{area:?}");
}

#[test]
fn a_bin_that_is_clicked_is_marked_in_its_own_diagram() {
    let mut harness = page("Calibration", &judged());
    let before = render(&mut harness);
    let heads: Vec<Rect> = harness
        .query_all_by_label("ECE")
        .map(|node| node.rect())
        .collect();
    click(
        &mut harness,
        heads[0].left_bottom() + Vec2::new(290.0, 250.0),
    );
    let after = render(&mut harness);
    let own = below(heads[0], 300.0, 300.0);
    assert!(changed_within(&before, &after, own).is_some());
    for other in &heads[1..] {
        let other = below(*other, 300.0, 250.0);
        assert_eq!(changed_within(&before, &after, other), None);
    }
    assert!(harness.query_by_label("by rising confidence").is_some());
}

#[test]
fn a_network_that_is_removed_is_gone_and_added_again_is_as_before() {
    let mut harness = page("Compare", &[compare::compared()]);
    let before = render(&mut harness);
    let row = harness.get_by_label("Remove resnet20-pse PSE").rect();
    click(&mut harness, row.center());
    let after = render(&mut harness);
    let area = changed(&before, &after).unwrap();
    let controls = harness.get_by_label("Save table…").rect();
    assert!(area.top() > controls.bottom(), "{area:?} and {controls:?}");
    assert!(changed_within(&before, &after, row).is_some());
    for plot in ["Reliability", "Accuracy against draws"] {
        let plot = below(harness.get_by_label(plot).rect(), 300.0, 200.0);
        assert!(changed_within(&before, &after, plot).is_some());
    }
    harness.state_mut().panel.on_news(&compare::compared());
    assert_eq!(changed(&before, &render(&mut harness)), None);
}
