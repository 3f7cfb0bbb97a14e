//! Pictures whose names are the numbers of their classes, `0000.jpg`, or begin with them, `0000_1.jpg`, and
//! `classes.tsv` with lines of number, any further columns, and name.

use super::Opened;
use crate::data::listed::{Listed, is_picture};
use crate::data::{DataError, Files, Split};
use std::sync::Arc;

const CLASSES: &str = "classes.tsv";

pub(super) fn recognises(files: &Files) -> bool {
    files.has(CLASSES)
}

pub(super) fn open(files: &Files, _: Split) -> Opened {
    let class_names = class_names(files)?;
    let (mut names, mut labels) = (Vec::new(), Vec::new());
    for name in files.names() {
        if !is_picture(files, name)? {
            continue;
        }
        let file = name.rsplit('/').next().unwrap_or(name);
        let digits = file
            .find(|letter: char| !letter.is_ascii_digit())
            .unwrap_or(file.len());
        let label: u32 = file[..digits].parse().map_err(|_| {
            let problem = "its name has to begin with the number of its class, as in 0007.jpg";
            DataError::damaged(files.full_name(name), problem)
        })?;
        if label as usize >= class_names.len() {
            return Err(DataError::Label {
                file: files.full_name(name),
                picture: names.len(),
                label,
                classes: class_names.len(),
            });
        }
        names.push(name.to_owned());
        labels.push(label);
    }
    if names.is_empty() {
        return Err(DataError::Empty {
            place: files.place(),
        });
    }
    Ok(Arc::new(Listed {
        files: Arc::new(files.clone()),
        names,
        labels,
        class_names,
        unsplit: true,
        remark: None,
    }))
}

/// The last column, for numbers that count from 0.
fn class_names(files: &Files) -> Result<Vec<String>, DataError> {
    let text = files.read_text(CLASSES)?;
    let mut names = Vec::new();
    for (at, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
        let number = columns[0].parse::<usize>();
        if columns.len() < 2 || number != Ok(names.len()) {
            return Err(DataError::damaged(
                files.full_name(CLASSES),
                format!(
                    "line {} is {line:?}, but {} and a name, with a tab between, are needed",
                    at + 1,
                    names.len()
                ),
            ));
        }
        names.push(columns[columns.len() - 1].to_owned());
    }
    Ok(names)
}
