//! The table of kernels: which text makes which kernel, its constants, its dispatch.
//!
//! A kernel is a prelude of `const`s, shared text from `wgsl/lib`, and one file of `wgsl` with the
//! entry point `main`. What changes from launch to launch (batch, slots, noise key) travels in the
//! `info` buffer, so a pipeline is compiled once per layer shape and never per step.

mod columns;
mod compose;
mod consts;
mod direct;
mod fold;
mod gradient;
mod plain_product;
mod sample;
mod segments;
mod select;
mod tile;
mod traffic;
mod unroll;
mod vector;

pub use columns::{product_backward_x, product_forward};
pub use compose::{LIBRARY, SOURCES};
pub use consts::Const;
pub use direct::{direct_backward_w, direct_backward_x, direct_forward};
pub use fold::{fold_left, fold_right, fold_shared};
pub use gradient::{product_backward_w, region_len, sum_parts};
pub use plain_product::plain_product;
pub use sample::{sample_gaussian, sample_gaussian_backward, sample_low_rank, sample_traffic};
pub use segments::{Reduction, Segments};
pub use select::{backward_w, backward_x, components_at_once, forward, useful_parts};
pub use tile::TileShape;
pub use traffic::{Pass, Traffic, traffic};
pub use vector::{vector_backward_w, vector_backward_x, vector_forward};

use crate::source::Source;

/// Which form of the heavy kernels runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Workgroup-memory tiles for real GPUs.
    Gpu,
    /// Large register tiles without barriers, for adapters that run shaders on CPU cores.
    Software,
}

impl Variant {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Gpu, Self::Software];
}

/// A weight source without its per-launch data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// [`Source::Given`].
    Given,
    /// [`Source::Gaussian`].
    Gaussian,
    /// [`Source::LowRank`].
    LowRank {
        /// Rank of the factors.
        rank: usize,
    },
}

impl From<&Source> for SourceKind {
    fn from(source: &Source) -> Self {
        match source {
            Source::Given { .. } => Self::Given,
            Source::Gaussian { .. } => Self::Gaussian,
            Source::LowRank { rank, .. } => Self::LowRank { rank: *rank },
        }
    }
}

/// Everything that changes the text of a kernel; usable as a pipeline cache key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// File of the entry point, without extension.
    pub name: &'static str,
    library: Vec<&'static str>,
    consts: Vec<(&'static str, Const)>,
    threads: u32,
}

impl Kernel {
    /// The complete WGSL.
    pub fn source(&self) -> String {
        compose::compose(self)
    }

    /// Invocations per workgroup.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// One constant of the prelude.
    pub fn constant(&self, name: &str) -> Option<u32> {
        self.consts.iter().find_map(|&(known, value)| match value {
            Const::U32(value) if known == name => Some(value),
            _ => None,
        })
    }
}

/// A kernel with its grid and its `info` buffer. The caller binds the tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// What runs.
    pub kernel: Kernel,
    /// What changes from launch to launch, laid out as the kernel's file says.
    pub info: Vec<u32>,
    /// Workgroups before folding. Each writes elements of a result that no other writes, so that
    /// there are never more than [`MAX_ELEMENTS`](crate::geometry::MAX_ELEMENTS).
    pub workgroups: u64,
}

/// WebGPU allows this many workgroups along one dimension.
pub const MAX_WORKGROUPS: u32 = 65_535;

impl Launch {
    /// Workgroups per dimension. Kernels rebuild the linear index and skip the excess.
    pub fn grid(&self) -> [u32; 3] {
        let y = self.workgroups.div_ceil(u64::from(MAX_WORKGROUPS)).max(1);
        let x = self.workgroups.div_ceil(y).max(1);
        // A device refuses what does not fit, and would launch a part of it after a cast.
        [x, y, 1].map(|count| u32::try_from(count).unwrap_or(u32::MAX))
    }
}

/// Invocations per workgroup of kernels without tiles.
const PLAIN_THREADS: u32 = 64;

/// A kernel that spreads `invocations` evenly, without tiles.
fn plain(
    name: &'static str,
    library: Vec<&'static str>,
    mut consts: Vec<(&'static str, Const)>,
    info: Vec<u32>,
    invocations: usize,
) -> Launch {
    consts.push(("THREADS", Const::U32(PLAIN_THREADS)));
    Launch {
        kernel: Kernel {
            name,
            library,
            consts,
            threads: PLAIN_THREADS,
        },
        info,
        workgroups: (invocations as u64).div_ceil(u64::from(PLAIN_THREADS)),
    }
}
