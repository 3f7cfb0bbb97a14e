//! Noise within the budget of an attack.

use super::{generated, image, set, train};
use crate::fixtures::picture;
use bayesadapter::data::{Dataset, OodKind, Preparation};
use bayesadapter::models::Normalisation;

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
