//! The flags of a run, which are the run's settings.

mod posterior;
mod training;

use super::{
    choices::{Augment, augmentation},
    exit::BadInput,
};
use anyhow::Result;
use bayesadapter::{
    data::ValidationSplit,
    models::{Architecture, ModelConfig},
    session::{DeviceChoice, PRESETS, RunSettings, TrainingSettings},
};
use clap::Args;
use posterior::PosteriorFlags;
use std::path::{Path, PathBuf};
use training::TrainingFlags;

/// What a run keeps from its start: only device, learning rates, the bound on gradients, what becomes of broken
/// pictures, the threads that read them and the places of its files can change on the way.
const FIXED: [&str; 33] = [
    "model",
    "replace_head",
    "dropout",
    "validation",
    "split_seed",
    "augment",
    "cutout",
    "ood_train",
    "posterior",
    "components",
    "rank",
    "initial_std",
    "initial_log_std",
    "layers",
    "prior",
    "epochs",
    "batch",
    "accumulate",
    "lambda",
    "estimator",
    "natural_gradient",
    "ood_alpha",
    "ood_gamma",
    "ood_batch",
    "freeze_statistics",
    "checkpoint_steps",
    "draws",
    "coverage",
    "seed",
    "out",
    "config",
    "preset",
    // Of a run that is half done nothing is left to plan.
    "dry_run",
];

/// What is not given comes from `--config` or `--preset`, then from the defaults.
#[derive(Args, Clone, Default)]
pub struct RunFlags {
    /// The network, such as resnet20-cifar, wrn-28-10, resnet50, mobilenet_v2 or digits-cnn [default: digits-cnn, or
    /// the preset's].
    #[arg(long, value_name = "NAME", help_heading = "Network")]
    pub model: Option<String>,
    /// Its pre-trained weights: .pt, .pth, .th, .ckpt, .safetensors or a Burn record; nothing in them is executed
    /// [default: none, which only `pretrain` and --dry-run can do without].
    #[arg(long, value_name = "FILE", help_heading = "Network")]
    pub weights: Option<String>,
    /// Replace the last layer when the weights are for another number of classes [default: refuse them].
    #[arg(long, help_heading = "Network")]
    pub replace_head: bool,
    /// Dropout probability at the places of the paper [default: 0].
    #[arg(long, value_name = "P", help_heading = "Network")]
    pub dropout: Option<f64>,

    /// Pictures: CIFAR-10 (folder, tar.gz), IDX files, a folder per class, or `digits` [default: digits, which come
    /// with the program; a preset needs its own].
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub data: Option<String>,
    /// Images to choose settings and calibrate on: a share (0.1) or number (2000) of the training set, of the test set
    /// (test:0.2, test:2000; the rest is scored), or none [default: the data's own, or a fifth of the test set].
    /// Calibration needs images that the pre-training has not seen: a temperature fitted on others is worthless.
    #[arg(long, value_name = "WHICH", help_heading = "Data")]
    pub validation: Option<ValidationSplit>,
    /// Random seed of the splits into training, validation and test images [default: 0, whatever --seed is].
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub split_seed: Option<u64>,
    /// OOD images for the evaluation: on these the network should be unsure [default: none].
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub ood: Option<String>,
    /// OOD images to learn uncertainty from: paths, or generated kinds (noise, blur-jpeg, patches, mixtures, doodles)
    /// [default: none].
    #[arg(
        long,
        value_name = "WHICH",
        value_delimiter = ',',
        help_heading = "Data"
    )]
    pub ood_train: Option<Vec<String>>,
    /// What is done to images in training [default: the preset's, or what suits them: random resized crops of
    /// photographs, crops of smaller images, flips if classes have names rather than numbers; nothing below 16 pixels].
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Data"
    )]
    pub augment: Option<Vec<Augment>>,
    /// Side of the CutOut square in pixels, 0 for none [default: half the side with --augment cutout].
    #[arg(long, value_name = "PIXELS", help_heading = "Data")]
    pub cutout: Option<usize>,
    /// Pass over pictures that cannot be read [default: end with their name].
    #[arg(long, help_heading = "Data")]
    pub skip_broken: bool,
    /// Threads that read pictures ahead; they change no result [default: 1, or as many as there are cores for networks
    /// that see large photographs, which take long to decode].
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub workers: Option<usize>,

    #[command(flatten)]
    pub posterior: PosteriorFlags,
    #[command(flatten)]
    pub training: TrainingFlags,

    /// Draws of the posterior in the evaluation [default: 20, after which the paper sees no change].
    #[arg(long, value_name = "S", help_heading = "Evaluation")]
    pub draws: Option<u32>,
    /// Share of images whose prediction set shall hold their class [default: 0.9].
    #[arg(long, value_name = "SHARE", help_heading = "Evaluation")]
    pub coverage: Option<f64>,

    /// What computes: auto, cpu, gpu or gpu:N [default: auto, a GPU if there is one].
    #[arg(long, value_name = "DEVICE", help_heading = "Run")]
    pub device: Option<DeviceChoice>,
    /// Start of all chance; the same seed gives the same run [default: 0].
    #[arg(long, value_name = "N", help_heading = "Run")]
    pub seed: Option<u64>,
    /// Folder of the run; one that holds a run is never overwritten [default: runs/<model>-<posterior>].
    #[arg(long, value_name = "FOLDER", help_heading = "Run")]
    pub out: Option<PathBuf>,
    /// Go on with the run in this folder, bit for bit. --device, learning rates, --clip-norm, --skip-broken and
    /// --workers can be given with it, and --data, --ood and --weights if the same files are elsewhere now [default: a
    /// new run].
    #[arg(long, value_name = "FOLDER", conflicts_with_all = FIXED, help_heading = "Run")]
    pub resume: Option<PathBuf>,
    /// Settings from a run file, such as the run.toml of another run; flags go before them [default: none].
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "preset",
        help_heading = "Run"
    )]
    pub config: Option<PathBuf>,
    /// Settings of the paper, so that its numbers can be had again; flags go before them [default: none].
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(PRESETS), help_heading = "Run")]
    pub preset: Option<String>,
    /// Print the plan and an estimate of memory and time, and do nothing: to see whether a run fits.
    #[arg(long, help_heading = "Run")]
    pub dry_run: bool,
}

impl RunFlags {
    /// The settings that these flags describe; `start` changes what is neither in a run file nor a flag.
    pub fn settings(&self, start: impl FnOnce(&mut RunSettings)) -> Result<RunSettings> {
        let mut settings = match &self.preset {
            Some(name) => {
                if self.data.is_none() {
                    return Err(BadInput(format!(
                        "the preset {name} needs the pictures that it is for: name them with --data, such as \
                         data/cifar10 after `bayesadapter data get cifar10`"
                    ))
                    .into());
                }
                RunSettings::preset(name)?
            }
            None => RunSettings::default(),
        };
        start(&mut settings);
        let mut workers = self.workers;
        if let Some(file) = &self.config {
            let given = read_run_file(file)?;
            let of_data = given.get("data");
            let says_workers = of_data.is_some_and(|data| data.get("workers").is_some());
            settings = layered(settings, given)?;
            workers = workers.or(says_workers.then_some(settings.data.workers));
        }
        self.apply(&mut settings);
        if self.cutout.is_some() && settings.data.augmentation.is_none() {
            let text = "--cutout needs --augment, to know what else is done to images: such as --augment crop,flip \
                        --cutout 8, or --augment none --cutout 8";
            return Err(BadInput(text.to_owned()).into());
        }
        settings.data.workers = workers.unwrap_or_else(|| usual_workers(input_side(&settings)));
        if settings.training.checkpoint_steps == 0 {
            let text =
                "the steps between saved states (checkpoint_steps) are 0, but must be at least 1";
            return Err(BadInput(text.to_owned()).into());
        }
        Ok(settings)
    }

    /// Chooses mini-batch and epochs for so many training images where nobody has.
    pub fn suit(&self, training: &mut TrainingSettings, examples: usize) {
        if self.config.is_some() || self.preset.is_some() {
            return;
        }
        if self.training.batch.is_none() {
            training.batch = TrainingSettings::usual_batch(examples);
        }
        if self.training.epochs.is_none() {
            let examples_per_step = training.batch.saturating_mul(training.accumulate);
            training.epochs = TrainingSettings::usual_epochs(examples, examples_per_step);
        }
    }

    /// Puts what is given into the settings.
    pub fn apply(&self, settings: &mut RunSettings) {
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
        set(&mut settings.evaluation.draws, &self.draws);
        set(&mut settings.evaluation.coverage, &self.coverage);
        set(&mut settings.device, &self.device);
        set(&mut settings.seed, &self.seed);
        set(&mut settings.model.dropout, &self.dropout);
        set(&mut settings.data.validation, &self.validation);
        set(&mut settings.data.split_seed, &self.split_seed.map(Some));
        set(&mut settings.data.ood_train, &self.ood_train);
        self.posterior.apply(&mut settings.posterior);
        self.training.apply(&mut settings.training);
        if let Some(steps) = &self.augment {
            let augmentation = augmentation(steps, input_side(settings));
            settings.data.augmentation = Some(augmentation);
        }
        if let (Some(side), Some(augmentation)) = (self.cutout, &mut settings.data.augmentation) {
            augmentation.cutout = side;
        }
    }
}

/// Puts what is given in its place.
fn set<T: Clone>(place: &mut T, flag: &Option<T>) {
    if let Some(value) = flag {
        place.clone_from(value);
    }
}

/// A run file, in which every name is known.
fn read_run_file(file: &Path) -> Result<toml::Table> {
    let refuse =
        |problem: &dyn std::fmt::Display| BadInput(format!("{}: {problem}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| refuse(&error))?;
    RunSettings::from_toml(&text).map_err(|error| refuse(&error))?;
    Ok(text
        .parse()
        .map_err(|error: toml::de::Error| refuse(&error))?)
}

/// Settings with those of a run file on top. They must have no optional value that the file could not take back.
fn layered(settings: RunSettings, given: toml::Table) -> Result<RunSettings> {
    fn lay(below: &mut toml::Table, above: toml::Table) {
        for (name, value) in above {
            match (below.get_mut(&name), value) {
                (Some(toml::Value::Table(below)), toml::Value::Table(above)) => lay(below, above),
                (_, value) => {
                    below.insert(name, value);
                }
            }
        }
    }
    let mut table = toml::Table::try_from(settings)?;
    lay(&mut table, given);
    Ok(table.try_into()?)
}

/// Threads that read pictures ahead, unless the user says another number: a photograph takes long to decode, and a
/// small picture less than handing it over.
pub fn usual_workers(side: usize) -> usize {
    match side > 64 {
        true => std::thread::available_parallelism().map_or(1, usize::from),
        false => 1,
    }
}

/// Height of what the network sees.
fn input_side(settings: &RunSettings) -> usize {
    let architecture: Result<Architecture, _> = settings.model.architecture.parse();
    architecture.map_or(32, |architecture| architecture.input_shape()[1])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;
    use bayesadapter::{
        pass::Estimator,
        session::Method,
        train::{FineTuning, Schedule},
    };

    #[test]
    fn every_flag_is_fixed_or_may_change_when_a_run_goes_on() {
        let changing = [
            "weights",
            "data",
            "ood",
            "skip_broken",
            "workers",
            "lr",
            "schedule",
            "variational_lr",
            "variational_schedule",
            "warmup",
            "momentum",
            "nesterov",
            "clip_norm",
            "device",
            "resume",
        ];
        let command = RunFlags::augment_args(clap::Command::new("finetune"));
        let mut flags: Vec<&str> = command
            .get_arguments()
            .map(|flag| flag.get_id().as_str())
            .collect();
        let mut known = [&FIXED[..], &changing].concat();
        flags.sort_unstable();
        known.sort_unstable();
        assert_eq!(flags, known);
    }

    fn preset(name: &str) -> RunSettings {
        let flags = RunFlags {
            preset: Some(name.to_owned()),
            data: Some("pictures".to_owned()),
            ..RunFlags::default()
        };
        flags.settings(|_| ()).unwrap()
    }

    #[test]
    fn presets_are_the_papers_settings() {
        let cases = [
            ("paper-cifar10", "wrn-28-10", 12, 2e-4),
            ("paper-imagenet", "resnet50", 4, 1e-4),
            ("paper-faces", "mobilenet_v2", 4, 5e-4),
        ];
        for (name, network, epochs, lambda) in cases {
            let settings = preset(name);
            let training = &settings.training;
            assert_eq!(settings.model.architecture, network, "{name}");
            assert_eq!((training.epochs, training.batch), (epochs, 256), "{name}");
            assert_eq!(training.lambda, lambda, "{name}");
            let rates = &training.rates;
            assert_eq!((rates.lr, &rates.schedule), (1e-4, &Schedule::Constant));
            assert_eq!(rates.variational_lr, Some(1e-3), "{name}");
            let end = Schedule::Cosine { end: 0.1 };
            assert_eq!(rates.variational_schedule, end, "{name}");
            assert_eq!(rates.nesterov, name == "paper-cifar10");
            let std = if name == "paper-cifar10" { 0.2 } else { 0.1 };
            assert_eq!(settings.posterior.initial_std, Some(std), "{name}");
            assert_eq!(settings.posterior.initial_log_std, Some([-6.0, -5.0]));
            assert_eq!(training.estimator, Estimator::Exemplar, "{name}");
            assert_eq!(settings.evaluation.draws, 20, "{name}");
        }
        let cifar = preset("paper-cifar10").data.augmentation.unwrap();
        assert_eq!(
            (cifar.crop_padding, cifar.flip, cifar.cutout),
            (4, true, 16)
        );
        let cores = std::thread::available_parallelism().unwrap().get();
        assert_eq!(preset("paper-imagenet").data.workers, cores);
        assert_eq!(preset("paper-cifar10").data.workers, 1);
    }

    #[test]
    fn few_images_get_small_batches_and_many_epochs_unless_told_otherwise() {
        let suited = |flags: &RunFlags, examples| {
            let mut training = flags.settings(|_| ()).unwrap().training;
            flags.suit(&mut training, examples);
            (training.batch, training.epochs)
        };
        let mut flags = RunFlags::default();
        assert_eq!(suited(&flags, 50_000), (128, 12));
        assert_eq!(suited(&flags, 164), (32, 67));
        flags.training.batch = Some(100);
        assert_eq!(suited(&flags, 164), (100, 200));
        flags.training.epochs = Some(2);
        assert_eq!(suited(&flags, 164), (100, 2));
        let flags = RunFlags {
            preset: Some("paper-cifar10".to_owned()),
            data: Some("data".to_owned()),
            ..RunFlags::default()
        };
        assert_eq!(suited(&flags, 164), (256, 12));
    }

    #[test]
    fn a_cutout_is_added_to_the_augmentation_that_is_given() {
        let mut flags = RunFlags {
            cutout: Some(8),
            ..RunFlags::default()
        };
        let error = flags.settings(|_| ()).unwrap_err().to_string();
        assert!(error.contains("--augment"), "{error}");
        flags.augment = Some(vec![Augment::Flip]);
        let augmentation = flags.settings(|_| ()).unwrap().data.augmentation.unwrap();
        assert_eq!((augmentation.flip, augmentation.cutout), (true, 8));
        let default = RunFlags::default().settings(|_| ()).unwrap();
        assert_eq!(default.data.augmentation, None, "what suits the images");
    }

    #[test]
    fn a_run_file_lies_over_the_start_and_flags_lie_over_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.toml");
        let text =
            "model.architecture = 'resnet50'\ntraining.epochs = 7\ntraining.rates.lr = 0.3\n";
        std::fs::write(&file, text).unwrap();
        let flags = RunFlags {
            config: Some(file.clone()),
            training: TrainingFlags {
                epochs: Some(9),
                ..TrainingFlags::default()
            },
            ..RunFlags::default()
        };
        let start = |settings: &mut RunSettings| {
            settings.training.rates = FineTuning::from_scratch();
            settings.posterior.method = Method::Map;
        };
        let settings = flags.settings(start).unwrap();
        assert_eq!(settings.training.epochs, 9);
        let scratch = FineTuning::from_scratch();
        assert_eq!(settings.training.rates.lr, 0.3);
        assert_eq!(
            settings.training.rates.schedule, scratch.schedule,
            "of the start"
        );
        assert_eq!(settings.posterior.method, Method::Map, "of the start");
        std::fs::write(&file, format!("{text}data.workers = 3\n")).unwrap();
        assert_eq!(flags.settings(start).unwrap().data.workers, 3);
        std::fs::write(&file, "training.checkpoint_steps = 0").unwrap();
        let error = flags.settings(start).unwrap_err().to_string();
        assert!(error.contains("at least 1"), "{error}");
    }
}
