//! Keyed normals at the speed of the processor at hand.

use bayesadapter_shaders::NoiseKey;

/// Writes the normals of elements `first .. first + out.len()` of one example of `key`.
///
/// ```
/// use bayesadapter::ops::{NoiseKey, fill_normals};
///
/// let key = NoiseKey { seed: 1, draw: 17, ..Default::default() };
/// let mut eps = [0.0; 5];
/// fill_normals(&key, 3, 0, &mut eps);
/// assert_eq!(eps[4], key.normal(3, 4));
/// ```
pub fn fill_normals(key: &NoiseKey, example: u32, first: u32, out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512vl") {
            // SAFETY: the processor has just been asked for AVX-512 VL, which AVX-512 F comes with.
            return unsafe { fill_normals_avx512(key, example, first, out) };
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just been asked for AVX2.
            return unsafe { fill_normals_avx2(key, example, first, out) };
        }
    }
    key.fill_normals(example, first, out);
}

/// The same code, compiled for eight lanes, and once: inlined into larger functions it has come out
/// with twice the instructions. `fma` changes nothing here: Rust never fuses what is written as two
/// operations, so that every instruction set rounds alike.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline(never)]
fn fill_normals_avx2(key: &NoiseKey, example: u32, first: u32, out: &mut [f32]) {
    key.fill_normals(example, first, out);
}

/// As above. Exclusive ors of three words in one instruction, and twice the registers, save a quarter.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512vl")]
#[inline(never)]
fn fill_normals_avx512(key: &NoiseKey, example: u32, first: u32, out: &mut [f32]) {
    key.fill_normals(example, first, out);
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_set_makes_the_same_normals() {
        let key = NoiseKey {
            seed: 5,
            draw: 6,
            parameter: 7,
            first_example: 8,
        };
        for (first, len) in [(0, 4096), (3, 997), (4_294_000_000, 130)] {
            let mut expected = vec![0.0; len];
            key.fill_normals(9, first, &mut expected);
            let mut found = vec![0.0; len];
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has just been asked for AVX2.
                unsafe { fill_normals_avx2(&key, 9, first, &mut found) };
                assert_eq!(found, expected);
            }
            found.fill(0.0);
            if std::arch::is_x86_feature_detected!("avx512vl") {
                // SAFETY: the processor has just been asked for AVX-512 VL.
                unsafe { fill_normals_avx512(&key, 9, first, &mut found) };
                assert_eq!(found, expected);
            }
        }
    }
}
