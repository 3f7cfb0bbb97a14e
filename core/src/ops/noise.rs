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
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has just been asked for AVX2.
        return unsafe { fill_normals_avx2(key, example, first, out) };
    }
    key.fill_normals(example, first, out);
}

/// The same code, compiled for eight lanes, and once: inlined into larger functions it has come out
/// with twice the instructions. Without `fma`, since a fused multiply-add would round differently
/// from the element-wise path.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline(never)]
fn fill_normals_avx2(key: &NoiseKey, example: u32, first: u32, out: &mut [f32]) {
    key.fill_normals(example, first, out);
}
