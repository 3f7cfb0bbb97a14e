//! An op with random geometry and random tensors, and what it computes: value and gradients.

use bayesadapter::ops::{
    Conv2dWeights, ConvOptions, MatmulWeights, NoiseKey, OpError, Padding, Weights,
    exemplar_conv2d, exemplar_matmul, fill_normals, reference,
};
use burn::tensor::{Device, Gradients, Tensor, TensorData};

/// One of the three weight sources.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SourceKind {
    Given,
    Gaussian,
    LowRank { rank: usize },
}

/// Either op with all its sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Matmul {
        x: [usize; 3],
        outputs: usize,
    },
    Conv2d {
        x: [usize; 4],
        weight: [usize; 4],
        options: ConvOptions,
    },
}

/// Everything that determines the inputs of one op.
#[derive(Clone, Debug)]
pub struct Problem {
    pub shape: Shape,
    pub source: SourceKind,
    /// Number of weights or components.
    pub slots: usize,
    pub bias: bool,
    pub seed: u64,
}

/// Who computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum By {
    Kernels,
    Reference,
}

/// Named tensors as plain numbers: `y` first, then the gradient of each input.
pub type Results = Vec<(String, Vec<f32>)>;

/// Small whole numbers from a key, for random geometry.
pub struct Dice {
    key: NoiseKey,
    thrown: u32,
}

impl Dice {
    pub fn new(seed: u64) -> Self {
        let key = NoiseKey {
            seed,
            parameter: u32::MAX,
            ..Default::default()
        };
        Self { key, thrown: 0 }
    }

    /// A number from `low..=high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        self.thrown += 1;
        let uniform = self.key.uniform(0, self.thrown);
        low + (uniform * (high - low + 1) as f32) as usize
    }

    fn shape(&mut self) -> Shape {
        if self.between(0, 2) == 0 {
            let rows = [1, 1, 2, 3, 9][self.between(0, 4)];
            let outputs = [[1, 64], [1, 64], [65, 140]][self.between(0, 2)];
            return Shape::Matmul {
                x: [self.between(1, 9), rows, self.between(1, 70)],
                outputs: self.between(outputs[0], outputs[1]),
            };
        }
        let groups = [1, 1, 1, 2, 3, 5][self.between(0, 5)];
        let inputs = self.between(1, if groups == 1 { 19 } else { 3 });
        let outputs = self.between(1, if groups == 1 { 19 } else { 3 });
        let kernel = [self.between(1, 4), self.between(1, 4)];
        let dilation = [self.between(1, 2), self.between(1, 2)];
        let span = |axis: usize| (kernel[axis] - 1) * dilation[axis] + 1;
        let image = [0, 1].map(|axis| self.between(span(axis), span(axis) + 12));
        let options = ConvOptions {
            stride: [self.between(1, 4), self.between(1, 4)],
            dilation,
            padding: Padding {
                top: self.between(0, 3),
                bottom: self.between(0, 3),
                left: self.between(0, 3),
                right: self.between(0, 3),
            },
            groups,
        };
        Shape::Conv2d {
            x: [self.between(1, 6), groups * inputs, image[0], image[1]],
            weight: [groups * outputs, inputs, kernel[0], kernel[1]],
            options,
        }
    }

    /// A random op with a given source.
    pub fn problem(&mut self, source: SourceKind) -> Problem {
        Problem {
            shape: self.shape(),
            source,
            slots: self.between(1, 4),
            bias: self.between(0, 1) == 1,
            seed: self.key.seed,
        }
    }
}

/// Tensors of a problem on one device, in the order in which they are asked for.
struct Inputs<'a> {
    problem: &'a Problem,
    device: &'a Device,
    /// Steps along the random direction of each input, for finite differences.
    shift: &'a dyn Fn(usize) -> f32,
    made: usize,
}

impl Inputs<'_> {
    fn values(&mut self, len: usize, spread: f32, centre: f32) -> Vec<f32> {
        let values = direction(self.problem, self.made, len, 0);
        let along = direction(self.problem, self.made, len, 1);
        let shift = (self.shift)(self.made);
        self.made += 1;
        let moved = values.iter().zip(along);
        moved
            .map(|(value, along)| centre + spread * value + shift * along)
            .collect()
    }

    fn tensor<const D: usize>(&mut self, shape: [usize; D], spread: f32, centre: f32) -> Tensor<D> {
        let values = self.values(shape.iter().product(), spread, centre);
        Tensor::from_data(TensorData::new(values, shape), self.device).require_grad()
    }

    fn weights<const W: usize, const K: usize>(
        &mut self,
        weight: [usize; W],
        fan: [usize; 2],
        batch: usize,
    ) -> Weights<W, K> {
        let slots = self.problem.slots;
        let mut dice = Dice::new(self.problem.seed ^ 0x5107);
        let index = (0..batch)
            .map(|_| dice.between(0, slots - 1) as u32)
            .collect();
        match self.problem.source {
            SourceKind::Given => {
                let mut shape = [slots; K];
                shape[1..].copy_from_slice(&weight);
                Weights::Given {
                    weights: self.tensor(shape, 1.0, 0.0),
                    index,
                }
            }
            SourceKind::Gaussian => Weights::Gaussian {
                mu: self.tensor(weight, 1.0, 0.0),
                psi: self.tensor(weight, 0.3, -1.0),
                key: NoiseKey {
                    seed: self.problem.seed,
                    draw: 5,
                    parameter: 9,
                    first_example: 3,
                },
            },
            SourceKind::LowRank { rank } => Weights::LowRank {
                shared: self.tensor(weight, 1.0, 0.0),
                left: self.tensor([slots, fan[0], rank], 0.5, 1.0),
                right: self.tensor([slots, rank, fan[1]], 0.5, 1.0),
                index,
            },
        }
    }
}

/// Reproducible normals for input `input`: its values (`which` = 0) or a direction to move it in.
pub fn direction(problem: &Problem, input: usize, len: usize, which: u32) -> Vec<f32> {
    let key = NoiseKey {
        seed: problem.seed,
        draw: which,
        parameter: 100 + input as u32,
        first_example: 0,
    };
    let mut values = vec![0.0; len];
    fill_normals(&key, 0, 0, &mut values);
    values
}

/// The loss `sum(y * probe)` with fixed random probes, and the results behind it.
pub struct Outcome {
    pub loss: f64,
    pub results: Results,
}

impl Problem {
    /// Value and gradients on an autodiff device.
    pub fn run(&self, by: By, device: &Device) -> Result<Outcome, OpError> {
        self.run_shifted(by, device, &|_| 0.0)
    }

    /// The same with input `i` moved by `shift(i)` along its [`direction`].
    pub fn run_shifted(
        &self,
        by: By,
        device: &Device,
        shift: &dyn Fn(usize) -> f32,
    ) -> Result<Outcome, OpError> {
        let device = device.clone().autodiff();
        let mut inputs = Inputs {
            problem: self,
            device: &device,
            shift,
            made: 0,
        };
        match self.shape {
            Shape::Matmul { x, outputs } => {
                let batch = x[0];
                let fan = [x[2], outputs];
                let x = inputs.tensor(x, 1.0, 0.0);
                let weights: MatmulWeights = inputs.weights(fan, fan, batch);
                let bias = self.bias.then(|| inputs.tensor([batch, outputs], 1.0, 0.0));
                let call = match by {
                    By::Kernels => exemplar_matmul,
                    By::Reference => reference::exemplar_matmul,
                };
                let y = call(x.clone(), weights.clone(), bias.clone())?;
                Ok(self.outcome(y, x, weights, bias))
            }
            Shape::Conv2d { x, weight, options } => {
                let batch = x[0];
                let [o, i, kh, kw] = weight;
                let x = inputs.tensor(x, 1.0, 0.0);
                let weights: Conv2dWeights = inputs.weights(weight, [i * kh * kw, o], batch);
                let bias = self.bias.then(|| inputs.tensor([batch, o], 1.0, 0.0));
                let call = match by {
                    By::Kernels => exemplar_conv2d,
                    By::Reference => reference::exemplar_conv2d,
                };
                let y = call(x.clone(), weights.clone(), bias.clone(), options)?;
                Ok(self.outcome(y, x, weights, bias))
            }
        }
    }

    fn outcome<const X: usize, const W: usize, const K: usize>(
        &self,
        y: Tensor<X>,
        x: Tensor<X>,
        weights: Weights<W, K>,
        bias: Option<Tensor<2>>,
    ) -> Outcome {
        let shape = y.dims();
        let probe = direction(self, usize::MAX >> 40, shape.iter().product(), 2);
        let probe_tensor = Tensor::from_data(TensorData::new(probe.clone(), shape), &y.device());
        let gradients = (y.clone() * probe_tensor).sum().backward();
        let y = crate::values(y);
        let loss = y
            .iter()
            .zip(&probe)
            .map(|(y, p)| f64::from(*y) * f64::from(*p));
        let mut results = vec![("y".to_owned(), Vec::new())];
        let mut add = |name: &str, values: Vec<f32>| results.push((format!("d {name}"), values));
        add("x", gradient(&x, &gradients));
        match &weights {
            Weights::Given { weights, .. } => add("weights", gradient(weights, &gradients)),
            Weights::Gaussian { mu, psi, .. } => {
                add("mu", gradient(mu, &gradients));
                add("psi", gradient(psi, &gradients));
            }
            Weights::LowRank {
                shared,
                left,
                right,
                ..
            } => {
                add("shared", gradient(shared, &gradients));
                add("left", gradient(left, &gradients));
                add("right", gradient(right, &gradients));
            }
        }
        if let Some(bias) = &bias {
            add("bias", gradient(bias, &gradients));
        }
        let loss = loss.sum();
        results[0].1 = y;
        Outcome { loss, results }
    }
}

fn gradient<const D: usize>(tensor: &Tensor<D>, gradients: &Gradients) -> Vec<f32> {
    match tensor.grad(gradients) {
        Some(gradient) => crate::values(gradient),
        None => panic!("no gradient reached a tensor of shape {:?}", tensor.dims()),
    }
}
