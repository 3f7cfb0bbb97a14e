//! Where files are: on the disk, or, in a page, in its memory. Paths mean the same in both.

#[cfg(target_family = "wasm")]
mod memory;
#[cfg(not(target_family = "wasm"))]
mod native;

#[cfg(target_family = "wasm")]
pub use memory::{
    Lock, below, create_folder, exists, is_folder, last_written, list, lock, put, read, read_start,
    remove_file, remove_folder, shared, write_atomically,
};
#[cfg(not(target_family = "wasm"))]
pub use native::{
    Lock, create_folder, exists, is_folder, list, lock, read, read_start, remove_file,
    write_atomically,
};
