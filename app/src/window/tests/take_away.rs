//! Plots as files.

use super::*;
use crate::{
    report::Format,
    window::{errand::Errand, platform::Computer, purpose::Purpose},
};
use burn::tensor::read_sync;

/// Saves by a menu, and returns the content of the file; a picture is also left with the others.
pub fn saved(harness: &mut Harness<'_, Page>, menu: &str, format: Format, name: &str) -> Vec<u8> {
    harness.get_by_label(menu).click();
    harness.run_steps(3);
    let item = match format {
        Format::Png => "as a PNG picture…",
        Format::Svg => "as an SVG picture…",
        Format::Csv => "its numbers as CSV…",
    };
    harness.get_by_label(item).click();
    harness.run_steps(3);
    let Some(Wish::Choose(Purpose::Save(parcel))) = harness.state_mut().wishes.pop() else {
        panic!("{menu}: nothing was asked for");
    };
    assert_eq!(parcel.name, format!("{name}.{}", format.ending()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(&parcel.name);
    let errand = Errand::Save(parcel, path.clone());
    let done = read_sync(errand.run(&Computer::default())).unwrap();
    assert!(matches!(done, News::Saved { path: saved, .. } if saved == path));
    let bytes = std::fs::read(path).unwrap();
    if format == Format::Png {
        let pictures = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/window");
        std::fs::create_dir_all(pictures).unwrap();
        std::fs::write(format!("{pictures}/saved-{name}.png"), &bytes).unwrap();
    }
    bytes
}

/// Every format of one plot; returns its numbers.
fn all_formats(harness: &mut Harness<'_, Page>, menu: &str, name: &str) -> String {
    let png = saved(harness, menu, Format::Png, name);
    let picture = image::load_from_memory(&png).unwrap().into_rgb8();
    let inked = picture.pixels().filter(|pixel| pixel.0 != [255; 3]).count();
    assert!(inked > 1_000, "{menu}: {inked} pixels");
    let svg = String::from_utf8(saved(harness, menu, Format::Svg, name)).unwrap();
    assert!(svg.starts_with("<svg "), "{menu}");
    String::from_utf8(saved(harness, menu, Format::Csv, name)).unwrap()
}

#[test]
fn a_plot_is_saved_as_a_picture_and_as_numbers() {
    let mut harness = page("Compare", &[compare::compared()]);
    harness.get_by_label("Save Reliability").click();
    harness.run_steps(3);
    picture(&mut harness, "save-menu");
    harness.key_press(egui::Key::Escape);
    harness.run_steps(3);
    let csv = all_formats(&mut harness, "Save Reliability", "reliability");
    assert!(csv.starts_with("series,confidence,share of right answers\n"));
    assert!(csv.contains("\nresnet20-pse PSE,"));
}

#[test]
fn kernels_and_factors_are_saved() {
    let mut harness = page("Posterior", &[opened()]);
    let csv = all_formats(
        &mut harness,
        "Save Mean",
        "mean-of-the-kernels-of-conv1-weight",
    );
    let layer = layer("conv1.weight");
    let kernels = layer.kernels.unwrap();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows[0], "output,input,row,column,weight");
    assert_eq!(rows.len(), 1 + kernels.mean.len());
    // The second output of 3 x 3 x 3.
    assert_eq!(rows[1 + 27], format!("1,0,0,0,{}", kernels.mean[27]));
    let csv = all_formats(
        &mut harness,
        "Save Standard deviation",
        "standard-deviation-of-the-kernels-of-conv1-weight",
    );
    assert!(csv.ends_with(&format!("15,2,2,2,{}\n", kernels.std.last().unwrap())));
    let factors = layer.factors.unwrap();
    let csv = all_formats(
        &mut harness,
        "Save By input",
        "factors-of-conv1-weight-by-input",
    );
    assert_eq!(csv.lines().count(), 1 + factors.left.len());
    let csv = all_formats(
        &mut harness,
        "Save By output",
        "factors-of-conv1-weight-by-output",
    );
    assert!(csv.ends_with(&format!("7,0,15,{}\n", factors.right.last().unwrap())));
}

#[test]
fn the_classes_of_a_picture_are_saved() {
    let one = Picture::new(1, 8, 8, vec![0; 64]).unwrap();
    let mut harness = page(
        "Predict",
        &[opened(), answer(Question::Pasted(one.clone()), one)],
    );
    let name = "probabilities-of-a-picture-most-likely-3";
    let csv = all_formats(&mut harness, "Save Probabilities", name);
    let rows: Vec<&str> = csv.lines().collect();
    assert!(rows[0].starts_with("class,probability,standard deviation,draw 0,"));
    assert!(rows[4].starts_with("3,0.64,0.05,"));
    assert!(rows.iter().all(|row| row.split(',').count() == 33) && rows.len() == 11);
}

#[test]
fn reliability_is_saved_with_its_counts() {
    let mut news = judged();
    news.truncate(2);
    let mut harness = page("Calibration", &news);
    let name = "reliability-of-map";
    let csv = all_formats(&mut harness, "Save Reliability", name);
    let bins = synthetic::report().evaluations.remove(0).reliability;
    let rows: Vec<Vec<&str>> = csv.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(rows[0][2], "pictures");
    assert_eq!(rows.len(), 1 + bins.len());
    let svg = saved(&mut harness, "Save Reliability", Format::Svg, name);
    let svg = String::from_utf8(svg).unwrap();
    for (row, bin) in rows[1..].iter().zip(&bins) {
        assert_eq!(row[2], bin.count.to_string());
        // A word of its own in the picture.
        let shown = svg.lines().any(|line| line.trim() == row[2]);
        assert!(bin.count == 0 || shown, "{} is not shown", bin.count);
    }
}
