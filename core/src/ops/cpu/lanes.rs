//! Eight f32 at a time, and the choice of instruction set at run time.

/// Eight f32 with one fused multiply-add where the processor has it.
pub(super) trait Lanes: Copy {
    /// Whether a block of 24 sums fits the registers; else one of 12 does.
    const MANY_REGISTERS: bool;

    fn splat(value: f32) -> Self;

    /// # Safety
    /// Eight f32 must be readable at `from`.
    unsafe fn load(from: *const f32) -> Self;

    /// # Safety
    /// Eight f32 must be writable at `to`.
    unsafe fn store(self, to: *mut f32);

    /// `self * factor + addend`
    fn mul_add(self, factor: Self, addend: Self) -> Self;

    fn sum(self) -> f32;

    /// The sum of each.
    #[inline(always)]
    fn sum4(four: [Self; 4]) -> [f32; 4] {
        let [a, b, c, d] = four;
        [a.sum(), b.sum(), c.sum(), d.sum()]
    }
}

/// Number of f32 in [`Lanes`].
pub(super) const LANES: usize = 8;

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
        // SAFETY: the processor was asked for AVX2, FMA and AVX-512 VL.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx::run_with_32_registers(task) },
        // SAFETY: the processor was asked for AVX2 and FMA.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx::run_with_16_registers(task) },
        Level::Portable => task.run::<Portable>(),
    }
}

/// Plain arrays, which compilers turn into what the target has (NEON, WASM SIMD, SSE2).
#[derive(Clone, Copy)]
struct Portable([f32; LANES]);

impl Lanes for Portable {
    const MANY_REGISTERS: bool = false;

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
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: as in `load`.
        unsafe { to.cast::<[f32; LANES]>().write(self.0) }
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

#[cfg(target_arch = "x86_64")]
mod avx {
    use super::{Lanes, Task};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2,fma")]
    pub fn run_with_16_registers<T: Task>(task: T) -> T::Output {
        task.run::<Avx<16>>()
    }

    /// AVX-512 gives the same instructions twice as many registers.
    #[target_feature(enable = "avx2,fma,avx512vl")]
    pub fn run_with_32_registers<T: Task>(task: T) -> T::Output {
        task.run::<Avx<32>>()
    }

    /// Only ever used by the callees of the two functions above, which `dispatch` enters after asking the
    /// processor: that is why the intrinsics below are safe to call.
    #[derive(Clone, Copy)]
    struct Avx<const REGISTERS: usize>(__m256);

    impl<const REGISTERS: usize> Lanes for Avx<REGISTERS> {
        const MANY_REGISTERS: bool = REGISTERS >= 32;

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
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: as in `load`.
            unsafe { _mm256_storeu_ps(to, self.0) }
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
}
