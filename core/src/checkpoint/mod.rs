//! Pre-trained weights from files of PyTorch, safetensors and Burn, and their way into a network.
//!
//! [`Checkpoint`] reads; [`load_into`] matches names and shapes with a module's parameters, and
//! returns a [`LoadAccount`] of what went where. Files are data: nothing in them is ever executed, and
//! no length they claim is believed before it has been compared with what is there.

mod account;
mod burnpack;
mod cursor;
mod dtype;
mod error;
mod flatten;
mod load;
mod matching;
mod names;
mod nearest;
mod pickle;
mod plan;
mod prefix;
mod pytorch;
mod safetensors;
mod tensor;
mod write;
mod zip;

pub use account::{Applied, LoadAccount, Missing, WrongShape};
pub use dtype::DType;
pub use error::{CheckpointError, CheckpointProblem};
pub use load::{LoadOptions, Rename, load_into};
pub use names::Naming;
pub(crate) use safetensors::{Contained, is_safetensors};
pub use tensor::StoredTensor;
pub use write::to_safetensors;

use crate::disk::{self, Unread};
use error::{Outcome, corrupt};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger files are refused by [`Checkpoint::open`]: they would be read into memory whole.
pub const MAX_FILE_BYTES: u64 = disk::MAX_FILE_BYTES;

/// What kind of file a checkpoint came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Format {
    /// A zip archive, as `torch.save` writes since PyTorch 1.6.
    PytorchZip,
    /// The pickle stream of older versions.
    PytorchLegacy,
    /// <https://huggingface.co/docs/safetensors>.
    Safetensors,
    /// What `module.save_file(..)` of Burn writes.
    Burnpack,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PytorchZip => "PyTorch",
            Self::PytorchLegacy => "PyTorch (before 1.6)",
            Self::Safetensors => "safetensors",
            Self::Burnpack => "Burn record",
        })
    }
}

/// Named tensors of a file, in the file's order.
///
/// Names are paths through the file's dictionaries: a weight that was saved under `state_dict` by a
/// data-parallel model is called `state_dict.module.conv1.weight`. [`load_into`] finds such prefixes by
/// itself.
///
/// ```
/// use bayesadapter::checkpoint::{Checkpoint, DType, Format};
///
/// // A safetensors file of one matrix.
/// let header = br#"{"fc.weight":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]}}"#;
/// let mut file = (header.len() as u64).to_le_bytes().to_vec();
/// file.extend(header);
/// file.extend([0x00, 0x3c, 0x00, 0xc0]);
///
/// let checkpoint = Checkpoint::from_bytes(file)?;
/// assert_eq!(checkpoint.format(), Format::Safetensors);
/// let weight = checkpoint.get("fc.weight").unwrap();
/// assert_eq!((weight.shape(), weight.dtype()), (&[1, 2][..], DType::F16));
/// assert_eq!(checkpoint.to_f32("fc.weight")?, [1.0, -2.0]);
/// # Ok::<(), bayesadapter::checkpoint::CheckpointError>(())
/// ```
pub struct Checkpoint {
    file: Option<PathBuf>,
    format: Format,
    metadata: BTreeMap<String, String>,
    tensors: Vec<(String, StoredTensor)>,
    /// Places in `tensors`, sorted by name.
    by_name: Vec<usize>,
}

impl fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} checkpoint ", self.format)?;
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Checkpoint {
    /// Reads a checkpoint out of memory, as a browser has it. The format is found by content.
    ///
    /// The bytes are kept and tensors stay in them: this costs no second copy of a `Vec`.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self, CheckpointError> {
        Self::read(bytes.into(), None)
    }

    /// Reads a file. The format is found by content, whatever the file is called; one that begins like no checkpoint is
    /// not read any further.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        let path = path.as_ref();
        let bytes =
            read_file(path).map_err(|problem| CheckpointError::in_file(Some(path), problem))?;
        Self::read(bytes, Some(path))
    }

    fn read(bytes: Vec<u8>, file: Option<&Path>) -> Result<Self, CheckpointError> {
        let assemble = || {
            let (format, tensors, metadata) = contents(bytes)?;
            let by_name = sorted(&tensors)?;
            Ok(Self {
                file: file.map(Path::to_path_buf),
                format,
                metadata,
                tensors,
                by_name,
            })
        };
        assemble().map_err(|problem| CheckpointError::in_file(file, problem))
    }

    /// What kind of file this was.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The file, unless the checkpoint came as bytes.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Texts that safetensors files and Burn records carry beside the tensors.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Number of tensors.
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether there is no tensor.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// Names and tensors in the file's order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &StoredTensor)> {
        self.tensors
            .iter()
            .map(|(name, tensor)| (name.as_str(), tensor))
    }

    /// The tensor of this name.
    pub fn get(&self, name: &str) -> Option<&StoredTensor> {
        let found = self
            .by_name
            .binary_search_by(|&place| self.tensors[place].0.as_str().cmp(name));
        found.ok().map(|at| &self.tensors[self.by_name[at]].1)
    }

    /// The values of a tensor in row-major order, converted to f32: floats are rounded, integers
    /// converted, truth values become 0 and 1.
    pub fn to_f32(&self, name: &str) -> Result<Vec<f32>, CheckpointError> {
        let values = || {
            let Some(tensor) = self.get(name) else {
                return Err(CheckpointProblem::NoSuchTensor {
                    tensor: name.to_owned(),
                    nearest: nearest::nearest(name, self.iter().map(|(name, _)| name)),
                });
            };
            tensor
                .to_f32()
                .ok_or_else(|| CheckpointProblem::NotNumbers {
                    tensor: name.to_owned(),
                    dtype: tensor.dtype(),
                })
        };
        values().map_err(|problem| CheckpointError::in_file(self.file(), problem))
    }
}

fn read_file(path: &Path) -> Outcome<Vec<u8>> {
    let is_known = |start: &[u8]| format_of(start).is_some();
    disk::read_bounded(path, is_known).map_err(|unread| match unread {
        Unread::Refused(error) => CheckpointProblem::Read(error),
        Unread::TooLarge { bytes, limit } => CheckpointProblem::TooLarge {
            what: "the file",
            bytes,
            limit,
            advice: "save the weights without the optimiser's state, or as float16",
        },
        Unread::Stranger { start } => unknown(&start),
    })
}

type Contents = (
    Format,
    Vec<(String, StoredTensor)>,
    BTreeMap<String, String>,
);

/// The format of a file that begins like this.
fn format_of(start: &[u8]) -> Option<Format> {
    if burnpack::is_burnpack(start) {
        Some(Format::Burnpack)
    } else if is_safetensors(start) {
        Some(Format::Safetensors)
    } else if start.starts_with(b"PK") {
        Some(Format::PytorchZip)
    } else if pytorch::is_legacy(start) {
        Some(Format::PytorchLegacy)
    } else {
        None
    }
}

fn contents(bytes: Vec<u8>) -> Outcome<Contents> {
    let format = format_of(&bytes).ok_or_else(|| unknown(&bytes))?;
    let (tensors, metadata) = match format {
        Format::Burnpack => burnpack::read(bytes)?,
        Format::Safetensors => safetensors::read(&Arc::new(bytes))?,
        Format::PytorchZip => (pytorch::read_zip(&Arc::new(bytes))?, BTreeMap::new()),
        Format::PytorchLegacy => (pytorch::read_legacy(&Arc::new(bytes))?, BTreeMap::new()),
    };
    Ok((format, tensors, metadata))
}

/// Says what the bytes look like: most often a page, a pointer or another format in their place.
fn unknown(file: &[u8]) -> CheckpointProblem {
    let start = &file[..file.len().min(16)];
    let is_tar = file.get(257..262) == Some(b"ustar");
    let unsupported = |found: &str, advice| CheckpointProblem::Unsupported {
        found: found.to_owned(),
        advice,
    };
    if is_tar {
        return unsupported(
            "it is a tar archive, the format of PyTorch before 0.1.10",
            "load and save it again with a later PyTorch",
        );
    }
    if start.first() == Some(&0x80) {
        return unsupported(
            "it is a pickle that torch.save did not write",
            "save the weights with torch.save(model.state_dict(), ..)",
        );
    }
    let found = if file.is_empty() {
        "it is empty".to_owned()
    } else if start.starts_with(b"version https://") {
        "it is a Git LFS pointer; fetch the file itself with `git lfs pull`".to_owned()
    } else if start.trim_ascii_start().starts_with(b"<") {
        "it is a web page, not the file behind it".to_owned()
    } else {
        format!("it begins with \"{}\"", start.escape_ascii())
    };
    CheckpointProblem::UnknownFormat { found }
}

fn sorted(tensors: &[(String, StoredTensor)]) -> Outcome<Vec<usize>> {
    let mut places: Vec<usize> = (0..tensors.len()).collect();
    places.sort_by_key(|&place| &tensors[place].0);
    let name = |place: &usize| &tensors[*place].0;
    let twice = places
        .windows(2)
        .find(|pair| name(&pair[0]) == name(&pair[1]));
    match twice {
        Some(pair) => Err(corrupt(format!(
            "two tensors are called `{}`",
            name(&pair[0])
        ))),
        None => Ok(places),
    }
}
