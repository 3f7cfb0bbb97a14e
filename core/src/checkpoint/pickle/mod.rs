//! A pickle machine that can only describe: it knows the instructions and the few names that weights
//! need, builds plain values, and calls nothing.

mod globals;
mod literal;
mod machine;
mod rebuild;
mod value;

pub(super) use machine::{MAX_PICKLE_BYTES as MAX_BYTES, read, too_large};
pub(super) use value::{Pickle, StorageRef, TensorRef, Value};
