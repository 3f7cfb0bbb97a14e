//! What the cross-crate tests and the benchmarks share.

mod close;
mod devices;
mod golden;
mod memory;
mod problem;
mod quiet;

pub use close::{Tolerance, assert_close, values};
pub use devices::{devices, wgpu, wgpu_setup};
pub use golden::{Case, Golden, GoldenKey, MapKind};
pub use memory::Counting;
pub use problem::{By, Dice, Outcome, Problem, Results, Shape, SourceKind, direction};
pub use quiet::{idle_share, target_directory};
