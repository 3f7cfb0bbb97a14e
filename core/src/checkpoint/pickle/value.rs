//! What a pickle describes.

use super::globals::Global;
use crate::checkpoint::DType;

/// A range of the pickle's own bytes. Strings stay there, so that they cost nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::checkpoint) struct Span {
    pub(super) start: u32,
    pub(super) length: u32,
}

/// A Python value; containers are places in [`Pickle`]. Small and `Copy`, so that a pickle of one-byte
/// instructions cannot grow to many times its size.
#[derive(Clone, Copy, Debug)]
pub(in crate::checkpoint) enum Value {
    Bool(bool),
    Int(i64),
    /// An integer of more than 64 bits, as its little-endian bytes.
    Long(Span),
    Text(Span),
    Tuple(Span),
    List(u32),
    Dict(u32),
    Global(Global),
    Storage(u32),
    Tensor(u32),
    /// Anything that weights do not need to know: numbers, bytes, sets, harmless objects.
    Opaque,
}

/// A storage that the pickle refers to; its bytes are elsewhere in the file.
#[derive(Clone, Copy, Debug)]
pub(in crate::checkpoint) struct StorageRef {
    pub(in crate::checkpoint) key: Span,
    pub(in crate::checkpoint) dtype: DType,
    pub(in crate::checkpoint) elements: u64,
    /// Elements to skip in the root storage (files of PyTorch before 0.4 have views of storages).
    pub(in crate::checkpoint) view_offset: u64,
}

/// A tensor as a view of a storage. Sizes and strides are tuples of the pickle.
#[derive(Clone, Copy, Debug)]
pub(in crate::checkpoint) struct TensorRef {
    pub(in crate::checkpoint) storage: u32,
    pub(in crate::checkpoint) dtype: DType,
    pub(in crate::checkpoint) offset: u64,
    pub(super) shape: Span,
    pub(super) strides: Span,
}

/// A pickle that has been read.
pub(in crate::checkpoint) struct Pickle<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) tuples: Vec<Value>,
    pub(super) lists: Vec<Vec<Value>>,
    pub(super) dicts: Vec<Vec<(Value, Value)>>,
    pub(super) storages: Vec<StorageRef>,
    pub(super) tensors: Vec<TensorRef>,
    pub(super) root: Value,
    /// Bytes up to and with the last instruction.
    pub(in crate::checkpoint) length: usize,
}

impl<'a> Pickle<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            tuples: Vec::new(),
            lists: Vec::new(),
            dicts: Vec::new(),
            storages: Vec::new(),
            tensors: Vec::new(),
            root: Value::Opaque,
            length: 0,
        }
    }

    pub(in crate::checkpoint) fn root(&self) -> Value {
        self.root
    }

    pub(in crate::checkpoint) fn raw(&self, span: Span) -> &'a [u8] {
        let start = span.start as usize;
        let end = start.saturating_add(span.length as usize);
        self.bytes.get(start..end).unwrap_or_default()
    }

    pub(in crate::checkpoint) fn text(&self, span: Span) -> Option<&'a str> {
        std::str::from_utf8(self.raw(span)).ok()
    }

    pub(in crate::checkpoint) fn tuple(&self, span: Span) -> &[Value] {
        let start = span.start as usize;
        let end = start.saturating_add(span.length as usize);
        self.tuples.get(start..end).unwrap_or_default()
    }

    pub(in crate::checkpoint) fn list(&self, place: u32) -> &[Value] {
        self.lists.get(place as usize).map_or(&[], Vec::as_slice)
    }

    pub(in crate::checkpoint) fn dict(&self, place: u32) -> &[(Value, Value)] {
        self.dicts.get(place as usize).map_or(&[], Vec::as_slice)
    }

    pub(in crate::checkpoint) fn storage(&self, place: u32) -> Option<StorageRef> {
        self.storages.get(place as usize).copied()
    }

    pub(in crate::checkpoint) fn storages(&self) -> &[StorageRef] {
        &self.storages
    }

    pub(in crate::checkpoint) fn tensor(&self, place: u32) -> Option<TensorRef> {
        self.tensors.get(place as usize).copied()
    }

    /// Sizes and strides of a tensor; `None` if one of them is not a number of elements.
    pub(in crate::checkpoint) fn extents(&self, tensor: &TensorRef) -> Option<[Vec<usize>; 2]> {
        let numbers = |span| {
            let sizes = self.tuple(span).iter().map(|value| match value {
                Value::Int(size) => usize::try_from(*size).ok(),
                _ => None,
            });
            sizes.collect::<Option<Vec<usize>>>()
        };
        let extents = [numbers(tensor.shape)?, numbers(tensor.strides)?];
        (extents[0].len() == extents[1].len()).then_some(extents)
    }
}
