//! Doodles.

use super::{generated, image, set, train};
use bayesadapter::data::{OodKind, Picture, scribbles};
use std::collections::BTreeSet;

#[test]
fn doodles_vary_and_are_no_scribbles_of_the_test() {
    let ood = generated(train(), &[OodKind::Doodles], 0);
    let drawn: Vec<Vec<u8>> = (0..1000).map(|index| image(&ood, index).pixels).collect();
    let different: BTreeSet<&Vec<u8>> = drawn.iter().collect();
    assert!(different.len() > 940, "{} of 1000", different.len());
    let scribbles = scribbles(1000, 0);
    let of_test: BTreeSet<Vec<u8>> = (0..1000)
        .map(|index| image(&scribbles, index).pixels)
        .collect();
    assert!(drawn.iter().all(|image| !of_test.contains(image)));
    // From hardly any ink to a canvas that is full of it; scribbles of the test all have some.
    let ink = |pixels: &Vec<u8>| {
        pixels.iter().map(|&value| f64::from(value)).sum::<f64>() / (64.0 * 255.0)
    };
    let mut shares: Vec<f64> = drawn.iter().map(ink).collect();
    shares.sort_by(f64::total_cmp);
    let quantile = |share: f64| shares[(share * 999.0) as usize];
    assert!(
        quantile(0.05) < 0.2 && quantile(0.95) > 0.7,
        "{} {}",
        quantile(0.05),
        quantile(0.95)
    );
    assert!((0.3..0.6).contains(&quantile(0.5)), "{}", quantile(0.5));
}

#[test]
fn doodles_are_drawn_in_the_ink_and_on_the_paper_of_the_data() {
    // Dark blue on yellow, with a few pixels of ink in the middle.
    let (paper, ink) = ([250u8, 240, 30], [10u8, 20, 200]);
    let colour = |at: usize| if (500..520).contains(&at) { ink } else { paper };
    let pixels = (0..32 * 32).flat_map(colour).collect();
    let original = Picture::new(3, 32, 32, pixels).expect("an image");
    let ood = generated(set(vec![original; 2]), &[OodKind::Doodles], 0);
    let (mut on_paper, mut inked) = (0, 0);
    for index in 0..100 {
        for pixel in image(&ood, index).pixels.chunks_exact(3) {
            let share = (250.0 - f64::from(pixel[0])) / 240.0;
            for channel in 0..3 {
                let (paper, ink) = (f64::from(paper[channel]), f64::from(ink[channel]));
                let expected = paper + share * (ink - paper);
                assert!(
                    (f64::from(pixel[channel]) - expected).abs() <= 1.1,
                    "{pixel:?}"
                );
            }
            on_paper += usize::from(pixel == paper);
            inked += usize::from(pixel == ink);
        }
    }
    let all = 100.0 * 1024.0;
    assert!(
        on_paper as f64 > 0.3 * all && inked as f64 > 0.15 * all,
        "{on_paper} {inked}"
    );
    // Of a plain image nobody knows the ink.
    let plain = Picture::new(1, 16, 16, vec![200; 256]).expect("an image");
    let ood = generated(set(vec![plain; 2]), &[OodKind::Doodles], 0);
    let darkest = (0..20).flat_map(|index| image(&ood, index).pixels).min();
    assert_eq!(darkest, Some(0));
}
