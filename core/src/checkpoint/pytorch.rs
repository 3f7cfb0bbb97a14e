//! Files that `torch.save` writes: a pickle that describes the tensors, and their bytes beside it.

use super::cursor::Cursor;
use super::error::{CheckpointProblem, Outcome, corrupt};
use super::flatten::flatten;
use super::pickle::{self, Pickle, StorageRef, TensorRef, Value};
use super::tensor::{Buffer, Layout, StoredTensor};
use super::zip;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// 0x1950a86a20f9469cfc6c, which the files of PyTorch before 1.6 begin with.
const LEGACY_MAGIC: [u8; 10] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];

/// Where the bytes of each storage are in the file, by key.
type Storages<'a> = BTreeMap<&'a str, Range<usize>>;

/// Reads the archives that PyTorch has written since 1.6.
pub(super) fn read_zip(file: &Arc<Vec<u8>>) -> Outcome<Vec<(String, StoredTensor)>> {
    let entries = zip::entries(file)?;
    // All entries stand in one folder, named after the file.
    let folder = entries
        .iter()
        .filter_map(|entry| entry.name.strip_suffix("data.pkl"))
        .filter(|folder| folder.is_empty() || folder.ends_with('/'))
        .min_by_key(|folder| folder.len());
    let Some(folder) = folder else {
        return Err(CheckpointProblem::UnknownFormat {
            found: "it is a zip archive without `data.pkl`, so not one of PyTorch's".to_owned(),
        });
    };
    let mut named = entries
        .iter()
        .filter_map(|entry| Some((entry.name.strip_prefix(folder)?, entry.range.clone())))
        .collect::<Storages>();
    let contents = |range: Option<&Range<usize>>| {
        let range = range.cloned().unwrap_or_default();
        file.get(range).unwrap_or_default()
    };
    if contents(named.get("byteorder")) == b"big" {
        return Err(big_endian());
    }
    let description = contents(named.get("data.pkl"));
    if description.len() > pickle::MAX_BYTES {
        return Err(pickle::too_large(description.len()));
    }
    let pickle = pickle::read(description)?;
    named.retain(|name, _| name.starts_with("data/"));
    let storages = named
        .into_iter()
        .filter_map(|(name, range)| Some((name.strip_prefix("data/")?, range)))
        .collect();
    tensors(file, &pickle, &storages)
}

/// Whether this is a file of PyTorch before 1.6: a pickled magic number stands first, whose framing
/// depends on the protocol.
pub(super) fn is_legacy(file: &[u8]) -> bool {
    let start = &file[..file.len().min(32)];
    start
        .windows(LEGACY_MAGIC.len())
        .any(|window| window == LEGACY_MAGIC)
}

/// Reads the files of PyTorch before 1.6: pickles of a magic number, a version, the machine, the
/// object and the keys of its storages; then the storages.
pub(super) fn read_legacy(file: &Arc<Vec<u8>>) -> Outcome<Vec<(String, StoredTensor)>> {
    let mut position = 0;
    let mut next = || {
        let pickle = pickle::read(file.get(position..).unwrap_or_default())?;
        position += pickle.length;
        Ok((pickle, position))
    };
    let (magic, _) = next()?;
    if !matches!(magic.root(), Value::Long(span) if magic.raw(span) == LEGACY_MAGIC) {
        return Err(corrupt("it does not begin with PyTorch's magic number"));
    }
    let (version, _) = next()?;
    if !matches!(version.root(), Value::Int(1001)) {
        return Err(corrupt("its version is not 1001, the only one there is"));
    }
    let (machine, _) = next()?;
    if is_big_endian(&machine) {
        return Err(big_endian());
    }
    let (object, _) = next()?;
    let (keys, end) = next()?;
    let storages = legacy_storages(file, &object, &keys, end)?;
    tensors(file, &object, &storages)
}

fn is_big_endian(machine: &Pickle<'_>) -> bool {
    let Value::Dict(place) = machine.root() else {
        return false;
    };
    machine.dict(place).iter().any(|item| match item {
        (Value::Text(key), Value::Bool(false)) => machine.raw(*key) == b"little_endian",
        _ => false,
    })
}

fn big_endian() -> CheckpointProblem {
    CheckpointProblem::Unsupported {
        found: "it was written by a big-endian machine".to_owned(),
        advice: "load and save it again in Python on an ordinary one",
    }
}

/// The storages stand one after the other, each after its number of elements.
fn legacy_storages<'a>(
    file: &[u8],
    object: &Pickle<'a>,
    keys: &Pickle<'a>,
    start: usize,
) -> Outcome<Storages<'a>> {
    let described: BTreeMap<&[u8], &StorageRef> = object
        .storages()
        .iter()
        .map(|storage| (object.raw(storage.key), storage))
        .collect();
    let Value::List(list) = keys.root() else {
        return Err(corrupt("the keys of its storages are not a list"));
    };
    let mut cursor = Cursor::at(file, start as u64, "its storages")?;
    let mut storages = Storages::new();
    for key in keys.list(list) {
        let Value::Text(key) = *key else {
            return Err(corrupt("the key of a storage is not text"));
        };
        let key = keys
            .text(key)
            .ok_or_else(|| corrupt("the key of a storage is not text"))?;
        let storage = described
            .get(key.as_bytes())
            .ok_or_else(|| corrupt(format!("no tensor uses its storage `{key}`")))?;
        let elements = cursor.u64()?;
        if elements != storage.elements {
            return Err(corrupt(format!(
                "its storage `{key}` has {elements} elements instead of {}",
                storage.elements
            )));
        }
        let bytes = storage.dtype.bytes().unwrap_or(1) as u64;
        let begin = cursor.position();
        cursor.take(elements.saturating_mul(bytes))?;
        storages.insert(key, begin..cursor.position());
    }
    Ok(storages)
}

fn tensors(
    file: &Arc<Vec<u8>>,
    pickle: &Pickle<'_>,
    storages: &Storages<'_>,
) -> Outcome<Vec<(String, StoredTensor)>> {
    let named = flatten(pickle)?;
    let stored = named.into_iter().map(|(name, tensor)| {
        let stored = view(file, pickle, storages, &tensor);
        match stored {
            Ok(stored) => Ok((name, stored)),
            Err(reason) => Err(CheckpointProblem::Tensor {
                tensor: name,
                reason,
            }),
        }
    });
    stored.collect()
}

/// The tensor over the bytes of its storage; the error completes a sentence.
fn view(
    file: &Arc<Vec<u8>>,
    pickle: &Pickle<'_>,
    storages: &Storages<'_>,
    tensor: &TensorRef,
) -> Result<StoredTensor, String> {
    let damaged = "the file is damaged or altered; fetch it again";
    let [shape, strides] = pickle
        .extents(tensor)
        .ok_or_else(|| format!("has sizes or strides that are not numbers: {damaged}"))?;
    let storage = pickle
        .storage(tensor.storage)
        .ok_or_else(|| format!("has no storage: {damaged}"))?;
    let key = pickle.text(storage.key).unwrap_or_default();
    let range = storages
        .get(key)
        .ok_or_else(|| format!("lies in storage `{key}`, which the file lacks: {damaged}"))?;
    let offset = tensor.offset.saturating_add(storage.view_offset);
    let layout = Layout {
        shape,
        strides,
        offset: usize::try_from(offset).unwrap_or(usize::MAX),
    };
    let buffer = Buffer::File {
        file: Arc::clone(file),
        range: range.clone(),
    };
    StoredTensor::new(layout, tensor.dtype, buffer, file.len())
}
