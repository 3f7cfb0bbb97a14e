//! Measured variances against what follows from the moments of the noise.

use super::*;

const TAPS: usize = CHANNELS[0] * KERNEL * KERNEL;

/// What a kernel sees at every place of an image, `[image * image, 27]`, with zeros around the image.
fn patches(pixels: &[f32], image: usize) -> Vec<[f64; TAPS]> {
    let at = |channel: usize, row: usize, column: usize| {
        // One row and one column of zeros come first.
        let inside = (1..=image).contains(&row) && (1..=image).contains(&column);
        match inside {
            true => f64::from(pixels[(channel * image + row - 1) * image + column - 1]),
            false => 0.0,
        }
    };
    let places = (0..image * image).map(|place| (place / image, place % image));
    let patch = |(row, column): (usize, usize)| {
        std::array::from_fn(|tap| {
            let (channel, tap) = (tap / (KERNEL * KERNEL), tap % (KERNEL * KERNEL));
            at(channel, row + tap / KERNEL, column + tap % KERNEL)
        })
    };
    places.map(patch).collect()
}

/// The expected variance of the gradient in mu, averaged over coordinates.
///
/// With `N` outputs the gradient of coordinate `j` of a kernel is `2 / N sum_b (M_b (w_b - mu))_j` and a constant,
/// `M_b` being the sum of the outer products of the patches of image `b`. Weights shared by the images add up before
/// they are squared; independent ones, and those that differ in signs, after. Where pre-activations are drawn the noise
/// of every place is its own, with the variance `patch^2 sigma^2`.
struct Expected {
    vanilla: f64,
    exemplar: f64,
    local: f64,
}

fn expected(toy: &Toy) -> Expected {
    let [batch, channels, image, _] = toy.images.dims();
    let entry = &toy.bayes.inventory().entries[0];
    let Spread::MeanField { psi, .. } = &entry.spread else {
        panic!("{entry:?}");
    };
    let psi: Vec<f32> = psi.clone().into_data().try_into_vec().unwrap();
    let variances: Vec<f64> = psi
        .iter()
        .map(|&psi| (2.0 * f64::from(psi)).exp())
        .collect();
    // Products are sums over output channels; every one sees the same patches.
    let of_tap = |tap: usize| variances[tap..].iter().step_by(TAPS).sum::<f64>();
    let variance: [f64; TAPS] = std::array::from_fn(of_tap);
    let pixels: Vec<f32> = toy.images.clone().into_data().try_into_vec().unwrap();
    let mut all = [[0.0; TAPS]; TAPS];
    let (mut exemplar, mut local) = (0.0, 0.0);
    for pixels in pixels.chunks_exact(channels * image * image) {
        let mut of_image = [[0.0; TAPS]; TAPS];
        for patch in patches(pixels, image) {
            let squares = || patch.iter().map(|value| value * value);
            let noise: f64 = squares().zip(variance).map(|(x, v)| x * v).sum();
            local += squares().sum::<f64>() * noise;
            for (row, a) in of_image.iter_mut().zip(patch) {
                row.iter_mut().zip(patch).for_each(|(sum, b)| *sum += a * b);
            }
        }
        exemplar += weighted_squares(&of_image, &variance);
        for (sum, one) in all.iter_mut().flatten().zip(of_image.iter().flatten()) {
            *sum += one;
        }
    }
    let outputs = (batch * CHANNELS[1] * image * image) as f64;
    let scale = 4.0 / (outputs * outputs) / (TAPS * CHANNELS[1]) as f64;
    Expected {
        vanilla: scale * weighted_squares(&all, &variance),
        exemplar: scale * exemplar,
        local: scale * local,
    }
}

/// `sum_jk m_jk^2 v_k`
fn weighted_squares(matrix: &[[f64; TAPS]; TAPS], variance: &[f64; TAPS]) -> f64 {
    let row = |row: &[f64; TAPS]| {
        let terms = row.iter().zip(variance).map(|(m, v)| m * m * v);
        terms.sum::<f64>()
    };
    matrix.iter().map(row).sum()
}

#[test]
fn variances_of_the_mean_are_those_of_the_closed_form() {
    let toy = Toy::new(16, 8, &Device::flex()).unwrap();
    let expected = expected(&toy);
    assert!(expected.vanilla > 10.0 * expected.exemplar);
    assert!(expected.exemplar > expected.local);
    for (estimator, expected) in [
        (Estimator::Vanilla, expected.vanilla),
        (Estimator::Exemplar, expected.exemplar),
        (Estimator::Local, expected.local),
        (Estimator::Flipout, expected.exemplar),
    ] {
        // Of each run come at least as many independent numbers as there are output channels, so that the standard
        // deviation of a measured variance is at most sqrt(2 / (300 * 16)), two hundredths.
        let found = toy.measure(estimator, 300).unwrap();
        let ratio = found.mu / expected;
        assert!((ratio - 1.0).abs() < 0.1, "{estimator}: {ratio}");
        assert!(found.psi > 0.0, "{estimator}");
    }
}

#[test]
fn start_of_the_toy_is_that_of_the_authors() {
    let toy = Toy::new(2, 4, &Device::flex()).unwrap();
    let entry = toy.bayes.inventory().entries.remove(0);
    assert_eq!(entry.shape, [16, 3, 3, 3]);
    let mu: Vec<f32> = entry.value.into_data().try_into_vec().unwrap();
    let variance = mu.iter().map(|&mu| f64::from(mu * mu)).sum::<f64>() / mu.len() as f64;
    // Of 432 squares of normals: the standard deviation of their mean is 7 %.
    assert!((variance * 144.0 / 2.0 - 1.0).abs() < 0.25, "{variance}");
    let Spread::MeanField { psi, .. } = entry.spread else {
        panic!("no posterior");
    };
    let psi: Vec<f32> = psi.into_data().try_into_vec().unwrap();
    assert!(psi.iter().all(|psi| (-6.0..-5.0).contains(psi)));
    assert!(psi.iter().any(|&psi| psi < -5.9) && psi.iter().any(|&psi| psi > -5.1));
    let images: Vec<f32> = toy.images.into_data().try_into_vec().unwrap();
    assert!(images.iter().all(|pixel| (0.0..=1.0).contains(pixel)));
}

#[test]
fn one_run_has_no_variance() {
    let toy = Toy::new(1, 4, &Device::flex()).unwrap();
    let error = toy.measure(Estimator::Vanilla, 1).unwrap_err();
    assert_eq!(error, GradientVarianceError::Runs(1));
}
