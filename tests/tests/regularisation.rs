//! The uncertainty regulariser against its formula in f64, and its gradient against finite differences of that.

use bayesadapter::train::{RegularisationError, UncertaintyRegularisation};
use bayesadapter_tests::{Tolerance, assert_close, devices, values};
use burn::tensor::{Device, Tensor, TensorData};

const CLASSES: usize = 4;
const IN_DISTRIBUTION: usize = 2;

/// Two in-distribution rows, and two rows for each of some OOD images.
struct Case {
    name: &'static str,
    first: Vec<[f64; CLASSES]>,
    second: Vec<[f64; CLASSES]>,
}

impl Case {
    fn logits(&self) -> Vec<f64> {
        let in_distribution = [[1.0, -2.0, 0.5, 3.0], [0.0, 4.0, -1.0, 2.0]];
        let rows = in_distribution.iter().chain(&self.first);
        rows.chain(&self.second).flatten().copied().collect()
    }

    fn rows(&self) -> usize {
        IN_DISTRIBUTION + 2 * self.first.len()
    }
}

fn cases() -> Vec<Case> {
    let moderate = vec![[0.3, -1.2, 2.0, 0.1], [1.5, 1.4, -0.2, 0.0]];
    vec![
        Case {
            name: "draws that differ a little and a lot",
            first: moderate.clone(),
            second: vec![[-0.4, 0.7, 1.1, 0.9], [-6.0, 1.0, 7.0, 0.5]],
        },
        Case {
            name: "draws that agree exactly",
            first: moderate.clone(),
            second: moderate,
        },
        Case {
            name: "probabilities that underflow",
            first: vec![[0.0, -300.0, -120.0, 1.0], [-500.0, 500.0, 0.0, 80.0]],
            second: vec![[-300.0, 0.5, -130.0, 1.5], [500.0, -500.0, 0.0, 80.0]],
        },
    ]
}

/// `exp(l) / sum exp(l)`
fn softmax(logits: &[f64]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::MIN, f64::max);
    let exps: Vec<f64> = logits.iter().map(|l| (l - largest).exp()).collect();
    let sum: f64 = exps.iter().sum();
    exps.iter().map(|e| e / sum).collect()
}

fn entropy(probabilities: &[f64]) -> f64 {
    let terms = probabilities.iter().filter(|&&p| p > 0.0);
    terms.map(|p| -p * p.ln()).sum()
}

/// `H((p1 + p2) / 2) - (H(p1) + H(p2)) / 2` of every OOD image.
fn information(logits: &[f64]) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = logits.chunks(CLASSES).map(softmax).collect();
    let (first, second) = rows[IN_DISTRIBUTION..].split_at((rows.len() - IN_DISTRIBUTION) / 2);
    let of_pair = |(first, second): (&Vec<f64>, &Vec<f64>)| {
        let mean: Vec<f64> = first
            .iter()
            .zip(second)
            .map(|(a, b)| (a + b) / 2.0)
            .collect();
        entropy(&mean) - (entropy(first) + entropy(second)) / 2.0
    };
    first.iter().zip(second).map(of_pair).collect()
}

fn penalty(settings: &UncertaintyRegularisation, logits: &[f64]) -> f64 {
    let information = information(logits);
    let shortfall = information.iter().map(|mi| (settings.gamma - mi).max(0.0));
    settings.alpha * shortfall.sum::<f64>() / information.len() as f64
}

fn tensor(case: &Case, device: &Device) -> Tensor<2> {
    let logits: Vec<f32> = case.logits().iter().map(|&logit| logit as f32).collect();
    Tensor::from_data(TensorData::new(logits, [case.rows(), CLASSES]), device)
}

/// The default, and a gamma that one of the images reaches and the other does not.
fn all_settings() -> [UncertaintyRegularisation; 2] {
    let default = UncertaintyRegularisation::default();
    assert_eq!((default.alpha, default.gamma), (3.0, 0.75));
    [
        default,
        UncertaintyRegularisation {
            alpha: 1.5,
            gamma: 0.3,
        },
    ]
}

#[test]
fn penalty_is_that_of_the_formula() {
    for (device_name, device) in devices() {
        for case in cases() {
            let logits = case.logits();
            let information = information(&logits);
            let mean = information.iter().sum::<f64>() / information.len() as f64;
            for settings in all_settings() {
                let what = format!("{} with {settings:?} on {device_name}", case.name);
                let found = settings.split(tensor(&case, &device), IN_DISTRIBUTION);
                let found = found.expect(&what);
                let exact: Vec<f32> = logits[..IN_DISTRIBUTION * CLASSES]
                    .iter()
                    .map(|&logit| logit as f32)
                    .collect();
                assert_eq!(values(found.logits), exact, "{what}");
                let penalty = penalty(&settings, &logits);
                for (what, found, expected) in [
                    (format!("penalty of {what}"), found.penalty, penalty),
                    (format!("MI of {what}"), found.mutual_information, mean),
                ] {
                    let tolerance = Tolerance {
                        relative: 1e-5,
                        absolute: 1e-6,
                    };
                    assert_close(&what, &values(found), &[expected as f32], tolerance);
                }
            }
        }
    }
}

#[test]
fn gradients_agree_with_finite_differences() {
    const STEP: f64 = 1e-4;
    for (device_name, device) in devices() {
        let device = device.autodiff();
        for case in cases() {
            for settings in all_settings() {
                let what = format!("{} with {settings:?} on {device_name}", case.name);
                let logits = tensor(&case, &device).require_grad();
                let found = settings.split(logits.clone(), IN_DISTRIBUTION).unwrap();
                assert!(!found.mutual_information.is_tracked(), "{what}");
                let gradients = found.penalty.backward();
                let gradient = values(logits.grad(&gradients).expect(&what));
                let at = case.logits();
                let difference = |element: usize| {
                    let moved = |by: f64| {
                        let mut logits = at.clone();
                        logits[element] += by;
                        penalty(&settings, &logits)
                    };
                    ((moved(STEP) - moved(-STEP)) / (2.0 * STEP)) as f32
                };
                let expected: Vec<f32> = (0..at.len()).map(difference).collect();
                let tolerance = Tolerance {
                    relative: 1e-4,
                    absolute: 2e-6,
                };
                assert_close(&what, &gradient, &expected, tolerance);
            }
        }
    }
}

/// What is averaged with the negative log-likelihood must reach the in-distribution rows through that alone.
#[test]
fn penalty_moves_only_rows_of_ood_images() {
    let device = Device::flex().autodiff();
    let case = &cases()[0];
    let logits = tensor(case, &device).require_grad();
    let found = all_settings()[0].split(logits.clone(), IN_DISTRIBUTION);
    let gradients = found.unwrap().penalty.backward();
    let gradient = values(logits.grad(&gradients).unwrap());
    let (in_distribution, ood) = gradient.split_at(IN_DISTRIBUTION * CLASSES);
    assert!(in_distribution.iter().all(|&one| one == 0.0));
    assert!(ood.iter().all(|&one| one != 0.0), "{ood:?}");
}

#[test]
fn draws_are_driven_apart() {
    let device = Device::flex().autodiff();
    let settings = UncertaintyRegularisation::default();
    let mut logits = tensor(&cases()[0], &device);
    let mut before = 0.0;
    for round in 0..20 {
        let leaf = logits.clone().detach().require_grad();
        let found = settings.split(leaf.clone(), IN_DISTRIBUTION).unwrap();
        let information = found.mutual_information.into_scalar::<f32>();
        assert!(information > before, "round {round}: {information}");
        before = information;
        let gradients = found.penalty.backward();
        let gradient = Tensor::from_inner(leaf.grad(&gradients).unwrap());
        logits = leaf - gradient.mul_scalar(0.5);
    }
    assert!(before < 2f32.ln(), "{before}");
}

#[test]
fn rows_and_settings_that_do_not_fit_are_refused() {
    let logits = || Tensor::<2>::zeros([7, CLASSES], &Device::flex());
    let default = UncertaintyRegularisation::default();
    assert!(default.split(logits(), 3).is_ok());
    for in_distribution in [0, 2, 7, 8] {
        let error = default.split(logits(), in_distribution).unwrap_err();
        let rows = 7;
        let expected = RegularisationError::Rows {
            rows,
            in_distribution,
        };
        assert_eq!(error, expected);
    }
    for wrong in [0.0, -1.0, f64::INFINITY] {
        let alpha = UncertaintyRegularisation {
            alpha: wrong,
            ..default
        };
        assert_eq!(alpha.checked(), Err(RegularisationError::Alpha(wrong)));
        let gamma = UncertaintyRegularisation {
            gamma: wrong,
            ..default
        };
        assert_eq!(gamma.checked(), Err(RegularisationError::Gamma(wrong)));
        assert!(gamma.split(logits(), 3).is_err());
    }
}

#[test]
fn settings_have_defaults_in_files_and_no_other_names() {
    let read = |text: &str| serde_json::from_str::<UncertaintyRegularisation>(text);
    assert_eq!(read("{}").unwrap(), UncertaintyRegularisation::default());
    assert_eq!(read(r#"{"gamma": 0.5}"#).unwrap().gamma, 0.5);
    assert!(read(r#"{"beta": 1}"#).is_err());
}
