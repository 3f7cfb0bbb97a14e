//! IDX files, in which MNIST and its relatives are published: <http://yann.lecun.com/exdb/mnist/>.
//!
//! A magic number, big-endian sizes, and bytes.

use super::Opened;
use crate::data::{DataError, Files, Picture, Pictures, Split};
use flate2::read::GzDecoder;
use std::io::Read;
use std::sync::Arc;

/// Two zeros, the type (8 unsigned bits), and the number of sizes.
const IMAGES: [u8; 4] = [0, 0, 8, 3];
const LABELS: [u8; 4] = [0, 0, 8, 1];
/// The most that is unpacked of a file: twenty times MNIST.
const MAX_BYTES: u64 = 1 << 30;
const MNIST_CLASSES: usize = 10;
const FASHION_CLASSES: [&str; MNIST_CLASSES] = [
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
];

/// The file of `images` or `labels`. Mirrors write a dot or a dash before `idx`, and may have compressed it.
fn find<'f>(files: &'f Files, split: Split, what: &str, dimensions: u8) -> Option<&'f str> {
    let part = match split {
        Split::Train => "train",
        Split::Test => "t10k",
    };
    let name = |dot: &str, zipped: &str| format!("{part}-{what}{dot}idx{dimensions}-ubyte{zipped}");
    let endings = [
        name("-", ""),
        name(".", ""),
        name("-", ".gz"),
        name(".", ".gz"),
    ];
    files.ending_with(&endings.each_ref().map(String::as_str))
}

pub(super) fn recognises(files: &Files) -> bool {
    let splits = [Split::Train, Split::Test];
    splits
        .iter()
        .any(|&split| find(files, split, "images", 3).is_some())
}

pub(super) fn open(files: &Files, split: Split) -> Opened {
    let needed = |what: &str, dimensions: u8| {
        find(files, split, what, dimensions).ok_or_else(|| DataError::NoSplit {
            place: files.place(),
            split,
            missing: format!("its file of {what} (..{what}-idx{dimensions}-ubyte) is missing"),
        })
    };
    let (images_name, labels_name) = (needed("images", 3)?, needed("labels", 1)?);
    let (sizes, pixels) = read(files, images_name, IMAGES)?;
    let (_, labels) = read(files, labels_name, LABELS)?;
    let (height, width) = (sizes[1], sizes[2]);
    let picture = |pixels: &[u8]| Picture::new(1, height, width, pixels.to_vec());
    let pictures: Result<Vec<Picture>, DataError> = pixels
        .chunks_exact((height * width).max(1))
        .map(picture)
        .collect();
    let classes = labels.iter().map(|&label| usize::from(label) + 1).max();
    let classes = classes.unwrap_or(0).max(MNIST_CLASSES);
    let is_fashion =
        files.place().to_ascii_lowercase().contains("fashion") && classes == MNIST_CLASSES;
    let all = Pictures {
        pictures: pictures?,
        labels: labels.into_iter().map(u32::from).collect(),
        class_names: match is_fashion {
            true => FASHION_CLASSES.map(str::to_owned).to_vec(),
            false => (0..classes).map(|class| class.to_string()).collect(),
        },
        origins: vec![(files.full_name(images_name), 0)],
        unsplit: false,
    };
    Ok(Arc::new(all.checked(&files.full_name(labels_name))?))
}

/// The sizes and bytes of a file that begins with `magic`.
fn read(files: &Files, name: &str, magic: [u8; 4]) -> Result<(Vec<usize>, Vec<u8>), DataError> {
    let file = files.full_name(name);
    let stored = files.read(name)?;
    let mut unpacked: Box<dyn Read + '_> = match &stored[..] {
        [0x1F, 0x8B, ..] => Box::new(GzDecoder::new(&stored[..])),
        _ => Box::new(&stored[..]),
    };
    let cut =
        |error: std::io::Error| DataError::damaged(&file, format!("it is cut short ({error})"));
    let mut header = vec![0; 4 + 4 * usize::from(magic[3])];
    unpacked.read_exact(&mut header).map_err(cut)?;
    if header[..4] != magic {
        let problem = format!("it begins with {:?}, but {magic:?} is needed", &header[..4]);
        return Err(DataError::damaged(&file, problem));
    }
    let (words, _) = header[4..].as_chunks::<4>();
    let sizes: Vec<u64> = words
        .iter()
        .map(|word| u64::from(u32::from_be_bytes(*word)))
        .collect();
    let product = sizes
        .iter()
        .try_fold(1u64, |product, &size| product.checked_mul(size));
    let expected =
        product
            .filter(|&bytes| bytes <= MAX_BYTES)
            .ok_or_else(|| DataError::TooLarge {
                file: file.clone(),
                limit: MAX_BYTES,
                advice: "see what made it",
            })?;
    // One byte more would be a mistake too. Grows as bytes come: the header may say anything.
    let mut bytes = Vec::new();
    unpacked
        .take(expected + 1)
        .read_to_end(&mut bytes)
        .map_err(cut)?;
    if bytes.len() as u64 != expected {
        let more = if bytes.len() as u64 > expected {
            "more than "
        } else {
            ""
        };
        return Err(DataError::damaged(
            &file,
            format!(
                "its header says {sizes:?}, which is {expected} bytes, but it holds {more}{}",
                (bytes.len() as u64).min(expected)
            ),
        ));
    }
    Ok((sizes.into_iter().map(|size| size as usize).collect(), bytes))
}
