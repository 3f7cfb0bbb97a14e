//! Mini-batches of a data set.

use super::augment::Preparer;
use super::dice::{Dice, Purpose};
use super::epoch::Epoch;
use super::{DataError, Dataset, Preparation};
use crate::ops::NoiseKey;
use burn::tensor::{Device, Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The most pixel values in a batch: 2 GiB of them.
const MAX_VALUES: usize = 1 << 29;
const MAX_WORKERS: usize = 1024;

/// How mini-batches are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchSettings {
    /// Examples per batch; the last one of an epoch may have fewer.
    pub batch: usize,
    /// Another order in every epoch; otherwise that of the data set.
    pub shuffle: bool,
    /// Of order and augmentation.
    pub seed: u64,
    /// What is done to pictures.
    pub preparation: Preparation,
    /// Leaves broken pictures out, and names them in [`Batch::skipped`]; otherwise they are errors.
    pub skip_broken: bool,
    /// Threads that make batches ahead; 0 makes each when it is asked for, as in a browser.
    pub workers: usize,
}

impl BatchSettings {
    /// In order, seed 0, no broken pictures, a worker per processor but one.
    pub fn new(batch: usize, preparation: Preparation) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            batch,
            shuffle: false,
            seed: 0,
            preparation,
            skip_broken: false,
            workers: if cfg!(target_family = "wasm") {
                0
            } else {
                (processors - 1).max(1)
            },
        }
    }
}

/// A data set in mini-batches, as often as one likes.
///
/// ```
/// use bayesadapter::data::{BatchSettings, Batches, Preparation, Split, digits};
/// use bayesadapter::models::Normalisation;
/// use std::sync::Arc;
///
/// let preparation = Preparation::new([1, 8, 8], Normalisation::digits(1));
/// let batches = Batches::new(Arc::new(digits(Split::Test)), BatchSettings::new(100, preparation))?;
/// assert_eq!((batches.examples(), batches.len()), (355, 4));
/// let last = batches.epoch(0, 3).next().expect("the fourth batch")?;
/// assert_eq!(last.shape, [55, 1, 8, 8]);
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
#[derive(Clone)]
pub struct Batches {
    maker: Arc<Maker>,
}

impl Batches {
    /// Checks that batches can be made.
    ///
    /// # Errors
    ///
    /// Settings out of range, an empty data set, and labels without a class.
    pub fn new(dataset: Arc<dyn Dataset>, settings: BatchSettings) -> Result<Self, DataError> {
        let preparer = Preparer::new(settings.preparation.clone())?;
        if dataset.is_empty() {
            return Err(DataError::Empty {
                place: "the data set".to_owned(),
            });
        }
        if u32::try_from(dataset.len()).is_err() {
            let needed = "at most 4,294,967,295 are told apart";
            return Err(DataError::setting(
                "the number of pictures",
                dataset.len(),
                needed,
            ));
        }
        let classes = dataset.class_names().len();
        let labels = (0..dataset.len()).map(|picture| (picture, dataset.label(picture)));
        if let Some((picture, label)) = labels
            .into_iter()
            .find(|(_, label)| *label as usize >= classes)
        {
            return Err(DataError::Label {
                file: dataset.name(picture),
                picture,
                label,
                classes,
            });
        }
        let most = MAX_VALUES / settings.preparation.shape.iter().product::<usize>();
        if !(1..=most.max(1)).contains(&settings.batch) {
            let needed = format!("1 to {} pictures of this size make a batch", most.max(1));
            return Err(DataError::setting("batch", settings.batch, needed));
        }
        if settings.workers > MAX_WORKERS {
            let needed = format!("at most {MAX_WORKERS} threads are started");
            return Err(DataError::setting("workers", settings.workers, needed));
        }
        Ok(Self {
            maker: Arc::new(Maker {
                dataset,
                settings,
                preparer,
            }),
        })
    }

    /// Batches per epoch.
    #[allow(clippy::len_without_is_empty, reason = "there is always at least one")]
    pub fn len(&self) -> usize {
        self.examples().div_ceil(self.maker.settings.batch)
    }

    /// Pictures per epoch.
    pub fn examples(&self) -> usize {
        self.maker.dataset.len()
    }

    /// The data set.
    pub fn dataset(&self) -> &Arc<dyn Dataset> {
        &self.maker.dataset
    }

    /// How the batches are made.
    pub fn settings(&self) -> &BatchSettings {
        &self.maker.settings
    }

    /// The batches of an epoch from number `first_batch` on, the same ones as in an epoch from its beginning.
    pub fn epoch(&self, epoch: u32, first_batch: usize) -> Epoch {
        let order = self.maker.order(epoch);
        Epoch::start(self.maker.clone(), order, epoch, first_batch..self.len())
    }
}

/// Makes batches from positions in an order.
pub(super) struct Maker {
    dataset: Arc<dyn Dataset>,
    pub settings: BatchSettings,
    preparer: Preparer,
}

impl Maker {
    /// The examples of an epoch in their order: sorted by a random number that each draws for itself.
    fn order(&self, epoch: u32) -> Arc<[u32]> {
        let examples = 0..self.dataset.len() as u32;
        if !self.settings.shuffle {
            return examples.collect();
        }
        let key = self.key(epoch, Purpose::Order);
        let draw = |example: u32| {
            let [high, low, ..] = key.bits(example, 0);
            (u64::from(high) << 32 | u64::from(low), example)
        };
        let mut drawn: Vec<(u64, u32)> = examples.map(draw).collect();
        drawn.sort_unstable();
        drawn.into_iter().map(|(_, example)| example).collect()
    }

    fn key(&self, epoch: u32, purpose: Purpose) -> NoiseKey {
        NoiseKey {
            seed: self.settings.seed,
            draw: epoch,
            parameter: purpose as u32,
            first_example: 0,
        }
    }

    /// Batch `index` of an epoch. `stopped` is asked before every picture; what is returned then is never seen.
    pub fn make(
        &self,
        order: &[u32],
        epoch: u32,
        index: usize,
        stopped: impl Fn() -> bool,
    ) -> Result<Batch, DataError> {
        let size = self.settings.batch;
        let chosen = &order[index * size..order.len().min((index + 1) * size)];
        let [channels, height, width] = self.settings.preparation.shape;
        let values = channels * height * width;
        let augmented = self.settings.preparation.augmentation != Default::default();
        let mut batch = Batch {
            index,
            images: Vec::with_capacity(chosen.len() * values),
            shape: [0, channels, height, width],
            labels: Vec::with_capacity(chosen.len()),
            examples: Vec::with_capacity(chosen.len()),
            skipped: Vec::new(),
        };
        for &example in chosen.iter().take_while(|_| !stopped()) {
            let picture = match self.dataset.picture(example as usize) {
                Ok(picture) => picture,
                Err(DataError::Broken { name, reason }) if self.settings.skip_broken => {
                    batch.skipped.push(format!("{name} ({reason})"));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let key = NoiseKey {
                first_example: example,
                ..self.key(epoch, Purpose::Augmentation)
            };
            let first = batch.images.len();
            batch.images.resize(first + values, 0.0);
            let dice = augmented.then(|| Dice::new(key));
            self.preparer
                .write(&picture, dice, &mut batch.images[first..])?;
            batch.labels.push(self.dataset.label(example as usize));
            batch.examples.push(example as usize);
        }
        batch.shape[0] = batch.labels.len();
        Ok(batch)
    }
}

/// One mini-batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Which one of its epoch.
    pub index: usize,
    /// Normalised values, `shape` row by row.
    pub images: Vec<f32>,
    /// Examples, channels, height, width.
    pub shape: [usize; 4],
    /// A class per example.
    pub labels: Vec<u32>,
    /// Which pictures of the data set these are.
    pub examples: Vec<usize>,
    /// The broken pictures that were left out, with the reason. Nothing else is in a batch whose pictures are all
    /// broken.
    pub skipped: Vec<String>,
}

impl Batch {
    /// Images `[B, C, H, W]` and labels `[B]` on a device.
    pub fn to_tensors(&self, device: &Device) -> (Tensor<4>, Tensor<1, Int>) {
        let images = TensorData::new(self.images.clone(), self.shape);
        let labels: Vec<i32> = self.labels.iter().map(|&label| label as i32).collect();
        let labels = TensorData::new(labels, [self.labels.len()]);
        (
            Tensor::from_data(images, device),
            Tensor::from_data(labels, device),
        )
    }
}
