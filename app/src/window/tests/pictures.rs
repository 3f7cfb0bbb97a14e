//! Pictures of one run of the tests, compared with each other: what changed on them, and where.

use super::*;
use egui::Rect;
use image::RgbaImage;

/// The smallest area that holds every pixel in which two pictures differ; nothing if they are the same.
fn changed(before: &RgbaImage, after: &RgbaImage) -> Option<Rect> {
    assert_eq!(before.dimensions(), after.dimensions());
    let pixels = before.enumerate_pixels().zip(after.pixels());
    let differ = pixels.filter(|((_, _, one), other)| one != other);
    differ
        .map(|((x, y, _), _)| Rect::from_min_size(Pos2::new(x as f32, y as f32), Vec2::splat(1.0)))
        .reduce(Rect::union)
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
    let told = answer(Question::Drawn(one.clone()), one);
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
