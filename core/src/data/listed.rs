//! Pictures that stay in their files until they are asked for.

use super::{DataError, Dataset, Files, Picture};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

/// Endings of the formats that are decoded.
const READ: [&str; 14] = [
    "bmp", "gif", "jpeg", "jpg", "pbm", "pgm", "png", "pnm", "ppm", "qoi", "tga", "tif", "tiff",
    "webp",
];
/// Endings of pictures that are not; to leave them out in silence would make another data set.
const NOT_READ: [&str; 8] = ["avif", "dng", "exr", "heic", "heif", "jp2", "jxl", "psd"];

/// Whether a file's ending is that of a picture that can be read.
///
/// # Errors
///
/// The ending of a picture that cannot.
pub(super) fn is_picture(files: &Files, name: &str) -> Result<bool, DataError> {
    let Some((_, ending)) = name.rsplit_once('.') else {
        return Ok(false);
    };
    let ending = ending.to_ascii_lowercase();
    if NOT_READ.contains(&ending.as_str()) {
        return Err(DataError::Unsupported {
            file: files.full_name(name),
        });
    }
    Ok(READ.contains(&ending.as_str()))
}

/// A data set of picture files.
pub(super) struct Listed {
    pub files: Arc<Files>,
    /// Names in `files`.
    pub names: Vec<String>,
    pub labels: Vec<u32>,
    pub class_names: Vec<String>,
    pub unsplit: bool,
    pub remark: Option<String>,
}

impl Dataset for Listed {
    fn len(&self) -> usize {
        self.names.len()
    }

    fn class_names(&self) -> &[String] {
        &self.class_names
    }

    fn label(&self, index: usize) -> u32 {
        self.labels[index]
    }

    fn picture(&self, index: usize) -> Result<Picture, DataError> {
        let name = self.names.get(index).ok_or(DataError::Index {
            index,
            len: self.len(),
        })?;
        let full_name = self.files.full_name(name);
        let bytes = self.files.read(name);
        let bytes = bytes.map_err(|error| broken(error, full_name.clone()))?;
        Picture::decode(&bytes, &full_name)
    }

    fn name(&self, index: usize) -> String {
        self.files.full_name(&self.names[index])
    }

    fn unsplit(&self) -> bool {
        self.unsplit
    }

    fn remark(&self) -> Option<String> {
        self.remark.clone()
    }
}

/// What a file that cannot be read is to its data set: one broken picture, which may be left out. Unless its disk fails
/// or went away: then no other picture can be read either, and to leave them all out would make training worth nothing.
fn broken(error: DataError, name: String) -> DataError {
    let is_of_this_file = |reason: &io::Error| {
        let kinds = [
            ErrorKind::NotFound,
            ErrorKind::PermissionDenied,
            ErrorKind::IsADirectory,
            ErrorKind::InvalidData,
        ];
        let folder = Path::new(&name).parent();
        kinds.contains(&reason.kind()) && folder.is_some_and(Path::is_dir)
    };
    let reason = match error {
        DataError::Read { reason, .. } if is_of_this_file(&reason) => reason.to_string(),
        DataError::TooLarge { limit, .. } => format!("it has more than {limit} bytes"),
        error => return error,
    };
    DataError::Broken { name, reason }
}
