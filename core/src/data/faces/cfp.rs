//! Celebrities in Frontal-Profile: `Protocol/Pair_list_F.txt` and `Pair_list_P.txt` number the pictures,
//! `Protocol/Split/FF/01/same.txt` and `diff.txt` pair them by number, in ten folds; `FP` pairs frontal with profile.

use super::{Collector, FacePairs};
use crate::data::{DataError, Files};
use std::collections::HashMap;
use std::fmt;
#[cfg(not(target_family = "wasm"))]
use std::path::Path;

const FOLDS: usize = 10;

/// Which pairs of CFP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CfpPairs {
    /// Two frontal faces.
    FrontalFrontal,
    /// A frontal face and a profile.
    FrontalProfile,
}

impl fmt::Display for CfpPairs {
    /// The name of the protocol's folder.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FrontalFrontal => "FF",
            Self::FrontalProfile => "FP",
        })
    }
}

impl FacePairs {
    /// The pairs of CFP, from the folder that holds `Data` and `Protocol`.
    ///
    /// # Errors
    ///
    /// Files that are missing or cannot be read, lines that cannot be understood, and pictures that are not there.
    #[cfg(not(target_family = "wasm"))]
    pub fn open_cfp(folder: impl AsRef<Path>, pairs: CfpPairs) -> Result<Self, DataError> {
        Self::cfp_from_files(Files::from_folder(folder)?, pairs)
    }

    /// The same from files that are at hand already.
    ///
    /// # Errors
    ///
    /// As [`open_cfp`](Self::open_cfp).
    pub fn cfp_from_files(files: Files, pairs: CfpPairs) -> Result<Self, DataError> {
        let frontal = numbered(&files, "Protocol/Pair_list_F.txt")?;
        let second = match pairs {
            CfpPairs::FrontalFrontal => frontal.clone(),
            CfpPairs::FrontalProfile => numbered(&files, "Protocol/Pair_list_P.txt")?,
        };
        let mut found = Collector::new(files);
        for fold in 0..FOLDS {
            for (same, file) in [(true, "same.txt"), (false, "diff.txt")] {
                let list = format!("Protocol/Split/{pairs}/{:02}/{file}", fold + 1);
                for (line, text) in content(&found.files.read_text(&list)?) {
                    let pair = text.split_once(',').and_then(|(a, b)| {
                        let picture = |names: &HashMap<u32, String>, number: &str| {
                            names.get(&number.trim().parse().ok()?).cloned()
                        };
                        Some((picture(&frontal, a)?, picture(&second, b)?))
                    });
                    let (first, second) = pair.ok_or_else(|| DataError::Pairs {
                        file: found.files.full_name(&list),
                        line: line + 1,
                        problem: format!(
                            "two numbers of pictures are needed, as in `1,2`, but it is {text:?}"
                        ),
                    })?;
                    found.pairs.push((first, second, same, fold));
                }
            }
        }
        found.finish(person)
    }
}

/// The pictures of a list, by number.
fn numbered(files: &Files, list: &str) -> Result<HashMap<u32, String>, DataError> {
    let mut names = HashMap::new();
    for (line, text) in content(&files.read_text(list)?) {
        let wrong = |problem: String| DataError::Pairs {
            file: files.full_name(list),
            line: line + 1,
            problem,
        };
        let entry = text.split_once(char::is_whitespace);
        let entry = entry.and_then(|(number, path)| Some((number.parse().ok()?, path.trim())));
        let (number, path) = entry.ok_or_else(|| {
            wrong(format!(
                "a number and a path are needed, but it is {text:?}"
            ))
        })?;
        // Relative to the folder of the list.
        let name = path.trim_start_matches("../");
        if !files.has(name) {
            return Err(wrong(format!("{} is not there", files.full_name(name))));
        }
        names.insert(number, name.to_owned());
    }
    Ok(names)
}

/// The lines that hold something, with their numbers.
fn content(text: &str) -> Vec<(usize, &str)> {
    let lines = text.lines().map(str::trim).enumerate();
    lines.filter(|(_, line)| !line.is_empty()).collect()
}

/// `Data/Images/001/frontal/01.jpg` shows person 001.
fn person(name: &str) -> &str {
    name.rsplit('/').nth(2).unwrap_or(name)
}
