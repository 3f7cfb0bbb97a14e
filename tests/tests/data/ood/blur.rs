//! Blur and JPEG.

use super::{generated, image, set, train};
use bayesadapter::data::{OodKind, Picture};

/// The mean difference between neighbours in a row.
fn roughness(image: &Picture) -> f64 {
    let row = image.width * image.channels;
    let steps = image.pixels.chunks_exact(row).flat_map(|row| {
        let neighbours = row.iter().zip(&row[image.channels..]);
        neighbours.map(|(a, b)| f64::from(a.abs_diff(*b)))
    });
    steps.sum::<f64>() / image.pixels.len() as f64
}

#[test]
fn blur_is_as_strong_on_large_images() {
    // Stripes of an eighth of the width, 32 and 128 pixels wide: what is left of them depends on the width of the blur
    // in parts of the image.
    let stripes = |side: usize| {
        let value = |at: usize| [0u8, 255][at % side * 8 / side % 2];
        let pixels = (0..side * side).flat_map(|at| [value(at); 3]).collect();
        set(vec![
            Picture::new(3, side, side, pixels).expect("an image");
            2
        ])
    };
    let contrast = |side: usize| {
        let ood = generated(stripes(side), &[OodKind::BlurJpeg], 3);
        let of = |index: usize| {
            let blurred = image(&ood, index);
            assert_eq!(
                (blurred.channels, blurred.height, blurred.width),
                (3, side, side)
            );
            let row = side / 2;
            let middles =
                (2..6).map(|stripe| f64::from(blurred.pixel(row, (2 * stripe + 1) * side / 16)[0]));
            let (dark, bright): (Vec<_>, Vec<_>) =
                middles.enumerate().partition(|(at, _)| at % 2 == 0);
            let mean = |of: Vec<(usize, f64)>| {
                of.iter().map(|(_, value)| value).sum::<f64>() / of.len() as f64
            };
            (mean(bright) - mean(dark)) / 255.0
        };
        (0..40).map(of).collect::<Vec<f64>>()
    };
    let (small, large) = (contrast(32), contrast(128));
    for (index, (small, large)) in small.iter().zip(&large).enumerate() {
        assert!(
            (small - large).abs() < 0.2,
            "image {index}: {small} and {large}"
        );
    }
    // With a period of 8 pixels on 32, a blur of standard deviation s leaves 4 / pi exp(-(pi s / 4)^2 / 2): 0.9 to 0.08.
    let spread = |of: &[f64]| of.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!(
        spread(&small) > 0.6 && small.iter().any(|&contrast| contrast < 0.2),
        "{small:?}"
    );
}

#[test]
fn blurred_digits_are_smoother_and_as_bright() {
    let source = train();
    let ood = generated(source.clone(), &[OodKind::BlurJpeg], 0);
    let (mut smoother, mut changed) = (0, 0.0);
    for index in 0..200 {
        let (blurred, clean) = (image(&ood, index), image(&*source, index));
        smoother += usize::from(roughness(&blurred) < roughness(&clean));
        let sum =
            |of: &Picture| of.pixels.iter().map(|&value| f64::from(value)).sum::<f64>() / 64.0;
        changed += (sum(&blurred) - sum(&clean)) / 200.0;
    }
    // Not all: on 8 pixels the weakest blur is a quarter of one, and JPEG adds edges of its own.
    assert!(smoother > 160, "{smoother} of 200");
    assert!(changed.abs() < 8.0, "brightness changes by {changed}");
}
