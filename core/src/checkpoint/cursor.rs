//! Reading numbers and slices out of bytes that may end anywhere.

use super::error::{CheckpointProblem, Outcome};

/// A position in a slice. Every length that a file claims is compared with what is left before it
/// is used, so no claim can make anything allocate or panic.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    /// What is being read, for errors.
    what: &'static str,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self {
            bytes,
            position: 0,
            what,
        }
    }

    /// As `new`, but starts at `position`, which may lie past the end.
    pub(super) fn at(bytes: &'a [u8], position: u64, what: &'static str) -> Outcome<Self> {
        let mut cursor = Self::new(bytes, what);
        cursor.take(position)?;
        Ok(cursor)
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    pub(super) fn take(&mut self, count: u64) -> Outcome<&'a [u8]> {
        let truncated = || CheckpointProblem::Truncated {
            what: self.what.to_owned(),
            needed: count,
            present: self.remaining() as u64,
        };
        let length = usize::try_from(count).map_err(|_| truncated())?;
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        let taken = rest.get(..length).ok_or_else(truncated)?;
        self.position += length;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Outcome<[u8; N]> {
        let taken = self.take(N as u64)?;
        let mut array = [0; N];
        array.copy_from_slice(taken);
        Ok(array)
    }

    pub(super) fn u8(&mut self) -> Outcome<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Outcome<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Outcome<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Outcome<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// The text up to the next newline, which is skipped.
    pub(super) fn line(&mut self) -> Outcome<&'a [u8]> {
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        let length = rest.iter().position(|&byte| byte == b'\n');
        // One more than is left, if there is no newline: `take` then says that the file is cut short.
        let line = self.take(length.unwrap_or(rest.len() + 1) as u64)?;
        self.take(1)?;
        Ok(line)
    }
}
