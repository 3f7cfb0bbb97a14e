//! The images that networks are evaluated on: a part of the test set, and its corruptions.

use super::Flags;
use crate::{
    cli::{
        BadInput, Voice, checkpoint,
        test_pictures::{self, Judged, Validation},
    },
    network,
};
use anyhow::{Context, Result};
use bayesadapter::data::{
    Corrupted, Corruption, DataError, Dataset, FrostPictures, Share, Subset, stratified_split,
};
use std::{path::Path, str::FromStr, sync::Arc};

/// Random seed of subsets and corruptions: the same images for every network and every call.
const SEED: u64 = 0;
/// The severity of a single corruption: it shows a difference before everything is lost.
const MIDDLE: u8 = 3;

/// What `--corruption` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corruptions {
    /// Every type of CIFAR-10-C.
    All,
    /// One of them.
    One(Corruption),
}

impl FromStr for Corruptions {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        if name == "all" {
            return Ok(Self::All);
        }
        let one = name.parse::<Corruption>().map(Self::One);
        one.map_err(|error| match error {
            DataError::UnknownCorruption { name, known } => DataError::UnknownCorruption {
                name,
                known: format!("all, {known}"),
            },
            error => error,
        })
    }
}

/// Test images, as many of them as asked for, and validation images with where they come from.
pub fn open(flags: &Flags, voice: &Voice) -> Result<(Arc<dyn Dataset>, Validation)> {
    let files = flags.posteriors.iter();
    let networks: Result<Vec<Judged>> = files
        .filter(|path| flags.model.is_none() || checkpoint::is_posterior(path))
        .map(|path| read(path))
        .collect();
    let asked = flags.validation.map(|split| (split, flags.split_seed));
    let (test, validation) = test_pictures::open(&flags.data, asked, &networks?, voice)?;
    Ok((some(test, flags.images, voice)?, validation))
}

fn read(path: &Path) -> Result<Judged> {
    Ok(Judged {
        file: path.to_owned(),
        header: network::read(path)?.header().clone(),
    })
}

/// A stratified subset of so many test images; all of them if no number is given.
fn some(test: Arc<dyn Dataset>, images: Option<usize>, voice: &Voice) -> Result<Arc<dyn Dataset>> {
    let Some(count) = images.filter(|&count| count != test.len()) else {
        return Ok(test);
    };
    if count > test.len() {
        voice.warn(&format!(
            "--images {count}: the test set has {} images, and all of them are evaluated",
            test.len()
        ));
        return Ok(test);
    }
    let (_, taken) = stratified_split(&test, Share::Count(count), SEED).context("--images")?;
    voice.say(format_args!(
        "Evaluated on {count} of {} test images, the same share of every class",
        test.len()
    ));
    Ok(Arc::new(taken))
}

/// At most so many images of a data set: a stratified subset, or the first ones where no class could be left out.
pub fn at_most(count: usize, data: &Arc<dyn Dataset>) -> Result<Arc<dyn Dataset>> {
    if data.len() <= count {
        return Ok(Arc::clone(data));
    }
    let taken = match stratified_split(data, Share::Count(count), SEED) {
        Ok((_, taken)) => taken,
        Err(_) => Subset::new(Arc::clone(data), (0..count).collect())?,
    };
    Ok(Arc::new(taken))
}

/// The test set with the corruption that the flags name; as it is if they name none.
pub fn corrupted(test: Arc<dyn Dataset>, flags: &Flags) -> Result<Arc<dyn Dataset>> {
    let Some(Corruptions::One(corruption)) = flags.corruption else {
        return Ok(test);
    };
    if flags.frost.is_some() && corruption != Corruption::Frost {
        let text =
            format!("--frost is for the corruption frost, and {corruption} needs no photographs");
        return Err(BadInput(text).into());
    }
    let frost = frost(flags)?;
    with_corruption(
        &test,
        corruption,
        flags.severity.unwrap_or(MIDDLE),
        frost.as_ref(),
    )
}

fn frost(flags: &Flags) -> Result<Option<FrostPictures>> {
    let folder = flags.frost.as_ref();
    Ok(folder.map(FrostPictures::open).transpose()?)
}

fn with_corruption(
    test: &Arc<dyn Dataset>,
    corruption: Corruption,
    severity: u8,
    frost: Option<&FrostPictures>,
) -> Result<Arc<dyn Dataset>> {
    let test = Arc::clone(test);
    let corrupted = match (corruption, frost) {
        (Corruption::Frost, Some(frost)) => {
            Corrupted::with_frost(test, frost.clone(), severity, SEED)
        }
        _ => Corrupted::new(test, corruption, severity, SEED),
    };
    Ok(Arc::new(corrupted?))
}

/// The corruptions and severities of a sweep.
pub struct Grid {
    /// Types of corruption.
    pub types: Vec<Corruption>,
    /// The severities of each.
    pub severities: Vec<u8>,
    frost: Option<FrostPictures>,
}

impl Grid {
    /// All types and severities, or the one severity that the flags give. Without its photographs frost is left out.
    pub fn of(flags: &Flags, voice: &Voice) -> Result<Self> {
        let frost = frost(flags)?;
        let mut types = Corruption::ALL.to_vec();
        if frost.is_none() {
            types.retain(|&corruption| corruption != Corruption::Frost);
            voice.warn(&format!(
                "the corruption frost is left out, since it needs photographs (--frost FOLDER): {} of {} types remain",
                types.len(),
                Corruption::ALL.len()
            ));
        }
        let severities = match flags.severity {
            Some(severity) => vec![severity],
            None => (1..=5).collect(),
        };
        Ok(Self {
            types,
            severities,
            frost,
        })
    }

    /// Every type with every severity.
    pub fn cells(&self) -> Vec<(Corruption, u8)> {
        let types = self.types.iter();
        types
            .flat_map(|&corruption| self.severities.iter().map(move |&one| (corruption, one)))
            .collect()
    }

    /// The test set with one of them.
    pub fn images(
        &self,
        test: &Arc<dyn Dataset>,
        (corruption, severity): (Corruption, u8),
    ) -> Result<Arc<dyn Dataset>> {
        with_corruption(test, corruption, severity, self.frost.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bayesadapter::data::{Split, digits};

    #[test]
    fn all_is_a_name_beside_those_of_the_types() {
        assert_eq!("all".parse::<Corruptions>().unwrap(), Corruptions::All);
        let fog = "fog".parse::<Corruptions>().unwrap();
        assert_eq!(fog, Corruptions::One(Corruption::Fog));
        let unknown = "rain".parse::<Corruptions>().unwrap_err().to_string();
        assert!(
            unknown.contains("`rain`") && unknown.contains("known are all, gaussian_noise"),
            "{unknown}"
        );
    }

    #[test]
    fn every_type_has_every_severity_once() {
        let grid = Grid {
            types: vec![Corruption::Fog, Corruption::Snow],
            severities: vec![1, 4],
            frost: None,
        };
        let (fog, snow) = (Corruption::Fog, Corruption::Snow);
        assert_eq!(grid.cells(), [(fog, 1), (fog, 4), (snow, 1), (snow, 4)]);
    }

    #[test]
    fn no_more_images_than_asked_for_are_taken() {
        let test: Arc<dyn Dataset> = Arc::new(digits(Split::Test));
        // Of 5 images of 10 classes not every class can have one, of 350 of 355 not every class keeps one.
        for count in [5, 20, 350, 355] {
            assert_eq!(at_most(count, &test).unwrap().len(), count);
        }
        assert_eq!(at_most(1_000, &test).unwrap().len(), 355);
    }
}
