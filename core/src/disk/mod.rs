//! Where files are: on the disk, or, in a page, in its memory. Paths mean the same in both.

#[cfg(target_family = "wasm")]
mod memory;
#[cfg(not(target_family = "wasm"))]
mod native;

#[cfg(target_family = "wasm")]
pub(crate) use memory::read_bounded;
#[cfg(target_family = "wasm")]
pub use memory::{
    Change, Lock, below, create_folder, exists, is_folder, last_written, list, lock, put, read,
    read_start, remove_file, rename, shared, watch, write_aside, write_atomically,
};
#[cfg(not(target_family = "wasm"))]
pub(crate) use native::read_bounded;
#[cfg(not(target_family = "wasm"))]
pub use native::{
    Lock, create_folder, exists, is_folder, list, lock, read, read_start, remove_file, rename,
    write_aside, write_atomically,
};

use std::io;

/// Larger files are not read where a whole one would be kept in memory.
pub(crate) const MAX_FILE_BYTES: u64 = 16 << 30;

/// Bytes at the start of a file that tell what it is. A tar archive says so at byte 257.
const START: usize = 512;

/// Why a file was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The file system refused.
    Refused(io::Error),
    /// It has more bytes than are read.
    TooLarge { bytes: u64, limit: u64 },
    /// It begins like nothing that is looked for.
    Stranger { start: Vec<u8> },
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Refused(error)
    }
}
