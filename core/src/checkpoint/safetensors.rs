//! The safetensors format: the length of a JSON header, the header, the bytes of the tensors.
//!
//! Not through the `safetensors` crate: its 0.8 adds offsets that a file claims without a check, which
//! panics in debug builds.

use super::DType;
use super::cursor::Cursor;
use super::error::{CheckpointProblem, Outcome, corrupt};
use super::tensor::{Buffer, Layout, StoredTensor};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The format's own limit.
const MAX_HEADER_BYTES: u64 = 100_000_000;

/// Tensors and metadata of a file.
type Contents = (Vec<(String, StoredTensor)>, BTreeMap<String, String>);

/// Whether the bytes begin like this format: a length, then the brace that opens the header.
pub(crate) fn is_safetensors(file: &[u8]) -> bool {
    let mut cursor = Cursor::new(file, "");
    let length = cursor.u64();
    length.is_ok_and(|length| length <= MAX_HEADER_BYTES) && cursor.u8().is_ok_and(|c| c == b'{')
}

pub(super) fn read(file: &Arc<Vec<u8>>) -> Outcome<Contents> {
    let mut contents = Contained::read(file)?;
    let metadata = std::mem::take(&mut contents.metadata);
    let tensors = contents.tensors()?.into_iter().map(|placed| {
        let Placed {
            name,
            dtype,
            layout,
            range,
        } = placed;
        let buffer = Buffer::File {
            file: Arc::clone(file),
            range,
        };
        match StoredTensor::new(layout, dtype, buffer, file.len()) {
            Ok(tensor) => Ok((name, tensor)),
            Err(reason) => Err(CheckpointProblem::Tensor {
                tensor: name,
                reason,
            }),
        }
    });
    Ok((tensors.collect::<Outcome<_>>()?, metadata))
}

/// What a file says that it contains.
pub(crate) struct Contained {
    /// Texts beside the tensors.
    pub(crate) metadata: BTreeMap<String, String>,
    entries: Vec<(String, Entry)>,
    /// Where in the file the bytes of the tensors start, and how many there are.
    start: usize,
    present: u64,
}

/// A tensor whose place and size have been compared with the file's.
pub(crate) struct Placed {
    pub(crate) name: String,
    pub(crate) dtype: DType,
    layout: Layout,
    /// Where in the file its bytes are.
    pub(crate) range: Range<usize>,
}

impl Placed {
    /// Sizes of the axes.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.layout.shape
    }
}

impl Contained {
    /// Reads the header; its tensors are still to be looked at.
    pub(crate) fn read(file: &[u8]) -> Outcome<Self> {
        let mut cursor = Cursor::new(file, "its header");
        let length = cursor.u64()?;
        let header = cursor.take(length)?;
        let header: Header = serde_json::from_slice(header).map_err(|error| {
            corrupt(format!(
                "its header is not what the format prescribes: {error}"
            ))
        })?;
        Ok(Self {
            metadata: header.metadata,
            entries: header.tensors,
            start: cursor.position(),
            present: cursor.remaining() as u64,
        })
    }

    /// The tensors in the order of their bytes.
    pub(crate) fn tensors(self) -> Outcome<Vec<Placed>> {
        let Self {
            mut entries,
            start,
            present,
            ..
        } = self;
        entries.sort_by_key(|(_, entry)| entry.data_offsets);
        check_places(&entries, present)?;
        let placed = entries.into_iter().map(|(name, entry)| {
            placed(&name, start, entry).map_err(|reason| CheckpointProblem::Tensor {
                tensor: name,
                reason,
            })
        });
        placed.collect()
    }
}

/// The format allows neither holes nor overlaps.
fn check_places(entries: &[(String, Entry)], present: u64) -> Outcome<()> {
    let mut expected = 0;
    for (name, entry) in entries {
        let (begin, end) = entry.data_offsets;
        if begin != expected || end < begin {
            return Err(CheckpointProblem::Tensor {
                tensor: name.clone(),
                reason: format!(
                    "occupies bytes {begin}..{end}, but the one before it ends at {expected}: the file is damaged or \
                     altered; fetch it again"
                ),
            });
        }
        expected = end;
    }
    if expected > present {
        return Err(CheckpointProblem::Truncated {
            what: "its tensors".to_owned(),
            needed: expected,
            present,
        });
    }
    if expected < present {
        return Err(corrupt(format!(
            "{} bytes follow its last tensor",
            present - expected
        )));
    }
    Ok(())
}

fn placed(name: &str, start: usize, entry: Entry) -> Result<Placed, String> {
    // Both ends have been compared with the length of the file.
    let (begin, end) = entry.data_offsets;
    let range = start + begin as usize..start + end as usize;
    let bytes = range.len();
    let dtype = dtype(&entry.dtype)
        .ok_or_else(|| format!("has type {}, which the format does not know", entry.dtype))?;
    let sizes = entry.shape.iter().map(|&size| usize::try_from(size));
    let layout = sizes
        .collect::<Result<Vec<usize>, _>>()
        .ok()
        .and_then(Layout::row_major)
        .ok_or_else(|| format!("has shape {:?}, which no machine can hold", entry.shape))?;
    if let Some(size) = dtype.bytes() {
        let needed = layout.elements().and_then(|count| count.checked_mul(size));
        if needed != Some(bytes) {
            return Err(format!(
                "has shape {:?} of {dtype}, but {bytes} bytes: the file is damaged or altered; fetch it again",
                layout.shape
            ));
        }
    }
    Ok(Placed {
        name: name.to_owned(),
        dtype,
        layout,
        range,
    })
}

fn dtype(name: &str) -> Option<DType> {
    Some(match name {
        "F64" => DType::F64,
        "F32" => DType::F32,
        "F16" => DType::F16,
        "BF16" => DType::BF16,
        "I64" => DType::I64,
        "I32" => DType::I32,
        "I16" => DType::I16,
        "I8" => DType::I8,
        "U64" => DType::U64,
        "U32" => DType::U32,
        "U16" => DType::U16,
        "U8" => DType::U8,
        "BOOL" => DType::Bool,
        "C64" => DType::Complex,
        name if name.starts_with("F8_") || name.starts_with("F6_") || name == "F4" => {
            DType::Minifloat
        }
        _ => return None,
    })
}

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

#[derive(Default)]
struct Header {
    tensors: Vec<(String, Entry)>,
    metadata: BTreeMap<String, String>,
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(HeaderVisitor)
    }
}

struct HeaderVisitor;

impl<'de> Visitor<'de> for HeaderVisitor {
    type Value = Header;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
        let mut header = Header::default();
        while let Some(name) = map.next_key::<String>()? {
            if name == "__metadata__" {
                header.metadata = map.next_value()?;
            } else {
                header.tensors.push((name, map.next_value()?));
            }
        }
        Ok(header)
    }
}
