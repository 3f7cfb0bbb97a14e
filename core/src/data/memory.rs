//! Pictures in memory.

use super::{DataError, Dataset, Picture};

/// A data set in memory: what small files are read into, and what a program makes itself.
///
/// ```
/// use bayesadapter::data::{Dataset, Picture, Pictures};
///
/// let black = Picture::new(1, 2, 2, vec![0; 4])?;
/// let white = Picture::new(1, 2, 2, vec![255; 4])?;
/// let names = vec!["black".to_owned(), "white".to_owned()];
/// let pictures = Pictures::new(vec![white, black], vec![1, 0], names)?;
/// assert_eq!(pictures.class_names()[pictures.label(0) as usize], "white");
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pictures {
    pub(super) pictures: Vec<Picture>,
    pub(super) labels: Vec<u32>,
    pub(super) class_names: Vec<String>,
    /// Where pictures come from: a file, and the first picture of it.
    pub(super) origins: Vec<(String, usize)>,
    pub(super) unsplit: bool,
}

impl Pictures {
    /// Pictures of any sizes with a label each.
    ///
    /// # Errors
    ///
    /// No pictures, another number of labels than of pictures, and labels without a class.
    pub fn new(
        pictures: Vec<Picture>,
        labels: Vec<u32>,
        class_names: Vec<String>,
    ) -> Result<Self, DataError> {
        let this = Self {
            pictures,
            labels,
            class_names,
            origins: vec![("the list of pictures".to_owned(), 0)],
            unsplit: true,
        };
        this.checked("the list of labels")
    }

    /// Itself, if pictures, labels and classes fit.
    pub(super) fn checked(self, labels_of: &str) -> Result<Self, DataError> {
        let place = || match self.origins.first() {
            Some((file, _)) => file.clone(),
            None => "the data set".to_owned(),
        };
        if self.pictures.is_empty() {
            return Err(DataError::Empty { place: place() });
        }
        if self.pictures.len() != self.labels.len() {
            return Err(DataError::Counts {
                pictures_of: place(),
                pictures: self.pictures.len(),
                labels_of: labels_of.to_owned(),
                labels: self.labels.len(),
            });
        }
        let classes = self.class_names.len();
        let wrong = self
            .labels
            .iter()
            .position(|&label| label as usize >= classes);
        if let Some(picture) = wrong {
            let (file, picture_in_file) = self.origin(picture);
            return Err(DataError::Label {
                file: file.to_owned(),
                picture: picture_in_file,
                label: self.labels[picture],
                classes,
            });
        }
        Ok(self)
    }

    /// The file of a picture, and which one of it.
    fn origin(&self, index: usize) -> (&str, usize) {
        let after = self.origins.partition_point(|(_, first)| *first <= index);
        match self.origins.get(after.saturating_sub(1)) {
            Some((file, first)) => (file, index - first),
            None => ("the data set", index),
        }
    }
}

impl Dataset for Pictures {
    fn len(&self) -> usize {
        self.pictures.len()
    }

    fn class_names(&self) -> &[String] {
        &self.class_names
    }

    fn label(&self, index: usize) -> u32 {
        self.labels[index]
    }

    fn picture(&self, index: usize) -> Result<Picture, DataError> {
        let picture = self.pictures.get(index).cloned();
        picture.ok_or(DataError::Index {
            index,
            len: self.len(),
        })
    }

    fn name(&self, index: usize) -> String {
        let (file, picture) = self.origin(index);
        format!("{file}, picture {picture}")
    }

    fn unsplit(&self) -> bool {
        self.unsplit
    }
}
