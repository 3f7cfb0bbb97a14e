//! The keyed noise: known answers, distribution, independence, and one value however it is made.
//!
//! Keys are fixed, so every figure here is the same in each run; the bounds are those that a correct
//! generator would exceed once in about a million keys.

mod noise_statistics;

use bayesadapter::ops::{DrawAxis, NoiseKey, fill_normals, sample_gaussian};
use bayesadapter_shaders::noise::{normals, philox, uniform};
use bayesadapter_tests::{Golden, Tolerance, assert_close, devices, values};
use burn::tensor::Tensor;
use noise_statistics::{Moments, chi_square, correlation, kolmogorov_smirnov, normal_cdf};

const KEY: NoiseKey = NoiseKey {
    seed: 0x0123_4567_89AB_CDEF,
    draw: 4,
    parameter: 2,
    first_example: 0,
};
/// Enough for bounds of half a percent.
const COUNT: usize = 1 << 20;
/// Standard deviations of an estimate that count as a failure.
const SIGMAS: f64 = 5.0;

fn many(key: NoiseKey, example: u32) -> Vec<f32> {
    let mut out = vec![f32::NAN; COUNT];
    fill_normals(&key, example, 0, &mut out);
    out
}

/// The three vectors published with the reference implementation of Philox.
#[test]
fn philox_known_answers() {
    let known = [
        (
            [0; 4],
            [0; 2],
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
        ),
        (
            [u32::MAX; 4],
            [u32::MAX; 2],
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
        ),
        (
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        ),
    ];
    for (counter, key, expected) in known {
        assert_eq!(philox(counter, key), expected, "{counter:x?} {key:x?}");
    }
}

/// Words, uniforms and normals of an independent implementation (`golden/philox.py`).
#[test]
fn keyed_known_answers() {
    let golden = Golden::open();
    let (bits, uniforms, normals) = (
        golden.integers("noise/bits"),
        golden.floats("noise/uniforms"),
        golden.floats("noise/normals"),
    );
    let each = bits.len() / golden.noise_keys().len();
    assert!(each >= 64, "known answers are missing");
    for (row, golden_key) in golden.noise_keys().iter().enumerate() {
        let (key, example) = (golden_key.key(), golden_key.example);
        let row = row * each..(row + 1) * each;
        let elements = 0..each as u32;
        let found: Vec<u32> = elements
            .clone()
            .flat_map(|e| key.bits(example, e / 4).get(e as usize % 4).copied())
            .collect();
        assert_eq!(found, bits[row.clone()], "{golden_key:?}");
        let found: Vec<f32> = elements.clone().map(|e| key.uniform(example, e)).collect();
        assert_eq!(found, uniforms[row.clone()], "{golden_key:?}");
        let found: Vec<f32> = elements.map(|e| key.normal(example, e)).collect();
        assert_close(&format!("{golden_key:?}"), &found, &normals[row], ROUNDING);
    }
}

/// A few units in the last place of a product of polynomials.
const ROUNDING: Tolerance = Tolerance {
    relative: 1e-6,
    absolute: 5e-7,
};

/// Box-Muller in f64 on words that random ones seldom meet: all zeros, all ones, edges of quadrants.
#[test]
fn normals_at_the_edges() {
    let mut words = vec![0, 1, 511, 512, u32::MAX, u32::MAX - 511, u32::MAX - 512];
    for quadrant in 0..4u32 {
        let middle = quadrant << 30;
        words.extend([
            middle,
            middle.wrapping_sub(1),
            middle | 1 << 29,
            (middle | 1 << 29) - 1,
        ]);
    }
    for &radius_bits in &words {
        for &angle_bits in &words {
            let u = (f64::from(radius_bits >> 9) + 0.5) / f64::from(1 << 23);
            let within = (f64::from((angle_bits << 2) as i32 >> 8) + 0.5) / f64::from(1 << 24);
            let angle = (f64::from(angle_bits >> 30) + within) * std::f64::consts::FRAC_PI_2;
            let radius = (-2.0 * u.ln()).sqrt();
            let expected = [(radius * angle.cos()) as f32, (radius * angle.sin()) as f32];
            let expected = [expected, expected].concat();
            let found = normals([radius_bits, angle_bits, radius_bits, angle_bits]);
            let what = format!("words {radius_bits:#x} and {angle_bits:#x}");
            assert_close(&what, &found, &expected, ROUNDING);
        }
    }
}

#[test]
fn uniforms_stay_inside_the_open_interval() {
    assert_eq!(uniform(0), 0.5 / 8_388_608.0);
    assert_eq!(uniform(u32::MAX), 1.0 - 0.5 / 8_388_608.0);
}

#[test]
fn normals_have_the_moments_of_the_normal_distribution() {
    let moments = Moments::of(&many(KEY, 0));
    let n = COUNT as f64;
    assert!(
        moments.mean.abs() < SIGMAS * (1.0 / n).sqrt(),
        "{moments:?}"
    );
    assert!(
        (moments.variance - 1.0).abs() < SIGMAS * (2.0 / n).sqrt(),
        "{moments:?}"
    );
    assert!(
        moments.skewness.abs() < SIGMAS * (6.0 / n).sqrt(),
        "{moments:?}"
    );
    assert!(
        (moments.kurtosis - 3.0).abs() < SIGMAS * (24.0 / n).sqrt(),
        "{moments:?}"
    );
}

#[test]
fn uniforms_have_the_moments_of_the_uniform_distribution() {
    let uniforms: Vec<f32> = (0..COUNT as u32).map(|e| KEY.uniform(0, e)).collect();
    let moments = Moments::of(&uniforms);
    let n = COUNT as f64;
    assert!(
        (moments.mean - 0.5).abs() < SIGMAS * (1.0 / 12.0 / n).sqrt(),
        "{moments:?}"
    );
    // The variance of a square about the mean is 1/180.
    assert!(
        (moments.variance - 1.0 / 12.0).abs() < SIGMAS * (1.0 / 180.0 / n).sqrt(),
        "{moments:?}"
    );
}

/// The largest gap between the empirical and the closed-form distribution function. `2.7 / sqrt(n)`
/// is exceeded with probability 1e-6.
#[test]
fn kolmogorov_smirnov_accepts_both_distributions() {
    let bound = 2.7 / (COUNT as f64).sqrt();
    let gap = kolmogorov_smirnov(&many(KEY, 1), normal_cdf);
    assert!(gap < bound, "normals: {gap} against {bound}");
    let uniforms: Vec<f32> = (0..COUNT as u32).map(|e| KEY.uniform(1, e)).collect();
    let gap = kolmogorov_smirnov(&uniforms, |x| x);
    assert!(gap < bound, "uniforms: {gap} against {bound}");
}

/// The test above must be able to fail: normals that are two percent too wide are refused.
#[test]
fn kolmogorov_smirnov_refuses_two_percent() {
    let wide: Vec<f32> = many(KEY, 1).iter().map(|z| z * 1.02).collect();
    assert!(kolmogorov_smirnov(&wide, normal_cdf) > 2.7 / (COUNT as f64).sqrt());
}

/// Pairs of neighbouring words in a 64 x 64 grid of equally likely cells: the joint distribution of
/// the two normals of a pair, and of two that come from different pairs.
#[test]
fn chi_square_accepts_pairs_of_neighbours() {
    let cells = 64 * 64;
    let bound = SIGMAS * (2.0 * (cells - 1) as f64).sqrt();
    let normals = many(KEY, 2);
    for lag in [1, 2, 3, 4, 128] {
        let excess = chi_square(&normals, lag, 64) - (cells - 1) as f64;
        assert!(excess.abs() < bound, "lag {lag}: {excess} against {bound}");
    }
}

/// Changing one field of the key, by its lowest or by its highest bit, changes everything.
#[test]
fn each_key_field_gives_an_independent_stream() {
    let base = many(KEY, 0);
    let bound = SIGMAS / (COUNT as f64).sqrt();
    let draw = |bit: u32| NoiseKey {
        draw: KEY.draw ^ bit,
        ..KEY
    };
    let parameter = |bit: u32| NoiseKey {
        parameter: KEY.parameter ^ bit,
        ..KEY
    };
    let seed = |bit: u64| NoiseKey {
        seed: KEY.seed ^ bit,
        ..KEY
    };
    let first = |first_example| NoiseKey {
        first_example,
        ..KEY
    };
    let top = 1 << 31;
    let others = [
        ("seed, lowest bit", seed(1), 0),
        ("seed, middle bit", seed(1 << 32), 0),
        ("seed, highest bit", seed(1 << 63), 0),
        ("draw, lowest bit", draw(1), 0),
        ("draw, highest bit", draw(top), 0),
        ("parameter, lowest bit", parameter(1), 0),
        ("parameter, highest bit", parameter(top), 0),
        ("example, lowest bit", KEY, 1),
        ("example, highest bit", KEY, top),
        ("first example", first(7), 0),
    ];
    for (what, key, example) in others {
        let other = many(key, example);
        let same = base.iter().zip(&other).filter(|(a, b)| a == b).count();
        // Rounding to f32 lets a few normals in a million meet by chance.
        assert!(same < 50, "{what}: {same} equal normals");
        let linear = correlation(&base, &other);
        assert!(linear.abs() < bound, "{what}: correlation {linear}");
        let square = |values: &[f32]| values.iter().map(|z| z * z).collect::<Vec<_>>();
        let spread = correlation(&square(&base), &square(&other));
        assert!(
            spread.abs() < bound,
            "{what}: correlation of squares {spread}"
        );
    }
}

/// Half of all bits flip, whichever field moves.
#[test]
fn each_key_field_reaches_every_bit() {
    let blocks = 4096;
    let others = [
        (
            "seed",
            NoiseKey {
                seed: KEY.seed + 1,
                ..KEY
            },
            0,
            0,
        ),
        ("draw", KEY.later(1), 0, 0),
        (
            "parameter",
            NoiseKey {
                parameter: KEY.parameter + 1,
                ..KEY
            },
            0,
            0,
        ),
        ("example", KEY, 1, 0),
        ("element", KEY, 0, 1),
    ];
    for (what, key, example, shift) in others {
        let mut flips = [0u32; 128];
        for block in 0..blocks {
            let (a, b) = (KEY.bits(0, block), key.bits(example, block + shift));
            for (bit, flips) in flips.iter_mut().enumerate() {
                *flips += (a[bit / 32] ^ b[bit / 32]) >> (bit % 32) & 1;
            }
        }
        let limit = SIGMAS * (f64::from(blocks) / 4.0).sqrt();
        for (bit, flips) in flips.into_iter().enumerate() {
            let excess = f64::from(flips) - f64::from(blocks) / 2.0;
            assert!(
                excess.abs() < limit,
                "{what}: bit {bit} flipped {flips} times of {blocks}"
            );
        }
    }
}

#[test]
fn neighbouring_elements_are_uncorrelated() {
    let normals = many(KEY, 3);
    let squares: Vec<f32> = normals.iter().map(|z| z * z).collect();
    for lag in 1..=9 {
        let n = COUNT - lag;
        let bound = SIGMAS / (n as f64).sqrt();
        for (what, values) in [("normals", &normals), ("squares", &squares)] {
            let found = correlation(&values[..n], &values[lag..]);
            assert!(found.abs() < bound, "{what} at lag {lag}: {found}");
        }
    }
}

/// Bulk generation is the element-wise one, bit for bit, wherever it starts and ends.
#[test]
fn bulk_normals_are_the_single_ones() {
    let starts = [0, 1, 2, 3, 4, 5, 126, 127, 128, 1_000_003, u32::MAX - 300];
    let lengths = [0, 1, 2, 3, 4, 5, 7, 127, 128, 129, 131, 255, 257, 300];
    for first in starts {
        for length in lengths {
            let expected: Vec<f32> = (0..length)
                .map(|offset| KEY.normal(9, first + offset))
                .collect();
            let mut plain = vec![f32::NAN; length as usize];
            KEY.fill_normals(9, first, &mut plain);
            assert_eq!(plain, expected, "first {first}, length {length}");
            let mut dispatched = vec![f32::NAN; length as usize];
            fill_normals(&KEY, 9, first, &mut dispatched);
            assert_eq!(dispatched, expected, "first {first}, length {length}");
        }
    }
}

/// With mean 0 and standard deviation 1, a materialised draw is the noise itself, on every device.
#[test]
fn every_device_draws_the_same_normals() {
    let (draws, len) = (5usize, 1031usize);
    let key = NoiseKey {
        first_example: u32::MAX - 1,
        ..KEY
    };
    for (name, device) in devices() {
        for axis in [DrawAxis::Example, DrawAxis::Draw] {
            let zeros = Tensor::<1>::zeros([len], &device);
            let found: Tensor<2> = sample_gaussian(zeros.clone(), zeros, key, axis, draws).unwrap();
            let expected: Vec<f32> = (0..(draws * len) as u32)
                .map(|at| {
                    let (draw, element) = (at / len as u32, at % len as u32);
                    match axis {
                        DrawAxis::Example => key.normal(draw, element),
                        DrawAxis::Draw => key.later(draw).normal(0, element),
                    }
                })
                .collect();
            assert_close(
                &format!("{name}, {axis:?}"),
                &values(found),
                &expected,
                ROUNDING,
            );
        }
    }
}
