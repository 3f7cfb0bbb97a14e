//! Reading.

use super::{
    FileError, HEADER, Header,
    frozen::Freeze,
    header::Stored as StoredHeader,
    tensors::{self, Fill, Stored},
};
use crate::{
    checkpoint::{Contained, DType, is_safetensors},
    disk::{self, Unread},
    models::{ModelConfig, Network},
    posterior::{Bayes, IntoBayes, Posterior, conversion_account},
};
use burn::{module::Module, tensor::Device};
use std::collections::BTreeMap;

/// A posterior file that was read and found whole.
#[derive(Clone, Debug)]
pub struct PosteriorFile {
    header: Header,
    posterior: Posterior,
    frozen: Vec<String>,
    tensors: BTreeMap<String, Stored>,
}

impl PosteriorFile {
    /// Reads a file. One that begins like none of this format is not read any further.
    ///
    /// # Errors
    ///
    /// No such file, one of more than 16 GiB, and what [`from_bytes`](Self::from_bytes) returns.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let bytes = disk::read_bounded(path, is_safetensors).map_err(|unread| match unread {
            Unread::Refused(error) => FileError::Io {
                path: path.display().to_string(),
                error,
            },
            Unread::TooLarge { bytes, limit } => FileError::TooLarge { bytes, limit },
            Unread::Stranger { .. } => {
                FileError::Format("it begins like no safetensors file".to_owned())
            }
        })?;
        Self::from_bytes(bytes)
    }

    /// Reads a file's content.
    ///
    /// # Errors
    ///
    /// Anything that is not a whole posterior file of a version that we know.
    pub fn from_bytes(bytes: impl AsRef<[u8]>) -> Result<Self, FileError> {
        let bytes = bytes.as_ref();
        let mut contained = Contained::read(bytes)?;
        let text = contained.metadata.remove(HEADER);
        let text = text.ok_or(FileError::NoPosterior)?;
        let parts = text.split_once('\n');
        let (expected, json) = parts.ok_or(FileError::Header("it has one line".to_owned()))?;
        // The version before all else: what follows may look different in a later one.
        let StoredHeader {
            posterior,
            frozen,
            header,
            ..
        } = StoredHeader::from_json(json)?;
        let mut tensors = BTreeMap::new();
        for placed in contained.tensors()? {
            let path = placed.name.clone();
            if placed.dtype != DType::F32 {
                let found = placed.dtype;
                return Err(FileError::Tensors(format!(
                    "{path} is {found}, not float32"
                )));
            }
            let (words, _) = bytes[placed.range.clone()].as_chunks::<4>();
            let stored = Stored {
                shape: placed.shape().to_vec(),
                values: words.iter().map(|word| f32::from_le_bytes(*word)).collect(),
            };
            if tensors.insert(path.clone(), stored).is_some() {
                return Err(FileError::Tensors(format!("it has {path} twice")));
            }
        }
        let found = tensors::checksum(json, &tensors);
        if found != expected {
            let expected = expected.to_owned();
            return Err(FileError::Checksum { found, expected });
        }
        Ok(Self {
            header,
            posterior,
            frozen,
            tensors,
        })
    }

    /// What the file says about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The settings of the posterior, with the prior and the number of training examples.
    pub fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    /// The network with its posterior, for architectures of this library.
    ///
    /// # Errors
    ///
    /// A network of the user's own, and tensors that are not those of the network.
    pub fn into_network(self, device: &Device) -> Result<Bayes<Network>, FileError> {
        let architecture = self.header.architecture.clone();
        let architecture = architecture.ok_or(FileError::OwnNetwork)?;
        architecture.validate()?;
        self.check_holds(architecture.scalars())?;
        self.into_bayes_of(architecture.init(device)?)
    }

    /// The posterior on a network of the user's own, whose parameters are replaced. Those that were frozen before
    /// the conversion are frozen again.
    ///
    /// # Errors
    ///
    /// Tensors that are not those of the network.
    pub fn into_bayes_of<M: Module>(self, network: M) -> Result<Bayes<M>, FileError> {
        let network = network.map(&mut Freeze::new(&self.frozen));
        self.check_size(&network)?;
        let bayes = network.into_bayes(self.posterior)?;
        let expected = tensors::shapes(bayes.network());
        let found = self.tensors.iter();
        let found: BTreeMap<String, Vec<usize>> = found
            .map(|(path, tensor)| (path.clone(), tensor.shape.clone()))
            .collect();
        if let Some(difference) = difference(&expected, &found) {
            return Err(FileError::Tensors(difference));
        }
        Ok(bayes.with_network_mapped(&mut Fill::new(self.tensors)))
    }

    /// Refuses a header that asks for more than the file holds, before memory is taken for it.
    fn check_size<M: Module>(&self, network: &M) -> Result<(), FileError> {
        self.check_holds(tensors::lazy_elements(network) as u64)?;
        let account = conversion_account(network, &self.posterior)?;
        self.check_holds(account.parameters_after as u64)
    }

    fn check_holds(&self, needed: u64) -> Result<(), FileError> {
        let tensors = self.tensors.values();
        let held: u64 = tensors.map(|tensor| tensor.values.len() as u64).sum();
        if needed <= held {
            return Ok(());
        }
        let text = format!("its header asks for {needed} numbers, and it holds {held}");
        Err(FileError::Tensors(text))
    }
}

/// The first difference, in words.
fn difference(
    expected: &BTreeMap<String, Vec<usize>>,
    found: &BTreeMap<String, Vec<usize>>,
) -> Option<String> {
    for (path, shape) in expected {
        match found.get(path) {
            None => return Some(format!("{path} is missing")),
            Some(other) if other != shape => {
                return Some(format!("{path} has shape {other:?}, not {shape:?}"));
            }
            Some(_) => {}
        }
    }
    let unknown = found.keys().find(|path| !expected.contains_key(*path))?;
    Some(format!("{unknown} is not part of the network"))
}
