//! Reading.

use super::{
    FileError, HEADER, Header,
    header::Stored as StoredHeader,
    tensors::{self, Fill, Stored},
};
use crate::{
    disk,
    models::Network,
    posterior::{Bayes, IntoBayes, Posterior, conversion_account},
};
use burn::{module::Module, tensor::Device};
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;

/// A posterior file that was read and found whole.
#[derive(Clone, Debug)]
pub struct PosteriorFile {
    header: Header,
    posterior: Posterior,
    tensors: BTreeMap<String, Stored>,
}

impl PosteriorFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// No such file, and what [`from_bytes`](Self::from_bytes) returns.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let bytes = disk::read(path).map_err(|error| FileError::Io {
            path: path.display().to_string(),
            error,
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
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(FileError::of_format)?;
        let texts = metadata.metadata().as_ref();
        let text = texts.and_then(|texts| texts.get(HEADER));
        let text = text.ok_or(FileError::NoPosterior)?;
        let parts = text.split_once('\n');
        let (expected, json) = parts.ok_or(FileError::Header("it has one line".to_owned()))?;
        // The version before all else: what follows may look different in a later one.
        let StoredHeader {
            posterior, header, ..
        } = StoredHeader::from_json(json)?;
        let file = SafeTensors::deserialize(bytes).map_err(FileError::of_format)?;
        let mut tensors = BTreeMap::new();
        for (path, view) in file.iter() {
            if view.dtype() != Dtype::F32 {
                let found = view.dtype();
                return Err(FileError::Tensors(format!("{path} is {found:?}, not F32")));
            }
            let values = view.data().chunks_exact(4);
            let stored = Stored {
                shape: view.shape().to_vec(),
                values: values
                    .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
                    .collect(),
            };
            tensors.insert(path.to_owned(), stored);
        }
        let found = tensors::checksum(json, &tensors);
        if found != expected {
            let expected = expected.to_owned();
            return Err(FileError::Checksum { found, expected });
        }
        Ok(Self {
            header,
            posterior,
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
        let network = architecture.ok_or(FileError::OwnNetwork)?.init(device)?;
        self.into_bayes_of(network)
    }

    /// The posterior on a network of the user's own, whose parameters are replaced.
    ///
    /// # Errors
    ///
    /// Tensors that are not those of the network.
    pub fn into_bayes_of<M: Module>(self, network: M) -> Result<Bayes<M>, FileError> {
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
        let of_file: usize = self
            .tensors
            .values()
            .map(|tensor| tensor.values.len())
            .sum();
        let of_network = tensors::lazy_elements(network);
        let refuse = |needed: usize| {
            let text = format!("its header asks for {needed} numbers, and it holds {of_file}");
            Err(FileError::Tensors(text))
        };
        if of_network > of_file {
            return refuse(of_network);
        }
        let needed = conversion_account(network, &self.posterior)?.parameters_after;
        if needed > of_file {
            return refuse(needed);
        }
        Ok(())
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
