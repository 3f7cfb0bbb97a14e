//! The exponential of many numbers at once; the standard library's is a call per number.

use super::lanes::{Lanes, Task, dispatch};

/// `exp` of every value, within two units in the last place.
pub(super) fn exp_all(values: &[f32]) -> Vec<f32> {
    dispatch(ExpAll(values))
}

struct ExpAll<'a>(&'a [f32]);

impl Task for ExpAll<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Vec<f32> {
        // A loop, because what collects an iterator is a function of its own, without wide lanes.
        let mut out = vec![0.0; self.0.len()];
        for (out, &value) in out.iter_mut().zip(self.0) {
            *out = exp(value);
        }
        out
    }
}

/// `2^n * exp(r)` with `|r| <= ln(2) / 2`, where `exp(r)` is Cephes' polynomial.
#[inline(always)]
fn exp(value: f32) -> f32 {
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    // Beyond these the result is zero or infinite.
    let inside = value.clamp(-87.3, 88.7);
    let n = (inside * std::f32::consts::LOG2_E).round_ties_even();
    let r = (inside - n * LN_2_HIGH) - n * LN_2_LOW;
    let mut p = 1.987_569_1e-4;
    p = p * r + 1.398_199_9e-3;
    p = p * r + 8.333_452e-3;
    p = p * r + 4.166_579_6e-2;
    p = p * r + 1.666_666_5e-1;
    p = p * r + 0.5;
    p = p * r * r + r + 1.0;
    // In two halves, because 2^128 is no f32. A conversion that checks its range would not
    // vectorise; adding 1.5 * 2^23 leaves the whole number in the lowest bits.
    let power = |n: f32| f32::from_bits(((n + 12_583_039.0).to_bits()) << 23);
    let half = (n * 0.5).round_ties_even();
    let scaled = p * power(half) * power(n - half);
    let scaled = if value > 88.7 { f32::INFINITY } else { scaled };
    if value < -87.3 { 0.0 } else { scaled }
}

#[cfg(test)]
mod tests {
    use super::exp_all;

    #[test]
    fn agrees_with_the_standard_library() {
        let values: Vec<f32> = (-8700..8870).map(|n| n as f32 / 100.0).collect();
        for (value, found) in values.iter().zip(exp_all(&values)) {
            let expected = value.exp();
            assert!(
                (found - expected).abs() <= 3e-7 * expected,
                "exp({value}) = {expected}, found {found}"
            );
        }
    }

    #[test]
    fn ends_of_the_range() {
        let found = exp_all(&[
            f32::NEG_INFINITY,
            -200.0,
            0.0,
            200.0,
            f32::INFINITY,
            f32::NAN,
        ]);
        assert_eq!(found[..5], [0.0, 0.0, 1.0, f32::INFINITY, f32::INFINITY]);
        assert!(found[5].is_nan());
    }
}
