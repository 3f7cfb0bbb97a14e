//! Comparison of tensors that were computed in different orders.

use burn::tensor::Tensor;

/// How far a value may be from the expected one: `relative * |expected| + absolute`.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    pub relative: f32,
    pub absolute: f32,
}

impl Tolerance {
    /// For sums: rounding grows with the terms, not with what remains after they cancel, so the
    /// absolute part is a share of the largest value.
    pub fn of_largest(share: f32, expected: &[f32]) -> Self {
        let largest = expected
            .iter()
            .fold(0.0f32, |all, value| all.max(value.abs()));
        Self {
            relative: share,
            absolute: share * largest,
        }
    }
}

/// The elements of a tensor, row by row.
pub fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor
        .into_data()
        .try_to_vec()
        .expect("only f32 tensors are compared")
}

/// Panics with the worst element when any is out of tolerance. Not-a-number is always out.
#[track_caller]
pub fn assert_close(what: &str, found: &[f32], expected: &[f32], tolerance: Tolerance) {
    assert_eq!(found.len(), expected.len(), "{what}: number of elements");
    let excess: Vec<f32> = found
        .iter()
        .zip(expected)
        .map(|(found, expected)| {
            let limit = tolerance.relative * expected.abs() + tolerance.absolute;
            let excess = (found - expected).abs() - limit;
            if excess.is_nan() {
                f32::INFINITY
            } else {
                excess
            }
        })
        .collect();
    let worst = (0..excess.len()).max_by(|&a, &b| excess[a].total_cmp(&excess[b]));
    if let Some(at) = worst.filter(|&at| excess[at] > 0.0) {
        panic!(
            "{what}: element {at} is {}, expected {} ({tolerance:?}); {} of {} elements are out",
            found[at],
            expected[at],
            excess.iter().filter(|&&excess| excess > 0.0).count(),
            excess.len()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: Tolerance = Tolerance {
        relative: 0.0,
        absolute: 0.0,
    };

    #[test]
    #[should_panic(expected = "element 1 is 3, expected 2")]
    fn names_the_worst_element() {
        assert_close("a pair", &[1.5, 3.0], &[1.0, 2.0], EXACT);
    }

    #[test]
    #[should_panic(expected = "element 0 is NaN")]
    fn refuses_not_a_number() {
        let loose = Tolerance {
            relative: 1.0,
            absolute: f32::MAX,
        };
        assert_close("a number", &[f32::NAN], &[1.0], loose);
    }

    #[test]
    fn accepts_what_is_within() {
        assert_close("a number", &[1.0], &[1.0], EXACT);
        assert_close(
            "ten",
            &[10.5],
            &[10.0],
            Tolerance::of_largest(0.03, &[10.0]),
        );
    }
}
