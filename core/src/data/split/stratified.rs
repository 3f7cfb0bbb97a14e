//! Stratified splits: the same share of every class.

use super::{SHARES, Share, Subset};
use crate::{
    data::{DataError, Dataset, dice::Purpose},
    ops::NoiseKey,
};
use std::sync::Arc;

/// Divides a data set in two: `(rest, taken)`. Both keep the order of the data set.
///
/// Every class gives the same share. Where that is no whole number of images, the classes with the largest remainders
/// give one more, so that a [`Share::Count`] is met exactly. A class of two or more images has at least one on either
/// side; the only image of a class is in the larger part. Which images are taken is a function of the seed and of their
/// indices alone, and a larger share of the same data contains a smaller one but for the rounding.
///
/// ```
/// use bayesadapter::data::{Dataset, Share, Split, digits, stratified_split};
/// use std::sync::Arc;
///
/// let digits: Arc<dyn Dataset> = Arc::new(digits(Split::Train));
/// let (train, validation) = stratified_split(&digits, Share::Count(200), 0)?;
/// assert_eq!((train.len(), validation.len()), (1_242, 200));
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
///
/// # Errors
///
/// A fraction outside of 0 to 1; a number of images that leaves a class without an image on either side; and data of
/// which no class has two images.
pub fn stratified_split(
    data: &Arc<dyn Dataset>,
    share: Share,
    seed: u64,
) -> Result<(Subset, Subset), DataError> {
    split(data, share, seed).map_err(|needed| DataError::setting("the share", share, needed))
}

/// As [`stratified_split`]; an error is what would be needed.
pub(super) fn split(
    data: &Arc<dyn Dataset>,
    share: Share,
    seed: u64,
) -> Result<(Subset, Subset), String> {
    let of_class = by_class(&**data);
    let counts: Vec<usize> = of_class.iter().map(Vec::len).collect();
    let taken_of = apportion(&counts, share)?;
    let key = NoiseKey {
        seed,
        parameter: Purpose::Validation as u32,
        ..NoiseKey::default()
    };
    let (mut rest, mut taken) = (Vec::new(), Vec::new());
    for (mut indices, count) in of_class.into_iter().zip(taken_of) {
        indices.sort_by_cached_key(|&index| (key.bits(index as u32, 0), index));
        let (first, others) = indices.split_at(count);
        taken.extend_from_slice(first);
        rest.extend_from_slice(others);
    }
    rest.sort_unstable();
    taken.sort_unstable();
    Ok((Subset::inside(data, rest), Subset::inside(data, taken)))
}

/// The indices of the images of each class, rising.
pub(super) fn by_class(data: &dyn Dataset) -> Vec<Vec<usize>> {
    let mut of_class = vec![Vec::new(); data.class_names().len()];
    for index in 0..data.len() {
        of_class[data.label(index) as usize].push(index);
    }
    of_class
}

/// Whether any class has two images, one for either side.
pub(super) fn can_be_split(data: &dyn Dataset) -> bool {
    by_class(data).iter().any(|indices| indices.len() > 1)
}

/// How many images to take of classes that have so many: by largest remainders, within what a class can give.
fn apportion(counts: &[usize], share: Share) -> Result<Vec<usize>, String> {
    let share = share.checked().ok_or(SHARES)?;
    let all: usize = counts.iter().sum();
    if counts.iter().all(|&count| count < 2) {
        return Err("no class has two images, one for either side; add images".to_owned());
    }
    let share_of_all = match share {
        Share::Fraction(fraction) => fraction,
        Share::Count(count) => count as f64 / all as f64,
    };
    let single = usize::from(share_of_all > 0.5);
    let limits = |&count: &usize| match count {
        0 => (0, 0),
        1 => (single, single),
        _ => (1, count - 1),
    };
    let limits: Vec<(usize, usize)> = counts.iter().map(limits).collect();
    let least: usize = limits.iter().map(|(least, _)| least).sum();
    let most: usize = limits.iter().map(|(_, most)| most).sum();
    let wanted = match share {
        Share::Fraction(fraction) => ((fraction * all as f64).round() as usize).clamp(least, most),
        Share::Count(count) if (least..=most).contains(&count) => count,
        Share::Count(_) => {
            let classes = counts.iter().filter(|&&count| count > 0).count();
            return Err(format!(
                "of {all} images of {classes} classes {least} to {most} can be taken, so that no class is missing on \
                 either side"
            ));
        }
    };
    Ok(round(counts, &limits, wanted))
}

/// Whole numbers next to each class's quota, `wanted * count / all`, and within the limits, whose sum is `wanted`. The
/// limits must allow that.
fn round(counts: &[usize], limits: &[(usize, usize)], wanted: usize) -> Vec<usize> {
    let all: usize = counts.iter().sum();
    // In units of 1 / all, in which quotas are whole numbers: equal remainders are found to be equal.
    let quota = |class: usize| wanted as i128 * counts[class] as i128;
    let remainder =
        |taken: &[usize], class: usize| quota(class) - taken[class] as i128 * all as i128;
    let whole = |class: usize| {
        let (least, most) = limits[class];
        ((quota(class) / all as i128) as usize).clamp(least, most)
    };
    let mut taken: Vec<usize> = (0..counts.len()).map(whole).collect();
    loop {
        let sum: usize = taken.iter().sum();
        let classes = 0..counts.len();
        // Of equal remainders the first class comes first.
        let (changed, by) = if sum < wanted {
            let open = classes
                .rev()
                .filter(|&class| taken[class] < limits[class].1);
            (open.max_by_key(|&class| remainder(&taken, class)), 1)
        } else if sum > wanted {
            let open = classes.filter(|&class| taken[class] > limits[class].0);
            (open.min_by_key(|&class| remainder(&taken, class)), -1)
        } else {
            return taken;
        };
        match changed {
            Some(class) => taken[class] = taken[class].saturating_add_signed(by),
            None => return taken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_remainders_are_rounded_up() {
        // Quotas 4.7, 1.6, 1.1, 2.6 of Hamilton's method: the seats left go to 0.7, then to the first of the 0.6.
        let taken = apportion(&[47, 16, 11, 26], Share::Count(10)).unwrap();
        assert_eq!(taken, [5, 2, 1, 2]);
        assert_eq!(
            apportion(&[47, 16, 11, 26], Share::Fraction(0.1)),
            Ok(taken)
        );
    }

    #[test]
    fn limits_move_images_between_classes() {
        // The quotas of 0.02 are raised to 1, so that the large class gives 8 instead of 9.96.
        assert_eq!(
            apportion(&[980, 2, 2], Share::Count(10)).unwrap(),
            [8, 1, 1]
        );
        // Of a class of two one stays, however much is taken.
        assert_eq!(apportion(&[8, 2], Share::Fraction(0.9)).unwrap(), [7, 1]);
    }

    #[test]
    fn a_single_image_is_in_the_larger_part() {
        assert_eq!(apportion(&[9, 1], Share::Fraction(0.4)).unwrap(), [4, 0]);
        assert_eq!(apportion(&[9, 1], Share::Fraction(0.6)).unwrap(), [5, 1]);
        assert_eq!(apportion(&[9, 1], Share::Count(6)).unwrap(), [5, 1]);
        assert_eq!(apportion(&[9, 0], Share::Count(6)).unwrap(), [6, 0]);
    }

    #[test]
    fn what_cannot_be_taken_is_refused() {
        let range = "of 20 images of 2 classes 2 to 18 can be taken, so that no class is missing on either side";
        for count in [1, 19, 20, 21, usize::MAX] {
            assert_eq!(
                apportion(&[10, 0, 10], Share::Count(count)).unwrap_err(),
                range
            );
        }
        for share in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY].map(Share::Fraction) {
            assert_eq!(apportion(&[10, 10], share).unwrap_err(), SHARES);
        }
        assert_eq!(apportion(&[10, 10], Share::Count(0)).unwrap_err(), SHARES);
        let none = apportion(&[1, 1, 0], Share::Fraction(0.5)).unwrap_err();
        assert!(none.starts_with("no class has two images"), "{none}");
    }
}
