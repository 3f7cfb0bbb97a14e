//! A folder of pictures per class.
//!
//! Classes are sorted by name. Pictures may lie deeper in the folder of their class. With `train/` and `test/` or
//! `val/` around the classes, the classes of `train/` are those of all. With both `test/` and `val/`, the latter is a
//! validation set.

use super::Opened;
use crate::data::files::{TEST_FOLDERS, TRAIN_FOLDERS, VALIDATION_FOLDERS};
use crate::data::listed::{Listed, is_picture};
use crate::data::{DataError, Dataset, Files, Split};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Whether there is any picture, or at least a folder for some.
pub(super) fn is_tree(files: &Files) -> bool {
    let any_picture = files
        .names()
        .any(|name| !matches!(is_picture(files, name), Ok(false)));
    any_picture || files.folders().next().is_some()
}

pub(super) fn open(files: &Files, split: Split) -> Opened {
    let train = part(files, &TRAIN_FOLDERS);
    let test_folders = [&TEST_FOLDERS[..], &VALIDATION_FOLDERS].concat();
    let test = part(files, &test_folders);
    if train.is_none() && test.is_none() {
        return list(files.clone(), None, true);
    }
    let (wanted, folders) = match split {
        Split::Train => (train, &TRAIN_FOLDERS[..]),
        Split::Test => (test, &test_folders[..]),
    };
    let Some(wanted) = wanted else {
        return Err(DataError::NoSplit {
            place: files.place(),
            split,
            missing: format!("it has no folder {}", folders.join("/, ") + "/"),
        });
    };
    let known = match (split, part(files, &TRAIN_FOLDERS)) {
        (Split::Test, Some(train)) => Some(classes(&train)),
        _ => None,
    };
    list(wanted, known, false)
}

/// The images of a validation folder, where there is a test folder too. Without that, or if nothing tells the classes
/// of its images, as in ImageNet's, they are the test set.
pub(super) fn open_validation(files: &Files) -> Result<Option<Arc<dyn Dataset>>, DataError> {
    let labelled = |folders: &[&str]| part(files, folders).filter(|it| !classes(it).is_empty());
    match (labelled(&TEST_FOLDERS), labelled(&VALIDATION_FOLDERS)) {
        (Some(_), Some(validation)) => {
            let known = part(files, &TRAIN_FOLDERS).map(|train| classes(&train));
            list(validation, known, false).map(Some)
        }
        _ => Ok(None),
    }
}

/// What lies in the first of these folders that has class folders; else in the first that is there at all.
fn part(files: &Files, folders: &[&str]) -> Option<Files> {
    let is_there = |folder: &&&str| {
        let inside = |name: &str| name.split('/').next() == Some(**folder);
        files.folders().any(inside) || files.names().any(|name| inside(name) && name != **folder)
    };
    let parts: Vec<Files> = folders
        .iter()
        .filter(is_there)
        .map(|folder| files.within(folder))
        .collect();
    let with_classes = parts.iter().find(|part| !classes(part).is_empty());
    with_classes.or(parts.first()).cloned()
}

/// The names of the class folders.
fn classes(files: &Files) -> BTreeSet<String> {
    let of_names = files
        .names()
        .filter_map(|name| Some(name.split_once('/')?.0));
    let of_folders = files.folders().map(|folder| match folder.split_once('/') {
        Some((class, _)) => class,
        None => folder,
    });
    of_names.chain(of_folders).map(str::to_owned).collect()
}

/// The pictures below class folders. `known` are the classes that labels refer to, if another split has them.
fn list(files: Files, known: Option<BTreeSet<String>>, unsplit: bool) -> Opened {
    let own = classes(&files);
    let mut loose: Vec<&str> = Vec::new();
    let mut names_by_class: Vec<Vec<String>> = vec![Vec::new(); own.len()];
    let own_names: Vec<&String> = own.iter().collect();
    for name in files.names() {
        if !is_picture(&files, name)? {
            continue;
        }
        match name
            .split_once('/')
            .map(|(class, _)| own_names.binary_search_by(|own| own.as_str().cmp(class)))
        {
            Some(Ok(class)) => names_by_class[class].push(name.to_owned()),
            _ => loose.push(name),
        }
    }
    if own.is_empty() {
        return Err(DataError::NoClasses {
            place: files.place(),
            pictures: loose.len(),
        });
    }
    if let Some(class) = names_by_class.iter().position(Vec::is_empty) {
        return Err(DataError::EmptyClass {
            folder: files.full_name(own_names[class]),
        });
    }
    let class_names: Vec<String> = known.unwrap_or_else(|| own.clone()).into_iter().collect();
    if let [class] = class_names.as_slice() {
        return Err(DataError::OneClass {
            place: files.place(),
            class: class.clone(),
        });
    }
    let (mut names, mut labels) = (Vec::new(), Vec::new());
    for (class, of_class) in own.iter().zip(names_by_class) {
        let label = class_names
            .binary_search(class)
            .map_err(|_| DataError::UnknownClass {
                folder: files.full_name(class),
                known: few(&class_names),
            })?;
        labels.extend(vec![label as u32; of_class.len()]);
        names.extend(of_class);
    }
    let remark = loose.first().map(|first| {
        format!(
            "{} pictures lie beside the class folders of {} and are left out, such as {first}; move them into a class \
             folder, or away",
            loose.len(),
            files.place()
        )
    });
    Ok(Arc::new(Listed {
        remark,
        files: Arc::new(files),
        names,
        labels,
        class_names,
        unsplit,
    }))
}

fn few(names: &[String]) -> String {
    const SHOWN: usize = 8;
    match names.len() {
        count if count > SHOWN => {
            format!("{} and {} more", names[..SHOWN].join(", "), count - SHOWN)
        }
        _ => names.join(", "),
    }
}
