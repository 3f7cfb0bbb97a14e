//! The flags of a run, which are the run's settings.

use super::exit::BadInput;
use anyhow::{Context, Result};
use bayesadapter::{
    pass::Estimator,
    posterior::{PriorMean, Select},
    session::{DeviceChoice, Method, PRESETS, RunSettings},
};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What a run keeps from its start: only device, learning rates and the bound on gradients can change on the way.
const FIXED: [&str; 25] = [
    "model",
    "weights",
    "replace_head",
    "data",
    "ood",
    "augment",
    "skip_broken",
    "workers",
    "posterior",
    "components",
    "rank",
    "layers",
    "prior",
    "epochs",
    "batch",
    "accumulate",
    "lambda",
    "estimator",
    "freeze_statistics",
    "checkpoint_steps",
    "draws",
    "seed",
    "out",
    "config",
    "preset",
];

/// What is not given comes from `--config`, then from `--preset`, then from the defaults.
#[derive(Args, Clone, Default)]
pub struct RunFlags {
    /// The network, such as resnet20-cifar, wrn-28-10, resnet50, mobilenet_v2 or digits-cnn.
    #[arg(long, value_name = "NAME", help_heading = "Network")]
    pub model: Option<String>,
    /// Its pre-trained weights: .pt, .pth, .th, .ckpt, .safetensors or a Burn record. Nothing in them is executed.
    #[arg(long, value_name = "FILE", help_heading = "Network")]
    pub weights: Option<String>,
    /// Replace the last layer when the weights are for another number of classes [default: refuse them].
    #[arg(long, help_heading = "Network")]
    pub replace_head: bool,

    /// Pictures: CIFAR-10 (folder, tar.gz), IDX files, a folder per class, or `digits` [default: digits].
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub data: Option<String>,
    /// Pictures of another kind, for the report: on these the network should be unsure.
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub ood: Option<String>,
    /// What is done to pictures in training [default: none, or the preset's].
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Data"
    )]
    pub augment: Option<Vec<Augment>>,
    /// Pass over pictures that cannot be read [default: end with their name].
    #[arg(long, help_heading = "Data")]
    pub skip_broken: bool,
    /// Threads that read pictures ahead [default: 1]; more for large photographs.
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub workers: Option<usize>,

    /// What the weights become [default: pse]. PSE is the more accurate in the paper, MFG the classic.
    #[arg(long, value_enum, help_heading = "Posterior")]
    pub posterior: Option<PosteriorFlag>,
    /// Members of a PSE ensemble [default: 20, as in the paper].
    #[arg(long, value_name = "C", help_heading = "Posterior")]
    pub components: Option<usize>,
    /// Rank of the PSE factors [default: 1: in the paper more rank gains nothing].
    #[arg(long, value_name = "R", help_heading = "Posterior")]
    pub rank: Option<usize>,
    /// Which weights become Bayesian: all, last, or path patterns such as 'layer4.*,fc.*' [default: all].
    #[arg(long, value_name = "WHICH", help_heading = "Posterior")]
    pub layers: Option<String>,
    /// Centre of the MFG prior: zero, or the pre-trained weights (MOPED) [default: zero].
    #[arg(long, value_enum, help_heading = "Posterior")]
    pub prior: Option<PriorFlag>,

    /// Passes over the data [default: 12, the paper's for CIFAR-10].
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub epochs: Option<u32>,
    /// Pictures in a mini-batch [default: 128].
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub batch: Option<usize>,
    /// Mini-batches per step [default: 1]; more for a large batch in little memory.
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub accumulate: Option<usize>,
    /// The weight decay of the pre-training, which is the prior: keep its value [default: 1e-4].
    #[arg(
        long,
        value_name = "X",
        allow_negative_numbers = true,
        help_heading = "Training"
    )]
    pub lambda: Option<f64>,
    /// How the likelihood is estimated [default: exemplar, whose gradients are the calmest].
    #[arg(long, value_enum, help_heading = "Training")]
    pub estimator: Option<EstimatorFlag>,
    /// Learning rate of the pre-trained weights [default: 8e-4: they are good already; pretrain: 0.1, falling].
    #[arg(
        long,
        value_name = "X",
        allow_negative_numbers = true,
        help_heading = "Training"
    )]
    pub mean_rate: Option<f64>,
    /// First learning rate of what is new, spreads and factors [default: 0.1, falling to 8e-4].
    #[arg(
        long,
        value_name = "X",
        allow_negative_numbers = true,
        help_heading = "Training"
    )]
    pub spread_rate: Option<f64>,
    /// Bound on the norm of the gradients [default: none]; 1 tames a run that diverges.
    #[arg(
        long,
        value_name = "X",
        allow_negative_numbers = true,
        help_heading = "Training"
    )]
    pub clip_norm: Option<f64>,
    /// Leave running statistics of batch norm as they are [default: update them, as the paper does].
    #[arg(long, help_heading = "Training")]
    pub freeze_statistics: bool,
    /// Steps between saved states [default: 100]; one is saved after each epoch too.
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub checkpoint_steps: Option<usize>,

    /// Draws of the posterior in the evaluation [default: 20, after which the paper sees no change].
    #[arg(long, value_name = "S", help_heading = "Evaluation")]
    pub draws: Option<u32>,

    /// What computes: auto, cpu, gpu or gpu:N [default: auto, a GPU if there is one].
    #[arg(long, value_name = "DEVICE", help_heading = "Run")]
    pub device: Option<DeviceChoice>,
    /// Start of all chance; the same seed gives the same run [default: 0].
    #[arg(long, value_name = "N", help_heading = "Run")]
    pub seed: Option<u64>,
    /// Folder of the run [default: runs/<model>-<posterior>].
    #[arg(long, value_name = "FOLDER", help_heading = "Run")]
    pub out: Option<PathBuf>,
    /// Go on with the run in this folder, bit for bit; other learning rates and --clip-norm can be given with it.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = FIXED, help_heading = "Run")]
    pub resume: Option<PathBuf>,
    /// Settings from a run file, such as the run.toml of another run.
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub config: Option<PathBuf>,
    /// Settings of the paper.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(PRESETS), help_heading = "Run")]
    pub preset: Option<String>,
    /// Print the plan and an estimate of memory and time, and do nothing.
    #[arg(long, help_heading = "Run")]
    pub dry_run: bool,
}

/// A step of augmentation.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Augment {
    /// Nothing.
    None,
    /// Shift by up to an eighth of the side.
    Crop,
    /// Mirror left and right.
    Flip,
    /// Hide a square of half the side.
    Cutout,
    /// Random part of a photograph, as for ImageNet.
    ResizedCrop,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum PosteriorFlag {
    /// Mean-field Gaussian.
    Mfg,
    /// Parameter-sharing ensemble.
    Pse,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum PriorFlag {
    /// Zero.
    Zero,
    /// The pre-trained weights (MOPED).
    Pretrained,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum EstimatorFlag {
    /// One weight per mini-batch.
    Vanilla,
    /// One weight per picture.
    Exemplar,
    /// The pre-activation is drawn; MFG only.
    Local,
    /// One perturbation with random signs per picture; MFG only.
    Flipout,
}

impl RunFlags {
    /// The settings that these flags describe.
    pub fn settings(&self) -> Result<RunSettings> {
        let mut settings = match (&self.config, &self.preset) {
            (Some(file), _) => {
                let text = std::fs::read_to_string(file)
                    .with_context(|| format!("{} cannot be read", file.display()))?;
                RunSettings::from_toml(&text)
                    .map_err(|error| BadInput(format!("{}: {error}", file.display())))?
            }
            (None, Some(name)) => {
                RunSettings::preset(name).map_err(|error| BadInput(error.to_string()))?
            }
            (None, None) => RunSettings::default(),
        };
        self.apply(&mut settings);
        Ok(settings)
    }

    /// Whether other learning rates are asked for.
    pub fn changes_rates(&self) -> bool {
        self.mean_rate.is_some() || self.spread_rate.is_some()
    }

    /// Puts what is given into the settings.
    pub fn apply(&self, settings: &mut RunSettings) {
        fn set<T: Clone>(place: &mut T, flag: &Option<T>) {
            if let Some(value) = flag {
                place.clone_from(value);
            }
        }
        set(&mut settings.model.architecture, &self.model);
        set(&mut settings.model.weights, &self.weights.clone().map(Some));
        settings.model.replace_head |= self.replace_head;
        set(&mut settings.data.path, &self.data);
        set(
            &mut settings.data.out_of_distribution,
            &self.ood.clone().map(Some),
        );
        settings.data.skip_broken |= self.skip_broken;
        set(&mut settings.data.workers, &self.workers);
        set(&mut settings.posterior.components, &self.components);
        set(&mut settings.posterior.rank, &self.rank);
        set(&mut settings.training.epochs, &self.epochs);
        set(&mut settings.training.batch, &self.batch);
        set(&mut settings.training.accumulate, &self.accumulate);
        set(&mut settings.training.lambda, &self.lambda);
        set(&mut settings.training.rates.mean_rate, &self.mean_rate);
        set(&mut settings.training.rates.spread_rate, &self.spread_rate);
        set(&mut settings.training.clip_norm, &self.clip_norm.map(Some));
        set(
            &mut settings.training.checkpoint_steps,
            &self.checkpoint_steps,
        );
        set(&mut settings.evaluation.draws, &self.draws);
        set(&mut settings.device, &self.device);
        set(&mut settings.seed, &self.seed);
        self.apply_choices(settings);
    }

    fn apply_choices(&self, settings: &mut RunSettings) {
        if let Some(posterior) = self.posterior {
            settings.posterior.method = match posterior {
                PosteriorFlag::Mfg => Method::Mfg,
                PosteriorFlag::Pse => Method::Pse,
            };
        }
        if let Some(prior) = self.prior {
            settings.posterior.prior = match prior {
                PriorFlag::Zero => PriorMean::Zero,
                PriorFlag::Pretrained => PriorMean::Pretrained,
            };
        }
        if let Some(estimator) = self.estimator {
            settings.training.estimator = match estimator {
                EstimatorFlag::Vanilla => Estimator::Vanilla,
                EstimatorFlag::Exemplar => Estimator::Exemplar,
                EstimatorFlag::Local => Estimator::Local,
                EstimatorFlag::Flipout => Estimator::Flipout,
            };
        }
        if let Some(layers) = &self.layers {
            settings.posterior.layers = match layers.as_str() {
                "all" => Select::All,
                "last" => Select::LastLayer,
                patterns => Select::paths(patterns.split(',')),
            };
        }
        if let Some(steps) = &self.augment {
            settings.data.augmentation = augmentation(steps, settings);
        }
        if self.freeze_statistics {
            settings.training.running_statistics = bayesadapter::train::RunningStatistics::Freeze;
        }
    }
}

/// Sizes of the paper's settings for 32 x 32, in proportion to the network's input.
fn augmentation(steps: &[Augment], settings: &RunSettings) -> bayesadapter::data::Augmentation {
    use bayesadapter::models::{Architecture, ModelConfig};
    let architecture: Result<Architecture, _> = settings.model.architecture.parse();
    let side = architecture.map_or(32, |architecture| architecture.input_shape()[1]);
    let has = |step| steps.contains(&step);
    bayesadapter::data::Augmentation {
        crop_padding: if has(Augment::Crop) { side / 8 } else { 0 },
        flip: has(Augment::Flip),
        cutout: if has(Augment::Cutout) { side / 2 } else { 0 },
        resized_crop: has(Augment::ResizedCrop)
            .then(bayesadapter::data::Augmentation::imagenet)
            .and_then(|imagenet| imagenet.resized_crop),
    }
}
