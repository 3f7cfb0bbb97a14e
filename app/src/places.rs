//! Where the files of a run are, in full: it may go on from another folder.

use bayesadapter::{
    data::{OodKind, Split},
    session::{RunSettings, built_in},
};
use std::path::{Path, absolute};

/// Writes the paths of weights and pictures in full. What comes with the program keeps its name, and so
/// does what a page has in its memory.
pub fn write_in_full(settings: &mut RunSettings) {
    let data = &mut settings.data;
    let images = [Some(&mut data.path), data.out_of_distribution.as_mut()];
    let images = images.into_iter().flatten().chain(&mut data.ood_train);
    let images = images.filter(|place| {
        built_in(place, Split::Test).is_none() && place.parse::<OodKind>().is_err()
    });
    for place in images.chain(settings.model.weights.as_mut()) {
        // What is not there, or cannot be written as text, stays as it was typed; what reads it says what is wrong.
        if Path::new(place.as_str()).exists()
            && let Ok(whole) = absolute(place.as_str())
            && let Ok(text) = whole.into_os_string().into_string()
        {
            *place = text;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_there_is_written_in_full() {
        let mut settings = RunSettings::default();
        // Tests run in the folder of the crate.
        settings.data.path = "src".to_owned();
        settings.data.out_of_distribution = Some("scribbles".to_owned());
        settings.data.ood_train = vec!["src".to_owned(), "noise".to_owned()];
        settings.model.weights = Some("nowhere.pth".to_owned());
        write_in_full(&mut settings);
        let whole = Path::new(&settings.data.path);
        assert!(whole.is_absolute(), "{}", whole.display());
        let here = Path::new("src").canonicalize().unwrap();
        assert_eq!(whole.canonicalize().unwrap(), here);
        let other = settings.data.out_of_distribution.as_deref();
        assert_eq!(other, Some("scribbles"));
        assert_eq!(settings.model.weights.as_deref(), Some("nowhere.pth"));
        assert!(Path::new(&settings.data.ood_train[0]).is_absolute());
        assert_eq!(settings.data.ood_train[1], "noise");
        let before = settings.clone();
        write_in_full(&mut settings);
        assert_eq!(settings, before);
    }
}
