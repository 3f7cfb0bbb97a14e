//! Generated out-of-distribution images.

use crate::fixtures::{Watched, numbered, picture};
use bayesadapter::data::{
    DataError, Dataset, GeneratedOod, OodKind, Picture, Pictures, Preparation, Split, digits,
    scribbles,
};
use bayesadapter::models::Normalisation;
use std::collections::BTreeSet;
use std::sync::Arc;

fn train() -> Arc<dyn Dataset> {
    Arc::new(digits(Split::Train))
}

fn set(pictures: Vec<Picture>) -> Arc<dyn Dataset> {
    let labels = (0..pictures.len()).map(|at| (at % 2) as u32).collect();
    let names = vec!["even".to_owned(), "odd".to_owned()];
    Arc::new(Pictures::new(pictures, labels, names).expect("a data set"))
}

fn generated(source: Arc<dyn Dataset>, kinds: &[OodKind], seed: u64) -> GeneratedOod {
    GeneratedOod::new(source, kinds, seed).unwrap_or_else(|error| panic!("{error}"))
}

fn image(data: &dyn Dataset, index: usize) -> Picture {
    data.picture(index)
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_image_is_a_function_of_seed_and_index() {
    let ood = generated(train(), &OodKind::ALL, 4);
    assert_eq!(
        (ood.len(), ood.class_names().len(), ood.label(9)),
        (4096, 1, 0)
    );
    let forwards: Vec<Picture> = (0..60).map(|index| image(&ood, index)).collect();
    let again = generated(train(), &OodKind::ALL, 4);
    for index in (0..60).rev() {
        assert_eq!(image(&again, index), forwards[index]);
    }
    let other = generated(train(), &OodKind::ALL, 5);
    let same = (0..60).filter(|&index| image(&other, index) == forwards[index]);
    assert!(same.count() < 6);
    // Past the end of a small source its images come back, changed in another way.
    let small = generated(
        set(vec![picture(1, 8, 8, 1), picture(1, 8, 8, 2)]),
        &[OodKind::Noise],
        0,
    );
    assert_ne!(image(&small, 0), image(&small, 2));
    assert!(matches!(
        small.picture(4096),
        Err(DataError::Index {
            index: 4096,
            len: 4096
        })
    ));
    let large: Vec<Picture> = vec![picture(1, 2, 2, 0); 5000];
    assert_eq!(generated(set(large), &[OodKind::Noise], 0).len(), 5000);
}

#[test]
fn kinds_take_turns_in_all_classes() {
    let source = train();
    let ood = generated(source.clone(), &OodKind::ALL, 0);
    let mut met = BTreeSet::new();
    for first in (0..1000).step_by(5) {
        let kinds: BTreeSet<OodKind> = (first..first + 5).map(|index| ood.kind(index)).collect();
        assert_eq!(kinds.len(), 5, "images {first} to {}", first + 4);
        met.extend((first..first + 5).map(|index| (source.label(index), ood.kind(index))));
    }
    assert_eq!(met.len(), 50);
    assert!(ood.name(3).contains(ood.kind(3).name()) && ood.name(3).contains("picture 3"));
    // One that is named twice is made twice as often.
    let noisy = generated(
        source,
        &[OodKind::Noise, OodKind::Noise, OodKind::Patches],
        0,
    );
    let noise = (0..300).filter(|&index| noisy.kind(index) == OodKind::Noise);
    assert_eq!(noise.count(), 200);
}

#[test]
fn noise_stays_within_its_budget_and_uses_it() {
    let source = train();
    let ood = generated(source.clone(), &[OodKind::Noise], 1);
    let mut counts = [0usize; 15];
    for index in 0..500 {
        let (noisy, clean) = (image(&ood, index), image(&*source, index));
        for (&noisy, &clean) in noisy.pixels.iter().zip(&clean.pixels) {
            let change = i32::from(noisy) - i32::from(clean);
            assert!(
                f64::from(change).abs() / 255.0 <= 0.031,
                "{clean} became {noisy}"
            );
            if (7..=248).contains(&clean) {
                counts[(change + 7) as usize] += 1;
            }
        }
    }
    // Uniform over all levels within the budget, to five standard deviations.
    let expected = counts.iter().sum::<usize>() as f64 / 15.0;
    for count in counts {
        assert!(
            (count as f64 - expected).abs() < 5.0 * expected.sqrt(),
            "{counts:?}"
        );
    }
}

#[test]
fn patches_keep_every_pixel_and_change_their_places() {
    // Every pixel is its own place, so that it can be told where it comes from.
    let values = (0..64u8).collect();
    let original = Picture::new(1, 8, 8, values).expect("an image");
    let ood = generated(set(vec![original; 2]), &[OodKind::Patches], 0);
    let mut grids = BTreeSet::new();
    for index in 0..200 {
        let shuffled = image(&ood, index);
        let from = |y: usize, x: usize| (shuffled.pixel(y, x)[0] / 8, shuffled.pixel(y, x)[0] % 8);
        assert_eq!(shuffled.pixels.iter().collect::<BTreeSet<_>>().len(), 64);
        assert!(
            (0..64).all(|at| usize::from(shuffled.pixels[at]) != at),
            "image {index}"
        );
        // Within a patch pixels stay side by side.
        let joined = |side: usize| {
            let corners = (0..8)
                .step_by(side)
                .flat_map(|y| (0..8).step_by(side).map(move |x| (y, x)));
            corners.into_iter().all(|(y, x)| {
                let (top, left) = from(y, x);
                let last = side as u8 - 1;
                from(y + side - 1, x + side - 1) == (top + last, left + last)
            })
        };
        assert!(joined(2));
        grids.insert(joined(4));
        // To exchange the upper and the lower half would leave an 8 an 8.
        let halves: Vec<usize> = (0..64).map(|at| (at + 32) % 64).collect();
        assert!(
            !shuffled
                .pixels
                .iter()
                .map(|&value| usize::from(value))
                .eq(halves)
        );
    }
    assert_eq!(grids.len(), 2, "both grids occur");
    // What is left over at the edge stays.
    let original = picture(3, 9, 11, 5);
    let ood = generated(set(vec![original.clone(); 2]), &[OodKind::Patches], 0);
    for index in 0..20 {
        let shuffled = image(&ood, index);
        let sorted = |image: &Picture| {
            let mut pixels: Vec<&[u8]> = image.pixels.chunks_exact(3).collect();
            pixels.sort();
            pixels.concat()
        };
        assert_eq!(sorted(&shuffled), sorted(&original));
        assert_ne!(shuffled, original);
        assert_eq!(shuffled.pixel(8, 4), original.pixel(8, 4));
    }
}

#[test]
fn mixtures_are_means_of_two_classes() {
    // Class by class one value; the means of two of them with weights of 0.35 to 0.65 tell the two.
    let values = [0u8, 80, 250];
    let flat = |at: usize| Picture::new(3, 4, 4, vec![values[at % 3]; 48]).expect("an image");
    let labels = (0..30).map(|at| at % 3).collect();
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    let source = Pictures::new((0..30).map(flat).collect(), labels, names).expect("a data set");
    let ood = generated(Arc::new(source), &[OodKind::Mixtures], 2);
    let (mut met, mut weights) = (BTreeSet::new(), Vec::new());
    for index in 0..600 {
        let mixture = image(&ood, index);
        assert!(
            mixture
                .pixels
                .iter()
                .all(|&value| value == mixture.pixels[0])
        );
        let (value, own) = (f64::from(mixture.pixels[0]), f64::from(values[index % 3]));
        let partners = values
            .map(f64::from)
            .into_iter()
            .filter(|&other| other != own);
        let fitting = partners.map(|other| (other, (value - other) / (own - other)));
        let fitting: Vec<(f64, f64)> = fitting
            .filter(|(other, weight)| {
                let rounding = 0.5 / (own - other).abs() + 1e-4;
                (0.35 - rounding..=0.65 + rounding).contains(weight)
            })
            .collect();
        assert!(!fitting.is_empty(), "{value} of {own}");
        if let [(other, weight)] = fitting[..] {
            met.insert((own as u8, other as u8));
            weights.push(weight);
        }
    }
    assert_eq!(met.len(), 6, "{met:?}");
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    assert!((mean - 0.5).abs() < 0.02, "{mean}");
    assert!(
        weights.iter().any(|&weight| weight < 0.37) && weights.iter().any(|&weight| weight > 0.63)
    );
}

#[test]
fn mixtures_fit_the_second_image_to_the_first() {
    let white = Picture::new(1, 6, 9, vec![255; 54]).expect("an image");
    let black = Picture::new(3, 3, 4, vec![0; 36]).expect("an image");
    let ood = generated(set(vec![white, black]), &[OodKind::Mixtures], 0);
    for (index, shape) in [(0, (1, 6, 9)), (1, (3, 3, 4))] {
        let mixture = image(&ood, index);
        assert_eq!((mixture.channels, mixture.height, mixture.width), shape);
        assert!(
            mixture
                .pixels
                .iter()
                .all(|&value| (89..=166).contains(&value))
        );
    }
}

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

#[test]
fn sizes_and_channels_are_kept() {
    let shapes = [
        (1, 8, 8),
        (3, 32, 32),
        (1, 28, 28),
        (3, 17, 40),
        (3, 1, 1),
        (1, 2, 300),
        (3, 90, 64),
    ];
    for (channels, height, width) in shapes {
        let pictures = (0..10)
            .map(|seed| picture(channels, height, width, seed))
            .collect();
        let ood = generated(set(pictures), &OodKind::ALL, 6);
        for index in 0..10 {
            let made = image(&ood, index);
            assert_eq!(
                (made.channels, made.height, made.width),
                (channels, height, width)
            );
            assert_eq!(made.pixels.len(), channels * height * width);
        }
    }
}

#[test]
fn noise_on_large_images_is_that_of_the_input() {
    let shape = [3, 24, 24];
    let source = set((0..4).map(|seed| picture(3, 90, 70, seed)).collect());
    let ood = generated(source.clone(), &[OodKind::Noise], 0)
        .with_size(24, 24)
        .expect("a size");
    let preparation = Preparation::new(shape, Normalisation::uniform(3, 0.0, 1.0));
    let (mut most, mut sum) = (0.0f32, 0.0);
    for index in 0..4 {
        let input = |of: &dyn Dataset| preparation.prepare(&image(of, index)).expect("an input");
        for (noisy, clean) in input(&ood).iter().zip(input(&*source)) {
            most = most.max((noisy - clean).abs());
            sum += f64::from((noisy - clean).abs()) / (4.0 * 3.0 * 576.0);
        }
    }
    // The mean of 0 to 7 levels, each of which but 0 is twice as likely.
    assert!(
        most <= 0.031 && (sum - 56.0 / 15.0 / 255.0).abs() < 1e-3,
        "{most} {sum}"
    );
    assert!(
        generated(source, &[OodKind::Noise], 0)
            .with_size(0, 24)
            .is_err()
    );
}

#[test]
fn names_are_read_back() {
    for kind in OodKind::ALL {
        assert_eq!(
            kind.to_string().parse::<OodKind>().expect("its own name"),
            kind
        );
        assert_eq!(
            serde_json::to_string(&kind).expect("a name"),
            format!("\"{kind}\"")
        );
    }
    let error = "scribbles"
        .parse::<OodKind>()
        .expect_err("no kind")
        .to_string();
    assert_eq!(
        error,
        "the kind of OOD images is `scribbles`, but the generated kinds are noise, blur-jpeg, patches, mixtures, doodles"
    );
}

#[test]
fn what_cannot_be_made_is_refused() {
    let refused =
        |source: Arc<dyn Dataset>, kinds: &[OodKind]| match GeneratedOod::new(source, kinds, 0) {
            Ok(_) => panic!("this should have been refused"),
            Err(error) => error.to_string(),
        };
    let empty = refused(train(), &[]);
    assert!(empty.contains("one or more of noise, blur-jpeg"), "{empty}");
    let alone = refused(
        Arc::new(scribbles(5, 0)),
        &[OodKind::Noise, OodKind::Mixtures],
    );
    assert!(
        alone.contains("mixtures need images of two classes; leave them out"),
        "{alone}"
    );
    assert!(GeneratedOod::new(numbered(1), &[OodKind::Patches], 0).is_ok());
    // A broken original is its own error, which batches can skip.
    let ood = generated(Watched::new(|index| index == 3), &[OodKind::Noise], 0);
    assert!(ood.picture(2).is_ok());
    assert!(matches!(ood.picture(3), Err(DataError::Broken { .. })));
}
