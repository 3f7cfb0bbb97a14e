//! Whether a device computes what another one does, op by op.

mod cases;

use crate::ops::OpError;
use burn::tensor::Device;
use cases::{CASES, Named};
use serde::Serialize;

/// Largest accepted difference, as a share of the largest number compared. Sums of some hundred
/// f32 products in another order differ by a tenth of this.
pub const TOLERANCE: f32 = 1e-4;

/// Why two devices could not be compared at all.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckError {
    /// An op was refused.
    #[error(transparent)]
    Op(#[from] OpError),
    /// The backward pass left out an input.
    #[error("no gradient reached {name}")]
    NoGradient {
        /// The input.
        name: &'static str,
    },
    /// The device kept a result to itself.
    #[error("{name} could not be read back from the device: {reason}")]
    Read {
        /// The result.
        name: &'static str,
        /// What the device says.
        reason: String,
    },
}

/// One result of one op: how far the two devices are apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the op.
    pub op: &'static str,
    /// Where its weights come from.
    pub source: &'static str,
    /// `y`, or the gradient of an input.
    pub result: &'static str,
    /// Infinite (`null` in JSON) if a number is not finite, or a result is missing or misshapen.
    pub max_difference: f32,
    /// Largest magnitude on the second device.
    pub magnitude: f32,
    /// Whether the difference is within rounding.
    pub pass: bool,
}

/// Every op with every weight source, forward and backward, on both devices.
///
/// ```
/// use bayesadapter::selfcheck;
/// use burn::tensor::{Device, read_sync};
///
/// let cpu = Device::flex();
/// let rows = read_sync(selfcheck::compare(&cpu, &cpu))?;
/// assert!(rows.iter().all(|row| row.pass));
/// # Ok::<(), selfcheck::CheckError>(())
/// ```
pub async fn compare(device: &Device, reference: &Device) -> Result<Vec<Row>, CheckError> {
    let mut rows = Vec::new();
    for case in CASES {
        let found = read((case.run)(&device.clone().autodiff())?).await?;
        let expected = read((case.run)(&reference.clone().autodiff())?).await?;
        for ((result, found), (_, expected)) in found.iter().zip(&expected) {
            let (max_difference, magnitude) = difference(found, expected);
            rows.push(Row {
                op: case.op,
                source: case.source,
                result,
                max_difference,
                magnitude,
                pass: max_difference <= TOLERANCE * magnitude,
            });
        }
    }
    Ok(rows)
}

/// Reads results back without blocking, which a browser does not allow.
async fn read(results: Vec<Named>) -> Result<Vec<(&'static str, Vec<f32>)>, CheckError> {
    let mut numbers = Vec::with_capacity(results.len());
    for (name, tensor) in results {
        let lost = |reason: String| CheckError::Read { name, reason };
        let data = tensor.into_data_async().await;
        let data = data.map_err(|error| lost(format!("{error:?}")))?;
        let values = data
            .try_to_vec()
            .map_err(|error| lost(format!("{error:?}")))?;
        numbers.push((name, values));
    }
    Ok(numbers)
}

/// Largest difference, and largest magnitude in `expected`.
fn difference(found: &[f32], expected: &[f32]) -> (f32, f32) {
    let magnitude = expected.iter().fold(0.0, |all: f32, e| all.max(e.abs()));
    let is_finite = |numbers: &[f32]| numbers.iter().all(|number| number.is_finite());
    if found.len() != expected.len() || !is_finite(found) || !is_finite(expected) {
        return (f32::INFINITY, magnitude);
    }
    let largest = found
        .iter()
        .zip(expected)
        .fold(0.0, |all: f32, (f, e)| all.max((f - e).abs()));
    (largest, magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_is_the_largest() {
        assert_eq!(difference(&[1.0, -2.0], &[1.5, -4.0]), (2.0, 4.0));
    }

    #[test]
    fn what_is_not_a_number_never_passes() {
        for bad in [f32::NAN, f32::INFINITY] {
            assert_eq!(difference(&[bad], &[1.0]).0, f32::INFINITY);
            assert_eq!(difference(&[1.0], &[bad]).0, f32::INFINITY);
        }
        assert_eq!(difference(&[], &[1.0]).0, f32::INFINITY);
    }

    #[test]
    fn every_op_and_source_is_covered() {
        for op in ["matmul", "conv2d"] {
            for source in ["given", "gaussian", "low rank"] {
                let found = |case: &&cases::Case| case.op == op && case.source == source;
                assert!(CASES.iter().any(|case| found(&case)), "{op} {source}");
            }
        }
        for op in ["sample_gaussian", "sample_low_rank"] {
            assert!(CASES.iter().any(|case| case.op == op), "{op}");
        }
    }
}
