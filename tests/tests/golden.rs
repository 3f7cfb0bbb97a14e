//! The ops against PyTorch, value and gradient, on every device and with every kernel of it.
//!
//! `golden/make_golden.py` says how the tensors were made and what they do not cover.

use bayesadapter::ops::{
    DrawAxis, KernelVariant, OpError, Weights, exemplar_conv2d, exemplar_matmul, sample_gaussian,
    sample_low_rank,
};
use bayesadapter_tests::{Case, Golden, Tolerance, assert_close, places, values};
use burn::tensor::{Device, Gradients, Tensor};

/// Sums of up to a few hundred f32 products in any order; the normals agree to about 1e-6.
const SHARE: f32 = 2e-5;

#[derive(Clone, Copy, Debug, PartialEq)]
enum SourceKind {
    Given,
    Gaussian,
    LowRank,
}

/// Which inputs ask for a gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tracked {
    All,
    Input,
    Parameters,
}

/// One case with one source on one device.
struct Subject<'a> {
    golden: &'a Golden,
    case: &'a Case,
    source: SourceKind,
    tracked: Tracked,
    device_name: &'static str,
    device: Device,
}

impl Subject<'_> {
    fn prefix(&self) -> String {
        let source = match self.source {
            SourceKind::Given => "given",
            SourceKind::Gaussian => "gaussian",
            SourceKind::LowRank => "low_rank",
        };
        format!("{}/{source}", self.case.name)
    }

    fn tensor<const D: usize>(&self, name: &str, tracked: bool) -> Tensor<D> {
        let tensor = Tensor::from_data(self.golden.tensor(name), &self.device);
        if tracked {
            tensor.require_grad()
        } else {
            tensor
        }
    }

    fn x<const X: usize>(&self) -> Tensor<X> {
        let name = format!("{}/x", self.case.name);
        self.tensor(&name, self.tracked != Tracked::Parameters)
    }

    fn bias(&self) -> Option<Tensor<2>> {
        let name = format!("{}/bias", self.case.name);
        let tracked = self.tracked != Tracked::Input;
        self.case.bias.then(|| self.tensor(&name, tracked))
    }

    fn parameter<const D: usize>(&self, name: &str) -> Tensor<D> {
        let tracked = self.tracked != Tracked::Input;
        self.tensor(&format!("{}/{name}", self.prefix()), tracked)
    }

    fn weights<const W: usize, const K: usize>(&self) -> Weights<W, K> {
        let index = self.case.index.clone();
        match self.source {
            SourceKind::Given => Weights::Given {
                weights: self.parameter("weights"),
                index,
            },
            SourceKind::Gaussian => Weights::Gaussian {
                mu: self.parameter("mu"),
                psi: self.parameter("psi"),
                key: self.golden.key(),
            },
            SourceKind::LowRank => Weights::LowRank {
                shared: self.parameter("shared"),
                left: self.parameter("left"),
                right: self.parameter("right"),
                index,
            },
        }
    }

    fn assert_value<const D: usize>(&self, name: &str, found: Tensor<D>) {
        let expected = self.golden.floats(&format!("{}/{name}", self.prefix()));
        let what = format!(
            "{}/{name} on {}, {:?}",
            self.prefix(),
            self.device_name,
            self.tracked
        );
        let tolerance = Tolerance::of_largest(SHARE, &expected);
        assert_close(&what, &values(found), &expected, tolerance);
    }

    /// A gradient is right where it was asked for and absent elsewhere.
    fn assert_grad<const D: usize>(
        &self,
        name: &str,
        of: &Tensor<D>,
        grads: &Gradients,
        asked: bool,
    ) {
        match (of.grad(grads), asked) {
            (Some(grad), true) => self.assert_value(&format!("d{name}"), grad),
            (None, false) => {}
            (found, _) => panic!(
                "{}/d{name} on {}, {:?}: gradient present is {}",
                self.prefix(),
                self.device_name,
                self.tracked,
                found.is_some()
            ),
        }
    }

    /// Compares y and every gradient of `sum(y * cotangent)`.
    fn compare<const X: usize, const W: usize, const K: usize>(
        &self,
        x: &Tensor<X>,
        weights: &Weights<W, K>,
        bias: Option<&Tensor<2>>,
        y: Result<Tensor<X>, OpError>,
    ) {
        let y =
            y.unwrap_or_else(|error| panic!("{} on {}: {error}", self.prefix(), self.device_name));
        let cotangent: Tensor<X> = self.tensor(&format!("{}/cotangent", self.case.name), false);
        assert_eq!(y.dims(), cotangent.dims(), "{}", self.prefix());
        self.assert_value("y", y.clone().inner());
        let grads = (y * cotangent).sum().backward();
        self.assert_grad("x", x, &grads, self.tracked != Tracked::Parameters);
        let asked = self.tracked != Tracked::Input;
        if let Some(bias) = bias {
            self.assert_grad("bias", bias, &grads, asked);
        }
        match weights {
            Weights::Given { weights, .. } => self.assert_grad("weights", weights, &grads, asked),
            Weights::Gaussian { mu, psi, .. } => {
                self.assert_grad("mu", mu, &grads, asked);
                self.assert_grad("psi", psi, &grads, asked);
            }
            Weights::LowRank {
                shared,
                left,
                right,
                ..
            } => {
                self.assert_grad("shared", shared, &grads, asked);
                self.assert_grad("left", left, &grads, asked);
                self.assert_grad("right", right, &grads, asked);
            }
        }
    }

    /// The fused op.
    fn run(&self) {
        let bias = self.bias();
        match self.case.map.conv_options() {
            None => {
                let (x, weights) = (self.x(), self.weights());
                let y = exemplar_matmul(x.clone(), weights.clone(), bias.clone());
                self.compare(&x, &weights, bias.as_ref(), y);
            }
            Some(options) => {
                let (x, weights) = (self.x(), self.weights());
                let y = exemplar_conv2d(x.clone(), weights.clone(), bias.clone(), options);
                self.compare(&x, &weights, bias.as_ref(), y);
            }
        }
    }

    /// The sampling op, whose draws are then given to the map: the same values and gradients.
    fn run_sampled(&self) {
        let bias = self.bias();
        match self.case.map.conv_options() {
            None => {
                let (x, weights) = (self.x(), self.weights::<2, 3>());
                let y = exemplar_matmul(x.clone(), self.sampled(&weights), bias.clone());
                self.compare(&x, &weights, bias.as_ref(), y);
            }
            Some(options) => {
                let (x, weights) = (self.x(), self.weights::<4, 5>());
                let y = exemplar_conv2d(x.clone(), self.sampled(&weights), bias.clone(), options);
                self.compare(&x, &weights, bias.as_ref(), y);
            }
        }
    }

    /// One materialised weight per example.
    fn sampled<const W: usize, const K: usize>(&self, weights: &Weights<W, K>) -> Weights<W, K> {
        let batch = self.case.index.len();
        let drawn = match weights.clone() {
            Weights::Given { .. } => unreachable!("given weights are not sampled"),
            Weights::Gaussian { mu, psi, key } => {
                sample_gaussian(mu, psi, key, DrawAxis::Example, batch)
            }
            Weights::LowRank {
                shared,
                left,
                right,
                index,
            } => sample_low_rank(shared, left, right, &index),
        };
        Weights::Given {
            weights: drawn.unwrap_or_else(|error| panic!("{}: {error}", self.prefix())),
            index: (0..batch as u32).collect(),
        }
    }
}

/// Every case of one kind of map, on every device.
fn each(conv: bool, source: SourceKind, tracked: Tracked, run: impl Fn(&Subject)) {
    let golden = Golden::open();
    let chosen = |case: &&Case| case.map.conv_options().is_some() == conv;
    assert!(
        golden.cases().iter().filter(chosen).count() >= 3,
        "cases are missing"
    );
    for place in places() {
        let mut cases: Vec<&Case> = golden.cases().iter().filter(chosen).collect();
        if place.kernels == Some(KernelVariant::Gpu) {
            // Matrix products have the same kernels on every adapter. Those of convolutions take long to
            // compile on a software one, so they see half of the cases, and all gradients at once.
            cases.retain(|_| conv && tracked == Tracked::All);
            cases = cases.into_iter().skip(1).step_by(2).collect();
        }
        place.run(|| {
            for case in cases {
                run(&Subject {
                    golden: &golden,
                    case,
                    source,
                    tracked,
                    device_name: place.name,
                    device: place.device.clone().autodiff(),
                });
            }
        });
    }
}

macro_rules! golden_tests {
    ($($name:ident: $conv:expr, $source:ident, $tracked:ident, $run:ident;)*) => {
        $(
            #[test]
            fn $name() {
                each($conv, SourceKind::$source, Tracked::$tracked, |subject| subject.$run());
            }
        )*
    };
}

golden_tests! {
    matmul_given: false, Given, All, run;
    matmul_gaussian: false, Gaussian, All, run;
    matmul_low_rank: false, LowRank, All, run;
    matmul_gaussian_sampled: false, Gaussian, All, run_sampled;
    matmul_low_rank_sampled: false, LowRank, All, run_sampled;
    matmul_given_frozen: false, Given, Input, run;
    matmul_gaussian_frozen: false, Gaussian, Input, run;
    matmul_low_rank_frozen: false, LowRank, Input, run;
    matmul_given_first_layer: false, Given, Parameters, run;
    matmul_gaussian_first_layer: false, Gaussian, Parameters, run;
    matmul_low_rank_first_layer: false, LowRank, Parameters, run;
    conv_given: true, Given, All, run;
    conv_gaussian: true, Gaussian, All, run;
    conv_low_rank: true, LowRank, All, run;
    conv_gaussian_sampled: true, Gaussian, All, run_sampled;
    conv_low_rank_sampled: true, LowRank, All, run_sampled;
    conv_given_frozen: true, Given, Input, run;
    conv_gaussian_frozen: true, Gaussian, Input, run;
    conv_low_rank_frozen: true, LowRank, Input, run;
    conv_given_first_layer: true, Given, Parameters, run;
    conv_gaussian_first_layer: true, Gaussian, Parameters, run;
    conv_low_rank_first_layer: true, LowRank, Parameters, run;
}
