//! A run at one moment, as bytes: the posterior, the optimiser's velocities, and where in the data the run is.

use crate::{
    checkpoint::Contained,
    file::{FileError, Header, PosteriorFile},
    read,
};
use burn::tensor::{Device, Tensor, TensorData};
use safetensors::{Dtype, tensor::TensorView};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{borrow::Cow, collections::BTreeMap};
use xxhash_rust::xxh3::Xxh3;

/// Where a run is. Data order, augmentation and noise are functions of it, so nothing else needs to be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Steps of the optimiser that are done.
    pub step: usize,
    /// The current epoch, from 0 on.
    pub epoch: u32,
    /// Mini-batches of the current epoch that are done, with those of which nothing could be read.
    pub batch: usize,
}

/// A run that was stopped, read from its bytes.
pub struct TrainState {
    /// The posterior as it was.
    pub posterior: PosteriorFile,
    /// Where the run was.
    pub position: Position,
    /// What the run's owner wrote beside it, as TOML.
    notes: String,
    velocities: BTreeMap<String, Vec<f32>>,
}

/// Key of the text in the metadata: a line with a checksum, then JSON.
const TEXT: &str = "bayesadapter-run";
const POSTERIOR: &str = "posterior";
const VELOCITY: &str = "velocity.";

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    position: Position,
    /// TOML, whose reader returns every number as it was; that of JSON may miss the last bit.
    notes: String,
}

/// The part of it that every version has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

const VERSION: u32 = 1;

/// The bytes of a run. `notes` is whatever the run's owner wants to find again.
pub(super) async fn to_bytes(
    posterior: &[u8],
    velocities: &BTreeMap<String, Tensor<1>>,
    position: Position,
    notes: &impl Serialize,
) -> Result<Vec<u8>, FileError> {
    let header = |error: serde_json::Error| FileError::Header(error.to_string());
    let notes = toml::to_string(notes).map_err(|error| FileError::Header(error.to_string()))?;
    let text = serde_json::to_string(&Stored {
        version: VERSION,
        position,
        notes,
    })
    .map_err(header)?;
    let mut tensors = vec![(Cow::Borrowed(POSTERIOR), Dtype::U8, posterior.to_vec())];
    for (path, velocity) in velocities {
        let values = read::values(velocity.clone()).await?;
        let bytes = bytemuck::cast_slice(&values).to_vec();
        tensors.push((Cow::Owned(format!("{VELOCITY}{path}")), Dtype::F32, bytes));
    }
    let contents = tensors.iter().map(|(name, _, bytes)| (&**name, &**bytes));
    let metadata = (
        TEXT.to_owned(),
        format!("{}\n{text}", checksum(&text, contents)),
    );
    let views = tensors.iter().map(|(name, dtype, bytes)| {
        let elements = bytes.len() / (dtype.bitsize() / 8);
        let view = TensorView::new(*dtype, vec![elements], bytes);
        Ok((&**name, view.map_err(FileError::of_format)?))
    });
    let views: Vec<(&str, TensorView<'_>)> = views.collect::<Result<_, FileError>>()?;
    safetensors::serialize(views, Some([metadata].into_iter().collect()))
        .map_err(FileError::of_format)
}

impl TrainState {
    /// Reads the bytes that [`Trainer::save`](super::Trainer::save) made.
    ///
    /// # Errors
    ///
    /// Anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        let mut contained = Contained::read(bytes)?;
        let text = contained.metadata.remove(TEXT);
        let text = text.ok_or(FileError::Header("this is not a saved run".to_owned()))?;
        let parts = text.split_once('\n');
        let (expected, json) = parts.ok_or(FileError::Header("it has one line".to_owned()))?;
        let damaged = |error: serde_json::Error| FileError::Header(error.to_string());
        // The version before all else: what follows may look different in a later one.
        let Version { version } = serde_json::from_str(json).map_err(damaged)?;
        if version > VERSION {
            return Err(FileError::Newer {
                found: version,
                known: VERSION,
            });
        }
        let placed = contained.tensors()?;
        let mut tensors: Vec<(&str, &[u8])> = placed
            .iter()
            .map(|placed| (&*placed.name, &bytes[placed.range.clone()]))
            .collect();
        tensors.sort_by_key(|(name, _)| (*name != POSTERIOR, *name));
        let found = checksum(json, tensors.iter().copied());
        if found != expected {
            let expected = expected.to_owned();
            return Err(FileError::Checksum { found, expected });
        }
        let stored: Stored = serde_json::from_str(json).map_err(damaged)?;
        let Some((POSTERIOR, posterior)) = tensors.first() else {
            return Err(FileError::Tensors(format!("{POSTERIOR} is missing")));
        };
        let velocities = tensors.iter().filter_map(|(name, bytes)| {
            let (words, _) = bytes.as_chunks::<4>();
            let values = words.iter().map(|word| f32::from_le_bytes(*word));
            Some((name.strip_prefix(VELOCITY)?.to_owned(), values.collect()))
        });
        Ok(Self {
            posterior: PosteriorFile::from_bytes(posterior)?,
            position: stored.position,
            notes: stored.notes,
            velocities: velocities.collect(),
        })
    }

    /// The posterior file within the bytes of a run.
    ///
    /// # Errors
    ///
    /// Other bytes.
    pub fn posterior_in(bytes: &[u8]) -> Result<&[u8], FileError> {
        let placed = Contained::read(bytes)?.tensors()?;
        let posterior = placed.iter().find(|placed| placed.name == POSTERIOR);
        let posterior =
            posterior.ok_or_else(|| FileError::Tensors(format!("{POSTERIOR} is missing")))?;
        Ok(&bytes[posterior.range.clone()])
    }

    /// What was written beside the run.
    ///
    /// # Errors
    ///
    /// Notes of another kind.
    pub fn notes<T: DeserializeOwned>(&self) -> Result<T, FileError> {
        toml::from_str(&self.notes).map_err(|error| FileError::Header(error.to_string()))
    }

    /// What the posterior's file says of the network.
    pub fn header(&self) -> &Header {
        self.posterior.header()
    }

    pub(super) fn velocities(&self, device: &Device) -> BTreeMap<String, Tensor<1>> {
        let device = device.clone().without_autodiff();
        let velocities = self.velocities.iter();
        velocities
            .map(|(path, values)| {
                let data = TensorData::new(values.clone(), [values.len()]);
                (path.clone(), Tensor::from_data(data, &device))
            })
            .collect()
    }
}

/// Of the text and of every tensor with its name, lengths included, so that no byte can move from one field into
/// the next.
fn checksum<'a>(text: &str, tensors: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut hash = Xxh3::new();
    let mut add = |bytes: &[u8]| {
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(text.as_bytes());
    for (name, bytes) in tensors {
        add(name.as_bytes());
        add(bytes);
    }
    format!("{:032x}", hash.digest128())
}
