//! Estimates of training steps: against the measured peak, without a trace on the network, and with errors.

use bayesadapter::{
    estimate::{Advice, EstimateError, OodBatch, TrainingPlan},
    models::{
        Architecture, CifarResNetConfig, DenseNetConfig, MlpConfig, MobileNetV2Config, Network,
        WideResNetConfig,
    },
    pass::{Estimator, Pass, PassError},
    posterior::{Bayes, IntoBayes, LowRankEnsemble, MeanField, Posterior},
    predict::Classifier,
    train::FineTuning,
};
use bayesadapter_tests::{Counting, values, wgpu};
use burn::{
    module::Module,
    nn::{Linear, LinearConfig, loss::CrossEntropyLossConfig},
    optim::GradientsParams,
    tensor::{Device, Int, Tensor},
};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Tests in this file run one by one: the peak of one must not be that of another.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A ResNet-20 of fewer channels.
fn thin() -> Architecture {
    Architecture::CifarResNet(CifarResNetConfig {
        width: 8,
        ..CifarResNetConfig::new(20, 10)
    })
}

fn converted(
    architecture: &Architecture,
    posterior: impl Into<Posterior>,
    device: &Device,
) -> Bayes<Network> {
    let network = architecture.init(device).expect("a possible network");
    network.into_bayes(posterior).expect("a plain network")
}

/// The most bytes that are allocated at once in the second step of training, which has momentum already.
fn measured_peak(architecture: &Architecture, posterior: Posterior, plan: &TrainingPlan<4>) -> u64 {
    let device = Device::flex().autodiff();
    let before = Counting::live();
    let mut bayes = converted(architecture, posterior, &device);
    let mut optimizer = FineTuning::default().optimizer();
    let mut peak = 0;
    for step in 0..2 {
        let held = Counting::live() - before;
        let (stepped, more) = Counting::peak_of(|| {
            let x = Tensor::ones(plan.batch, &device);
            let labels = Tensor::<1, Int>::zeros([plan.batch[0]], &device);
            let pass = Pass::train(plan.estimator, step);
            let logits = bayes.run(pass, |network| network.forward(x)).unwrap();
            let loss = CrossEntropyLossConfig::new().init(&device);
            let gradients = loss.forward(logits, labels).backward();
            let gradients = GradientsParams::from_grads(gradients, &bayes);
            let gradients = bayes.with_complexity(gradients).unwrap();
            optimizer.step(1e-3, bayes, gradients)
        });
        bayes = stepped;
        peak = held + more;
    }
    peak as u64
}

/// The estimate, as a share of what was measured.
fn ratio(architecture: &Architecture, posterior: &Posterior, plan: &TrainingPlan<4>) -> f64 {
    let bayes = converted(architecture, posterior.clone(), &Device::flex());
    let estimate = bayes.estimate(plan).expect("a network that can be trained");
    let peak = measured_peak(architecture, posterior.clone(), plan);
    let ratio = estimate.memory.total() as f64 / peak as f64;
    println!("{architecture:?}, {posterior:?}: {ratio:.2} of {peak} bytes, {estimate}");
    ratio
}

#[test]
fn memory_is_that_of_real_steps() {
    let _alone = alone();
    let mean_field = Posterior::from(MeanField::fine_tune(50_000));
    let ensemble = Posterior::from(LowRankEnsemble::fine_tune(50_000));
    for (posterior, estimator) in [
        (&mean_field, Estimator::Vanilla),
        (&mean_field, Estimator::Exemplar),
        (&mean_field, Estimator::Local),
        (&mean_field, Estimator::Flipout),
        (&ensemble, Estimator::Vanilla),
        (&ensemble, Estimator::Exemplar),
    ] {
        for batch in [8, 48] {
            let plan = TrainingPlan::new([batch, 3, 32, 32], estimator);
            let ratio = ratio(&thin(), posterior, &plan);
            assert!((1.0 / 1.2..=1.2).contains(&ratio), "{ratio}");
        }
    }
}

#[test]
fn memory_of_other_families() {
    let _alone = alone();
    let mobile = MobileNetV2Config {
        width: 0.35,
        ..MobileNetV2Config::new(10)
    };
    let dense = DenseNetConfig {
        growth: 8,
        ..DenseNetConfig::new(121, 10)
    };
    for (architecture, input) in [
        (
            Architecture::WideResNet(WideResNetConfig::new(10, 1, 10)),
            [3, 32, 32],
        ),
        (Architecture::DenseNet(dense), [3, 64, 64]),
        (Architecture::MobileNetV2(mobile), [3, 64, 64]),
        (
            Architecture::Mlp(MlpConfig::new([1, 16, 16], vec![512, 512], 10)),
            [1, 16, 16],
        ),
    ] {
        for posterior in [
            Posterior::from(MeanField::fine_tune(50_000)),
            LowRankEnsemble::fine_tune(50_000).into(),
        ] {
            let [channels, height, width] = input;
            let batch = [8, channels, height, width];
            let plan = TrainingPlan::new(batch, Estimator::Exemplar);
            let ratio = ratio(&architecture, &posterior, &plan);
            assert!((1.0 / 1.5..=1.5).contains(&ratio), "{ratio}");
        }
    }
}

#[test]
fn an_adapter_bounds_single_tensors() {
    let _alone = alone();
    let architecture = Architecture::Mlp(MlpConfig::new([1, 4, 4], vec![8], 3));
    let bayes = converted(&architecture, MeanField::fine_tune(100), &wgpu());
    let plan = TrainingPlan::new([16, 1, 4, 4], Estimator::Exemplar);
    let estimate = bayes
        .estimate(&plan)
        .expect("a network that can be trained");
    assert!(estimate.tensor_limit > Some(estimate.largest_tensor));
    assert!(estimate.time.is_some());
    // The host tells of its memory, which is that of adapters without one of their own; a GPU does not.
    let is_cpu = estimate.advice.contains(&Advice::Cpu);
    assert_eq!(
        estimate.memory_limit.is_some(),
        is_cpu && cfg!(target_os = "linux")
    );
}

fn tensors(bayes: &Bayes<Network>) -> Vec<Vec<f32>> {
    let entries = bayes.inventory().entries.into_iter();
    entries.map(|entry| values(entry.value)).collect()
}

#[test]
fn the_network_stays_as_it_is() {
    let _alone = alone();
    for device in [Device::flex(), Device::flex().autodiff()] {
        let bayes = converted(&thin(), MeanField::fine_tune(50_000), &device);
        let x = Tensor::<4>::ones([2, 3, 32, 32], &device);
        let logits = || {
            let pass =
                Pass::train(Estimator::Exemplar, 3).with_mode(bayesadapter::pass::Mode::Evaluate);
            values(
                bayes
                    .run(pass, |network| network.forward(x.clone()))
                    .unwrap(),
            )
        };
        let before = (tensors(&bayes), logits());
        let plan = TrainingPlan::new([4, 3, 32, 32], Estimator::Exemplar);
        let estimate = bayes
            .estimate(&plan)
            .expect("a network that can be trained");
        assert!((tensors(&bayes), logits()) == before);
        let time = estimate.time.expect("a batch that fits");
        assert!(time.seconds_per_step > 0.0);
        let epoch = 12_500.0 * time.seconds_per_step;
        assert!((time.seconds_per_epoch - epoch).abs() < 1e-6 * epoch);
    }
}

#[test]
fn parameters_are_counted_to_the_byte() {
    let _alone = alone();
    let device = Device::flex();
    let plan = TrainingPlan::new([1, 3, 32, 32], Estimator::Exemplar);
    for posterior in [
        Posterior::from(MeanField::fine_tune(50_000)),
        LowRankEnsemble::fine_tune(50_000).into(),
    ] {
        let bayes = converted(&thin(), posterior, &device);
        let memory = bayes.estimate(&plan).unwrap().memory;
        let trained = 4 * bayes.account().parameters_after as u64;
        assert_eq!((memory.gradients, memory.optimizer), (trained, trained));
        let all = 4 * bayes.num_params() as u64;
        assert_eq!(memory.parameters, all);
    }
}

#[test]
fn an_ood_image_counts_as_two_examples() {
    let _alone = alone();
    let architecture = Architecture::Mlp(MlpConfig::new([1, 4, 4], vec![8], 3));
    let bayes = converted(&architecture, MeanField::fine_tune(1_000), &Device::flex());
    let plan = |examples| TrainingPlan::new([examples, 1, 4, 4], Estimator::Exemplar);
    let plain = bayes.estimate(&plan(192)).unwrap();
    let ood = bayes.estimate(&plan(128).with_ood_batch(OodBatch::Count(32)));
    let ood = ood.unwrap();
    assert_eq!((ood.batch, ood.ood_batch), (128, 32));
    assert_eq!(ood.memory, plain.memory);
    assert_eq!(ood.largest_tensor, plain.largest_tensor);
    let time = ood.time.expect("a batch that fits");
    assert_eq!(time.measured.last().map(|(rows, _)| *rows), Some(192));
    assert_eq!(time.seconds_per_epoch, 8.0 * time.seconds_per_step);
}

#[test]
fn a_tight_budget_gets_advice_that_fits() {
    let _alone = alone();
    let bayes = converted(&thin(), MeanField::fine_tune(50_000), &Device::flex());
    let plan = TrainingPlan::new([100, 3, 32, 32], Estimator::Local);
    let free = bayes.estimate(&plan.with_memory_bytes(u64::MAX)).unwrap();
    assert_eq!((free.fits(), &free.advice[..]), (Some(true), &[][..]));
    let limit = free.memory.total() * 6 / 10;
    let tight = bayes.estimate(&plan.with_memory_bytes(limit)).unwrap();
    assert_eq!(tight.fits(), Some(false));
    let Some(&Advice::SmallerBatch { batch }) = tight.advice.first() else {
        panic!("{tight}");
    };
    assert!(
        tight
            .advice
            .iter()
            .any(|advice| matches!(advice, Advice::Exemplar { bytes } if *bytes <= limit)),
        "{tight}"
    );
    let smaller = TrainingPlan::new([batch, 3, 32, 32], Estimator::Local);
    let smaller = bayes.estimate(&smaller.with_memory_bytes(limit)).unwrap();
    assert_eq!(smaller.fits(), Some(true), "{smaller}");
    let text = serde_json::to_string(&tight).expect("JSON");
    let read: bayesadapter::estimate::Estimate =
        serde_json::from_str(&text).expect("what was written");
    assert_eq!(read.advice, tight.advice);
    let nothing = bayes.estimate(&plan.with_memory_bytes(1_000)).unwrap();
    assert!(matches!(nothing.advice[..], [Advice::NothingFits { .. }]));
    assert_eq!(nothing.time, None);
}

#[derive(Module, Debug)]
struct Stock {
    layer: Linear,
}

impl Classifier<2> for Stock {
    fn logits(&self, x: Tensor<2>) -> Tensor<2> {
        self.layer.forward(x)
    }
}

#[test]
fn stock_layers_are_named_as_not_counted() {
    let _alone = alone();
    let layer = LinearConfig::new(3, 2).init(&Device::flex());
    let bayes = Stock { layer }
        .into_bayes(MeanField::fine_tune(10))
        .unwrap();
    let plan = TrainingPlan::new([4, 3], Estimator::Vanilla);
    let estimate = bayes.estimate(&plan).unwrap();
    let weights = vec!["layer.weight".to_owned()];
    assert_eq!(estimate.advice, [Advice::Uncounted { weights }]);
}

#[test]
fn impossible_plans_are_refused() {
    let _alone = alone();
    let bayes = converted(&thin(), LowRankEnsemble::fine_tune(50_000), &Device::flex());
    let estimate = |batch, estimator| bayes.estimate(&TrainingPlan::new(batch, estimator));
    let empty = estimate([0, 3, 32, 32], Estimator::Exemplar).unwrap_err();
    assert_eq!(empty, EstimateError::EmptyBatch(vec![0, 3, 32, 32]));
    let channels = estimate([2, 5, 32, 32], Estimator::Exemplar).unwrap_err();
    assert!(matches!(channels, EstimateError::Pass(_)), "{channels}");
    let local = estimate([2, 3, 32, 32], Estimator::Local).unwrap_err();
    let refused = matches!(local, EstimateError::Pass(PassError::Estimator { .. }));
    assert!(refused, "{local}");
}
