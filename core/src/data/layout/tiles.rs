//! One picture full of square tiles, row by row, and a file of the same name with the ending `.labels`, which has a
//! byte per tile.

use super::Opened;
use crate::data::listed::is_picture;
use crate::data::{DataError, Files, Picture, Pictures, Split};
#[cfg(not(target_family = "wasm"))]
use std::path::Path;
use std::sync::Arc;

const LEAST_CLASSES: usize = 10;

/// Pictures with labels beside them.
fn candidates(files: &Files) -> Vec<(&str, String)> {
    let labels_of = |name: &str| {
        format!(
            "{}.labels",
            name.rsplit_once('.').map_or(name, |(stem, _)| stem)
        )
    };
    let pictures = files
        .names()
        .filter(|name| matches!(is_picture(files, name), Ok(true)));
    let with_labels = pictures.map(|name| (name, labels_of(name)));
    with_labels
        .filter(|(_, labels)| files.has(labels))
        .collect()
}

pub(super) fn recognises(files: &Files) -> bool {
    !candidates(files).is_empty()
}

/// A picture file and its labels, if it has some.
#[cfg(not(target_family = "wasm"))]
pub(super) fn beside(picture: &Path) -> Result<Option<Files>, DataError> {
    use crate::data::files::read_file;
    let labels = picture.with_extension("labels");
    let (Some(picture_name), Some(labels_name)) = (
        picture.file_name().and_then(|name| name.to_str()),
        labels.file_name().and_then(|name| name.to_str()),
    ) else {
        return Ok(None);
    };
    if !labels.is_file() || picture_name == labels_name {
        return Ok(None);
    }
    let mut files = Vec::new();
    for (path, name) in [(picture, picture_name), (&labels, labels_name)] {
        files.push((
            name.to_owned(),
            read_file(path, &path.display().to_string())?,
        ));
    }
    let place = picture
        .parent()
        .unwrap_or(Path::new("."))
        .display()
        .to_string();
    Ok(Some(Files::from_bytes(place, files)))
}

/// The tiles whose name has the split in it. The only ones that there are, if they name no split, are both.
pub(super) fn open(files: &Files, split: Split) -> Opened {
    let candidates = candidates(files);
    let names = |split: Split, name: &str| name.to_ascii_lowercase().contains(&split.to_string());
    let other = match split {
        Split::Train => Split::Test,
        Split::Test => Split::Train,
    };
    let named = candidates.iter().find(|(name, _)| names(split, name));
    let unnamed = || candidates.iter().find(|(name, _)| !names(other, name));
    let Some((name, labels_name)) = named.or_else(unnamed) else {
        return Err(DataError::NoSplit {
            place: files.place(),
            split,
            missing: format!("no picture of tiles with labels has `{split}` in its name"),
        });
    };
    let sheet = Picture::decode(&files.read(name)?, &files.full_name(name))?;
    let labels: Vec<u32> = files
        .read(labels_name)?
        .iter()
        .map(|&label| u32::from(label))
        .collect();
    let side = tile_side(&sheet, labels.len()).ok_or_else(|| {
        let problem = format!(
            "it is {} x {}, which is not {} square tiles, one per label of {labels_name}",
            sheet.width,
            sheet.height,
            labels.len()
        );
        DataError::damaged(files.full_name(name), problem)
    })?;
    let rows = (0..sheet.height).step_by(side);
    let corners = rows.flat_map(|top| (0..sheet.width).step_by(side).map(move |left| (top, left)));
    let classes = labels
        .iter()
        .map(|&label| label as usize + 1)
        .max()
        .unwrap_or(0);
    let all = Pictures {
        pictures: corners
            .map(|(top, left)| sheet.crop(top, left, side, side))
            .collect(),
        labels,
        class_names: (0..classes.max(LEAST_CLASSES))
            .map(|class| class.to_string())
            .collect(),
        origins: vec![(files.full_name(name), 0)],
        unsplit: named.is_none(),
    };
    Ok(Arc::new(all.checked(&files.full_name(labels_name))?))
}

/// The side of `count` equal squares that fill a picture.
fn tile_side(sheet: &Picture, count: usize) -> Option<usize> {
    let area = (sheet.width * sheet.height).checked_div(count)?;
    let side = area.isqrt();
    let fills = side > 0
        && side * side * count == sheet.width * sheet.height
        && sheet.width.is_multiple_of(side)
        && sheet.height.is_multiple_of(side);
    fills.then_some(side)
}
