//! Tiles of eight f32, one or two to a register, and the choice of instruction set at run time.

/// One or two tiles of eight f32, with one fused multiply-add where the processor has it.
pub(super) trait Lanes: Copy {
    /// Tiles in a register. A processor that has room for two has 32 registers, and a block of 16 sums fits them; else
    /// one of 12 does.
    const TILES: usize;

    /// One tile, for what is left over.
    type Tile: Lanes;

    /// The same for tiles that lie behind one another in memory.
    type Joined: Lanes;

    fn splat(value: f32) -> Self;

    /// All tiles from one place.
    ///
    /// # Safety
    /// `8 * TILES` f32 must be readable at `from`.
    unsafe fn load(from: *const f32) -> Self;

    /// Each tile from a place of its own; where there is one tile, `second` is not looked at, and where the tiles are
    /// joined, it is eight f32 behind `first`.
    ///
    /// # Safety
    /// Eight f32 must be readable at `first`, and at `second` if there are two tiles.
    unsafe fn load_tiles(first: *const f32, second: *const f32) -> Self;

    /// A tile, and zeros if there is room for a second.
    ///
    /// # Safety
    /// Eight f32 must be readable at `from`.
    unsafe fn load_one(from: *const f32) -> Self;

    /// Each tile to a place of its own.
    ///
    /// # Safety
    /// Eight f32 must be writable at `first`, and at `second` if there are two tiles.
    unsafe fn store_tiles(self, first: *mut f32, second: *mut f32);

    /// `self * factor + addend`
    fn mul_add(self, factor: Self, addend: Self) -> Self;

    fn sum(self) -> f32;

    /// The sum of each.
    #[inline(always)]
    fn sum4(four: [Self; 4]) -> [f32; 4] {
        let [a, b, c, d] = four;
        [a.sum(), b.sum(), c.sum(), d.sum()]
    }

    /// Of one tile.
    ///
    /// # Safety
    /// Eight f32 must be writable at `to`.
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller vouches for eight f32, and asks this of a single tile.
        unsafe { self.store_tiles(to, to) }
    }
}

/// Number of f32 in a tile.
pub(super) const LANES: usize = 8;

#[cfg(target_arch = "x86_64")]
mod avx;

/// Work that runs with the widest lanes of this processor.
pub(super) trait Task {
    type Output;

    /// Must be `#[inline(always)]`, with everything hot in it, to be compiled for `L`.
    fn run<L: Lanes>(self) -> Self::Output;
}

/// Instruction sets that tasks are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Whatever the target has.
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The widest of this processor.
    pub fn widest() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            return match std::arch::is_x86_feature_detected!("avx512vl") {
                true => Self::Avx512,
                false => Self::Avx2,
            };
        }
        Self::Portable
    }
}

/// Runs a task with the widest lanes of this processor.
pub(super) fn dispatch<T: Task>(task: T) -> T::Output {
    #[cfg(not(test))]
    let level = Level::widest();
    #[cfg(test)]
    let level = super::tests::level();
    match level {
        // SAFETY: the processor was asked for AVX2, FMA and AVX-512 VL, which includes AVX-512 F.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx::run_with_two_tiles(task) },
        // SAFETY: the processor was asked for AVX2 and FMA.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx::run_with_one_tile(task) },
        Level::Portable => task.run::<Portable>(),
    }
}

/// Plain arrays, which compilers turn into what the target has (NEON, WASM SIMD, SSE2).
#[derive(Clone, Copy)]
struct Portable([f32; LANES]);

impl Lanes for Portable {
    const TILES: usize = 1;

    type Tile = Self;
    type Joined = Self;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for eight f32; arrays of f32 need f32's alignment.
        Self(unsafe { from.cast::<[f32; LANES]>().read() })
    }

    #[inline(always)]
    unsafe fn load_tiles(first: *const f32, _: *const f32) -> Self {
        // SAFETY: the caller vouches for it.
        unsafe { Self::load(first) }
    }

    #[inline(always)]
    unsafe fn load_one(from: *const f32) -> Self {
        // SAFETY: the caller vouches for it.
        unsafe { Self::load(from) }
    }

    #[inline(always)]
    unsafe fn store_tiles(self, first: *mut f32, _: *mut f32) {
        // SAFETY: as in `load`.
        unsafe { first.cast::<[f32; LANES]>().write(self.0) }
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        Self(std::array::from_fn(|lane| {
            // Without the instruction, `mul_add` is a slow library call.
            if cfg!(target_arch = "aarch64") {
                self.0[lane].mul_add(factor.0[lane], addend.0[lane])
            } else {
                self.0[lane] * factor.0[lane] + addend.0[lane]
            }
        }))
    }

    #[inline(always)]
    fn sum(self) -> f32 {
        let [a, b, c, d, e, f, g, h] = self.0;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }
}
