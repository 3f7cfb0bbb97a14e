//! Mixtures of two images.

use super::{generated, image, set};
use bayesadapter::data::{OodKind, Picture, Pictures};
use std::collections::BTreeSet;
use std::sync::Arc;

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
