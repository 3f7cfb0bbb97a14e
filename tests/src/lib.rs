//! What the cross-crate tests and the benchmarks share.

mod close;
mod devices;
mod golden;
mod memory;
mod problem;
mod quiet;
mod timing;

pub use close::{Tolerance, assert_close, values};
pub use devices::{Place, devices, places, wgpu, wgpu_setup};
pub use golden::{Case, Golden, GoldenKey, MapKind};
pub use memory::Counting;
pub use problem::{By, Dice, Outcome, Problem, Results, Shape, SourceKind, direction};
pub use quiet::{idle_share, target_directory};
pub use timing::median_seconds;
