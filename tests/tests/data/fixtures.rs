//! Small data sets on disk and in memory.

use bayesadapter::data::{
    Batch, BatchSettings, Batches, DataError, Dataset, Picture, Pictures, Preparation, Split, open,
};
use bayesadapter::models::Normalisation;
use image::ImageFormat;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

pub fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

pub fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    let path = folder.join(name);
    let parent = path.parent().expect("a folder around the file");
    fs::create_dir_all(parent).expect("a folder can be made");
    fs::write(path, bytes).expect("a file can be written");
}

/// A picture whose values all depend on `seed`, on the place and on the channel.
pub fn picture(channels: usize, height: usize, width: usize, seed: usize) -> Picture {
    let value = |at: usize| ((at * 37 + seed * 101 + at / 7) % 256) as u8;
    let pixels = (0..channels * height * width).map(value).collect();
    Picture::new(channels, height, width, pixels).expect("a picture")
}

pub fn encoded(picture: &Picture, format: ImageFormat) -> Vec<u8> {
    let (width, height) = (picture.width as u32, picture.height as u32);
    let color = match picture.channels {
        1 => image::ExtendedColorType::L8,
        _ => image::ExtendedColorType::Rgb8,
    };
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::write_buffer_with_format(&mut bytes, &picture.pixels, width, height, color, format)
        .expect("pictures can be encoded");
    bytes.into_inner()
}

pub fn png(picture: &Picture) -> Vec<u8> {
    encoded(picture, ImageFormat::Png)
}

/// `count` pictures of 3 x 4 x 4; picture `i` is filled with `i` and has the label `i % 3`.
pub fn numbered(count: usize) -> Arc<Pictures> {
    let pictures = (0..count).map(|i| Picture::new(3, 4, 4, vec![i as u8; 48]).expect("a picture"));
    let labels = (0..count).map(|i| (i % 3) as u32).collect();
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    Arc::new(Pictures::new(pictures.collect(), labels, names).expect("a data set"))
}

/// Pixels come out as they go in, divided by 255.
pub fn plain(shape: [usize; 3]) -> Preparation {
    Preparation::new(shape, Normalisation::uniform(shape[0], 0.0, 1.0))
}

pub fn settings(batch: usize, preparation: Preparation) -> BatchSettings {
    BatchSettings {
        workers: 0,
        ..BatchSettings::new(batch, preparation)
    }
}

pub fn batches(dataset: Arc<dyn Dataset>, settings: BatchSettings) -> Batches {
    Batches::new(dataset, settings).expect("batches")
}

pub fn epoch(batches: &Batches, epoch: u32, first: usize) -> Vec<Batch> {
    let made: Result<Vec<Batch>, DataError> = batches.epoch(epoch, first).collect();
    made.expect("an epoch without errors")
}

pub fn opened(path: &Path, split: Split) -> Arc<dyn Dataset> {
    open(path, split).unwrap_or_else(|error| panic!("{error}"))
}

/// What opening was refused with, without the folder's name, which differs every time.
pub fn refused(path: &Path, split: Split) -> String {
    match open(path, split) {
        Ok(_) => panic!("this should have been refused"),
        Err(error) => error
            .to_string()
            .replace(&path.display().to_string(), "DATA"),
    }
}

pub fn examples(made: &[Batch]) -> Vec<usize> {
    made.iter()
        .flat_map(|batch| batch.examples.clone())
        .collect()
}

/// Counts how many pictures were asked for, and fails at some.
pub struct Watched {
    pub asked: AtomicUsize,
    broken: fn(usize) -> bool,
    names: Vec<String>,
}

impl Watched {
    pub fn new(broken: fn(usize) -> bool) -> Arc<Self> {
        Arc::new(Self {
            asked: AtomicUsize::new(0),
            broken,
            names: vec!["only".to_owned()],
        })
    }
}

impl Dataset for Watched {
    fn len(&self) -> usize {
        1_000
    }
    fn class_names(&self) -> &[String] {
        &self.names
    }
    fn label(&self, _: usize) -> u32 {
        0
    }
    fn picture(&self, index: usize) -> Result<Picture, DataError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        match (self.broken)(index) {
            true => Err(DataError::Broken {
                name: self.name(index),
                reason: "made so".to_owned(),
            }),
            false => Ok(picture(3, 4, 4, index)),
        }
    }
    fn name(&self, index: usize) -> String {
        format!("picture {index}")
    }
}
