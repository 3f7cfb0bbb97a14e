//! AVX2 with a tile to a register, and AVX-512 with two.

use super::{LANES, Lanes, Task};
use std::arch::x86_64::*;

#[target_feature(enable = "avx2,fma")]
pub fn run_with_one_tile<T: Task>(task: T) -> T::Output {
    task.run::<Avx>()
}

#[target_feature(enable = "avx2,fma,avx512f,avx512vl")]
pub fn run_with_two_tiles<T: Task>(task: T) -> T::Output {
    task.run::<Avx512<false>>()
}

/// Only ever used by the callees of the two functions above, which `dispatch` enters after asking the
/// processor: that is why the intrinsics below are safe to call.
#[derive(Clone, Copy)]
struct Avx(__m256);

impl Lanes for Avx {
    const TILES: usize = 1;

    type Tile = Self;
    type Joined = Self;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see `Avx`.
        Self(unsafe { _mm256_set1_ps(value) })
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: see `Avx`; the caller vouches for the memory, which needs no alignment.
        Self(unsafe { _mm256_loadu_ps(from) })
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
        unsafe { _mm256_storeu_ps(first, self.0) }
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        // SAFETY: see `Avx`.
        Self(unsafe { _mm256_fmadd_ps(self.0, factor.0, addend.0) })
    }

    #[inline(always)]
    fn sum(self) -> f32 {
        // SAFETY: see `Avx`.
        unsafe {
            let four = _mm_add_ps(
                _mm256_castps256_ps128(self.0),
                _mm256_extractf128_ps::<1>(self.0),
            );
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            let one = _mm_add_ss(two, _mm_movehdup_ps(two));
            _mm_cvtss_f32(one)
        }
    }

    #[inline(always)]
    fn sum4(four: [Self; 4]) -> [f32; 4] {
        let [a, b, c, d] = four;
        let mut sums = [0.0; 4];
        // SAFETY: see `Avx`; the array holds the four f32 that are stored.
        unsafe {
            let halves = _mm256_hadd_ps(_mm256_hadd_ps(a.0, b.0), _mm256_hadd_ps(c.0, d.0));
            let whole = _mm_add_ps(
                _mm256_castps256_ps128(halves),
                _mm256_extractf128_ps::<1>(halves),
            );
            _mm_storeu_ps(sums.as_mut_ptr(), whole);
        }
        sums
    }
}

/// Two tiles, loaded at once if they are `JOINED` in memory. Safe for the reason that [`Avx`] is.
#[derive(Clone, Copy)]
struct Avx512<const JOINED: bool>(__m512);

impl<const JOINED: bool> Avx512<JOINED> {
    /// Both tiles in one.
    #[inline(always)]
    fn halves(self) -> [Avx; 2] {
        // SAFETY: see `Avx`.
        unsafe {
            let second = _mm512_extractf64x4_pd::<1>(_mm512_castps_pd(self.0));
            [
                Avx(_mm512_castps512_ps256(self.0)),
                Avx(_mm256_castpd_ps(second)),
            ]
        }
    }

    #[inline(always)]
    fn folded(self) -> Avx {
        let [first, second] = self.halves();
        // SAFETY: see `Avx`.
        Avx(unsafe { _mm256_add_ps(first.0, second.0) })
    }
}

impl<const JOINED: bool> Lanes for Avx512<JOINED> {
    const TILES: usize = 2;

    type Tile = Avx;
    type Joined = Avx512<true>;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see `Avx`.
        Self(unsafe { _mm512_set1_ps(value) })
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: see `Avx`; the caller vouches for the memory, which needs no alignment.
        Self(unsafe { _mm512_loadu_ps(from) })
    }

    #[inline(always)]
    unsafe fn load_tiles(first: *const f32, second: *const f32) -> Self {
        debug_assert!(!JOINED || first.wrapping_add(LANES) == second);
        if JOINED {
            // SAFETY: the second tile, for which the caller vouches, lies behind the first.
            return unsafe { Self::load(first) };
        }
        // SAFETY: as in `load`.
        unsafe {
            let second = _mm256_castps_pd(_mm256_loadu_ps(second));
            let first = _mm512_castps_pd(_mm512_castps256_ps512(_mm256_loadu_ps(first)));
            Self(_mm512_castpd_ps(_mm512_insertf64x4::<1>(first, second)))
        }
    }

    #[inline(always)]
    unsafe fn load_one(from: *const f32) -> Self {
        // SAFETY: as in `load`.
        Self(unsafe { _mm512_zextps256_ps512(_mm256_loadu_ps(from)) })
    }

    #[inline(always)]
    unsafe fn store_tiles(self, first: *mut f32, second: *mut f32) {
        let [a, b] = self.halves();
        // SAFETY: the caller vouches for the memory.
        unsafe {
            a.store(first);
            b.store(second);
        }
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        // SAFETY: see `Avx`.
        Self(unsafe { _mm512_fmadd_ps(self.0, factor.0, addend.0) })
    }

    #[inline(always)]
    fn sum(self) -> f32 {
        self.folded().sum()
    }

    #[inline(always)]
    fn sum4(four: [Self; 4]) -> [f32; 4] {
        // Not by `map`, which is a function of its own, without wide lanes.
        let [a, b, c, d] = four;
        Avx::sum4([a.folded(), b.folded(), c.folded(), d.folded()])
    }
}
