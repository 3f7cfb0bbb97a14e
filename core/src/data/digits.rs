//! The handwritten digits that come with the library.

use super::{Picture, Pictures, Split};

const SIDE: usize = 8;
const CLASSES: usize = 10;
/// Of every class, each fifth digit is for tests.
const TEST_EVERY: usize = 5;

/// Real handwritten digits of 8 x 8 pixels, 1,797 of them (UCI's "Optical Recognition of Handwritten Digits", test
/// part), with no download: 1,442 to train on and 355 to test on, a fifth of each class, always the same ones.
/// Their values 0..=16 become 0..=255.
///
/// ```
/// use bayesadapter::data::{Dataset, Split, digits};
///
/// let (train, test) = (digits(Split::Train), digits(Split::Test));
/// assert_eq!(train.len() + test.len(), 1_797);
/// assert_eq!(train.picture(0)?.height, 8);
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
pub fn digits(split: Split) -> Pictures {
    let all = smartcore::dataset::digits::load_dataset();
    let mut seen = [0; CLASSES];
    let (mut pictures, mut labels) = (Vec::new(), Vec::new());
    for (values, &label) in all.data.chunks_exact(SIDE * SIDE).zip(&all.target) {
        let label = label as usize;
        seen[label] += 1;
        let of_test = seen[label] % TEST_EVERY == 0;
        if of_test == (split == Split::Test) {
            let pixels = values
                .iter()
                .map(|value| (value * 255.0 / 16.0).round() as u8);
            pictures.push(Picture {
                channels: 1,
                height: SIDE,
                width: SIDE,
                pixels: pixels.collect(),
            });
            labels.push(label as u32);
        }
    }
    Pictures {
        pictures,
        labels,
        class_names: (0..CLASSES).map(|digit| digit.to_string()).collect(),
        origins: vec![(format!("digits ({split})"), 0)],
        unsplit: false,
    }
}
