//! What can be wrong with data.

use super::Split;
use std::io;

/// Why data were refused. Pictures, labels and lines count from zero unless the message says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system refused.
    #[error("{file} cannot be read: {reason}")]
    Read {
        /// The file.
        file: String,
        /// What the system or the decoder says.
        reason: io::Error,
    },
    /// A name that cannot be written down.
    #[error("{file} has a name that is not UTF-8; rename it")]
    Name {
        /// The file.
        file: String,
    },
    /// A folder that lies in itself, through a link.
    #[error("{folder} leads back to a folder that it lies in; remove the link")]
    Loop {
        /// The folder.
        folder: String,
    },
    /// Nothing that is known.
    #[error(
        "{place} has none of the layouts that are read. It holds {found}. Looked for:\n{looked_for}"
    )]
    UnknownLayout {
        /// Where the data should be.
        place: String,
        /// What is there.
        found: String,
        /// What would have been read.
        looked_for: String,
    },
    /// Pictures, but nothing says of what.
    #[error(
        "{place} holds {pictures} pictures, but nothing says what they show; put the pictures of each class into a \
         folder with the name of the class"
    )]
    NoClasses {
        /// Where the data should be.
        place: String,
        /// Number of pictures.
        pictures: usize,
    },
    /// A class without examples.
    #[error("class folder {folder} holds no pictures; put some into it, or remove it")]
    EmptyClass {
        /// The folder.
        folder: String,
    },
    /// Nothing to tell apart.
    #[error("{place} has only the class `{class}`; a classifier needs two or more class folders")]
    OneClass {
        /// Where the data should be.
        place: String,
        /// Its name.
        class: String,
    },
    /// One picture cannot be on both sides.
    #[error(
        "{picture} is the only picture of the class `{class}`, and cannot be both learnt from and judged by; add \
         pictures, remove the class, or put the class folders into train/ and val/"
    )]
    OnePicture {
        /// The picture.
        picture: String,
        /// Name of its class.
        class: String,
    },
    /// A class that training does not know.
    #[error("{folder} is a class that the training folder does not have; its classes are {known}")]
    UnknownClass {
        /// The folder.
        folder: String,
        /// The names that are known.
        known: String,
    },
    /// One of the two splits is not there.
    #[error("{place} has no {split} split: {missing}")]
    NoSplit {
        /// Where the data should be.
        place: String,
        /// Which one.
        split: Split,
        /// What it would take.
        missing: String,
    },
    /// A file that is not as long as its layout says.
    #[error(
        "{file} has {bytes} bytes, but {expected}: it is cut short or another file; fetch it again"
    )]
    FileSize {
        /// The file.
        file: String,
        /// Its bytes.
        bytes: u64,
        /// What its layout says, as part of the sentence.
        expected: String,
    },
    /// A file past what is read into memory.
    #[error(
        "{file} has more than {limit} bytes, which is the most that is read of such a file; {advice}"
    )]
    TooLarge {
        /// The file.
        file: String,
        /// The most that is read.
        limit: u64,
        /// What to do.
        advice: &'static str,
    },
    /// A file that contradicts its format.
    #[error("{file}: {problem}; fetch it again, or see what made it")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// A picture in a format without a decoder here.
    #[error("{file} is in a format that is not read; convert it to PNG or JPEG, or remove it")]
    Unsupported {
        /// The file.
        file: String,
    },
    /// A label of no class.
    #[error(
        "{file}: the label of picture {picture} is {label}, but there are only {classes} classes (0..{classes})"
    )]
    Label {
        /// The file.
        file: String,
        /// Which picture.
        picture: usize,
        /// Its label.
        label: u32,
        /// Number of classes.
        classes: usize,
    },
    /// As many labels as pictures are needed.
    #[error("{pictures_of} has {pictures} pictures, but {labels_of} has {labels} labels")]
    Counts {
        /// The file of pictures.
        pictures_of: String,
        /// Number of pictures.
        pictures: usize,
        /// The file of labels.
        labels_of: String,
        /// Number of labels.
        labels: usize,
    },
    /// No pictures at all.
    #[error("{place} holds no pictures")]
    Empty {
        /// Where the data should be.
        place: String,
    },
    /// A picture that cannot be read or decoded.
    #[error(
        "{name} is no picture that can be read: {reason}; replace it, or let broken pictures be skipped"
    )]
    Broken {
        /// Its name.
        name: String,
        /// What the system or the decoder says.
        reason: String,
    },
    /// Every picture of an epoch was broken.
    #[error("all {pictures} pictures are broken; the first is {first}")]
    AllBroken {
        /// Number of pictures.
        pictures: usize,
        /// What is wrong with the first.
        first: String,
    },
    /// A picture whose fields contradict one another.
    #[error("a picture of {channels} x {height} x {width} with {pixels} pixel values: {needed}")]
    Picture {
        /// Number of channels.
        channels: usize,
        /// Rows of pixels.
        height: usize,
        /// Columns of pixels.
        width: usize,
        /// Number of values.
        pixels: usize,
        /// What it must be.
        needed: &'static str,
    },
    /// There is no such example.
    #[error("picture {index} was asked for, but there are {len}")]
    Index {
        /// What was asked for.
        index: usize,
        /// Number of pictures.
        len: usize,
    },
    /// A setting out of range.
    #[error("{what} is {value}, but {needed}")]
    Setting {
        /// Name of the setting.
        what: &'static str,
        /// What it was.
        value: String,
        /// What it must be.
        needed: String,
    },
    /// A list of pairs that cannot be read.
    #[error("{file}, line {line}: {problem}")]
    Pairs {
        /// The file.
        file: String,
        /// Counts from one, as editors do.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A name of no corruption.
    #[error("`{name}` is no corruption; known are {known}")]
    UnknownCorruption {
        /// Its name.
        name: String,
        /// The names that are known.
        known: String,
    },
    /// Frost is photographs, which have to be there.
    #[error(
        "frost needs photographs of frost: name a folder with frost1 to frost5 (.png or .jpg) as CIFAR-10-C's authors \
         publish them{found}"
    )]
    NoFrost {
        /// What there is instead, as part of the sentence.
        found: String,
    },
    /// A worker ended without having made its batch.
    #[error(
        "the worker that makes batch {batch} has stopped; this is a defect of this library or of a decoder"
    )]
    Worker {
        /// Number of the batch.
        batch: usize,
    },
}

impl DataError {
    pub(super) fn read(file: impl Into<String>, reason: io::Error) -> Self {
        Self::Read {
            file: file.into(),
            reason,
        }
    }

    pub(super) fn damaged(file: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Damaged {
            file: file.into(),
            problem: problem.into(),
        }
    }

    pub(super) fn setting(
        what: &'static str,
        value: impl ToString,
        needed: impl Into<String>,
    ) -> Self {
        Self::Setting {
            what,
            value: value.to_string(),
            needed: needed.into(),
        }
    }
}
