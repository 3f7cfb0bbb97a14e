//! The handwritten digits that come with the library.

use super::{Picture, Pictures, Split};

const SIDE: usize = 8;
const CLASSES: usize = 10;
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
    of_split(split, |number| match number % 5 {
        4 => Split::Test,
        _ => Split::Train,
    })
}

/// The same digits, of which few are to train on: a quarter of each class, 445 in all, and 1,352 to test on. A network
/// cannot know everything from so few, and the many tell how well it knows that.
///
/// ```
/// use bayesadapter::data::{Dataset, Split, few_digits};
///
/// assert_eq!((few_digits(Split::Train).len(), few_digits(Split::Test).len()), (445, 1_352));
/// ```
pub fn few_digits(split: Split) -> Pictures {
    of_split(split, |number| match number % 4 {
        3 => Split::Train,
        _ => Split::Test,
    })
}

/// The digits of a split, which depends on the number of a digit within its class.
fn of_split(split: Split, split_of: impl Fn(usize) -> Split) -> Pictures {
    let all = smartcore::dataset::digits::load_dataset();
    let mut seen = [0; CLASSES];
    let (mut pictures, mut labels) = (Vec::new(), Vec::new());
    for (values, &label) in all.data.chunks_exact(SIDE * SIDE).zip(&all.target) {
        let label = label as usize;
        let number = seen[label];
        seen[label] += 1;
        if split_of(number) == split {
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
