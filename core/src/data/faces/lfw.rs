//! The list of Labeled Faces in the Wild, `pairs.txt`: a line of folds and pairs, then per fold so many lines
//! `name, i, j` of the same person and as many `name, i, name, j` of two, with tabs between.

use super::{Collector, FacePairs};
use crate::data::{DataError, Files};
#[cfg(not(target_family = "wasm"))]
use std::path::Path;

impl FacePairs {
    /// The pairs of a list like LFW's `pairs.txt`; `folder` holds a folder per person with pictures
    /// `Name/Name_0001.jpg`, of any format, perhaps within another folder.
    ///
    /// # Errors
    ///
    /// Files that cannot be read, lines that cannot be understood, and pictures that are not there.
    #[cfg(not(target_family = "wasm"))]
    pub fn open(folder: impl AsRef<Path>, pairs: impl AsRef<Path>) -> Result<Self, DataError> {
        let (folder, pairs) = (folder.as_ref(), pairs.as_ref());
        let name = pairs.display().to_string();
        let bytes = crate::data::files::read_file(pairs, &name)?;
        Self::from_files(Files::from_folder(folder)?, &name, &bytes)
    }

    /// The same from files that are at hand already; `name` is what errors call the list.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn from_files(files: Files, name: &str, pairs: &[u8]) -> Result<Self, DataError> {
        let text = std::str::from_utf8(pairs)
            .map_err(|_| DataError::damaged(name, "it is no UTF-8 text"))?;
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty());
        let wrong = |line: usize, problem: String| DataError::Pairs {
            file: name.to_owned(),
            line: line + 1,
            problem,
        };
        let (folds, per_fold) =
            lines
                .next()
                .and_then(|(_, line)| header(line))
                .ok_or_else(|| {
                    wrong(
                        0,
                        "the numbers of folds and of pairs per fold are needed, as in `10 300`"
                            .to_owned(),
                    )
                })?;
        let around = around(&files);
        let mut found = Collector::new(files);
        let mut last = 0;
        for (at, (line, text)) in lines.enumerate() {
            let same = at / per_fold % 2 == 0;
            let picture = |(person, number): (&str, u32)| {
                let stem = format!("{around}{person}/{person}_{number:04}.");
                let name = found.files.starting_with(&stem).map(str::to_owned);
                let place = found.files.place();
                name.ok_or_else(|| {
                    wrong(line, format!("{place} has no picture {number} of {person}"))
                })
            };
            let pair = pair(text, same).ok_or_else(|| {
                let needed = match same {
                    true => "a name and two numbers",
                    false => "two names with a number each",
                };
                wrong(line, format!("{needed} are needed, but it is {text:?}"))
            })?;
            let (first, second) = (picture(pair[0])?, picture(pair[1])?);
            found.pairs.push((first, second, same, at / (2 * per_fold)));
            last = line;
        }
        let expected = folds * 2 * per_fold;
        if found.pairs.len() != expected {
            let problem = format!(
                "the list ends with {} pairs, but its first line says {expected}",
                found.pairs.len()
            );
            return Err(wrong(last, problem));
        }
        found.finish(person)
    }
}

/// Folds, and pairs of each kind per fold. A single number is one fold.
fn header(line: &str) -> Option<(usize, usize)> {
    let numbers: Result<Vec<usize>, _> = line.split_whitespace().map(str::parse).collect();
    let (folds, per_fold) = match numbers.ok()?.as_slice() {
        [per_fold] => (1, *per_fold),
        [folds, per_fold] => (*folds, *per_fold),
        _ => return None,
    };
    let pairs = folds.checked_mul(per_fold)?.checked_mul(2)?;
    (pairs > 0).then_some((folds, per_fold))
}

/// Person and number of both pictures of a line.
fn pair(line: &str, same: bool) -> Option<[(&str, u32); 2]> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    let [first, second] = match columns.as_slice() {
        [person, first, second] if same => [(*person, first), (*person, second)],
        [person, first, other, second] if !same => [(*person, first), (*other, second)],
        _ => return None,
    };
    Some([
        (first.0, first.1.parse().ok()?),
        (second.0, second.1.parse().ok()?),
    ])
}

/// What stands before the folders of persons.
fn around(files: &Files) -> String {
    let depth = |name: &str| name.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    let deepest = files.names().max_by_key(|name| name.matches('/').count());
    deepest.map_or(String::new(), |name| name[..depth(name)].to_owned())
}

fn person(name: &str) -> &str {
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.rsplit('/').next().unwrap_or(folder)
}
