//! Generated out-of-distribution images: their order, sizes, names and refusals. Each kind has a file of its own.

mod blur;
mod doodles;
mod mixtures;
mod noise;
mod patches;

use crate::fixtures::{Watched, numbered, picture};
use bayesadapter::data::{
    DataError, Dataset, GeneratedOod, OodKind, Picture, Pictures, Split, digits, scribbles,
};
use std::collections::BTreeSet;
use std::sync::Arc;

fn train() -> Arc<dyn Dataset> {
    Arc::new(digits(Split::Train))
}

fn set(pictures: Vec<Picture>) -> Arc<dyn Dataset> {
    let labels = (0..pictures.len()).map(|at| (at % 2) as u32).collect();
    let names = vec!["even".to_owned(), "odd".to_owned()];
    Arc::new(Pictures::new(pictures, labels, names).expect("a data set"))
}

fn generated(source: Arc<dyn Dataset>, kinds: &[OodKind], seed: u64) -> GeneratedOod {
    GeneratedOod::new(source, kinds, seed).unwrap_or_else(|error| panic!("{error}"))
}

fn image(data: &dyn Dataset, index: usize) -> Picture {
    data.picture(index)
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_image_is_a_function_of_seed_and_index() {
    let ood = generated(train(), &OodKind::ALL, 4);
    assert_eq!(
        (ood.len(), ood.class_names().len(), ood.label(9)),
        (4096, 1, 0)
    );
    let forwards: Vec<Picture> = (0..60).map(|index| image(&ood, index)).collect();
    let again = generated(train(), &OodKind::ALL, 4);
    for index in (0..60).rev() {
        assert_eq!(image(&again, index), forwards[index]);
    }
    let other = generated(train(), &OodKind::ALL, 5);
    let same = (0..60).filter(|&index| image(&other, index) == forwards[index]);
    assert!(same.count() < 6);
    // Past the end of a small source its images come back, changed in another way.
    let small = generated(
        set(vec![picture(1, 8, 8, 1), picture(1, 8, 8, 2)]),
        &[OodKind::Noise],
        0,
    );
    assert_ne!(image(&small, 0), image(&small, 2));
    assert!(matches!(
        small.picture(4096),
        Err(DataError::Index {
            index: 4096,
            len: 4096
        })
    ));
    let large: Vec<Picture> = vec![picture(1, 2, 2, 0); 5000];
    assert_eq!(generated(set(large), &[OodKind::Noise], 0).len(), 5000);
}

#[test]
fn kinds_take_turns_in_all_classes() {
    let source = train();
    let ood = generated(source.clone(), &OodKind::ALL, 0);
    let mut met = BTreeSet::new();
    for first in (0..1000).step_by(5) {
        let kinds: BTreeSet<OodKind> = (first..first + 5).map(|index| ood.kind(index)).collect();
        assert_eq!(kinds.len(), 5, "images {first} to {}", first + 4);
        met.extend((first..first + 5).map(|index| (source.label(index), ood.kind(index))));
    }
    assert_eq!(met.len(), 50);
    assert!(ood.name(3).contains(ood.kind(3).name()) && ood.name(3).contains("picture 3"));
    // One that is named twice is made twice as often.
    let noisy = generated(
        source,
        &[OodKind::Noise, OodKind::Noise, OodKind::Patches],
        0,
    );
    let noise = (0..300).filter(|&index| noisy.kind(index) == OodKind::Noise);
    assert_eq!(noise.count(), 200);
}

#[test]
fn sizes_and_channels_are_kept() {
    let shapes = [
        (1, 8, 8),
        (3, 32, 32),
        (1, 28, 28),
        (3, 17, 40),
        (3, 1, 1),
        (1, 2, 300),
        (3, 90, 64),
    ];
    for (channels, height, width) in shapes {
        let pictures = (0..10)
            .map(|seed| picture(channels, height, width, seed))
            .collect();
        let ood = generated(set(pictures), &OodKind::ALL, 6);
        for index in 0..10 {
            let made = image(&ood, index);
            assert_eq!(
                (made.channels, made.height, made.width),
                (channels, height, width)
            );
            assert_eq!(made.pixels.len(), channels * height * width);
        }
    }
}

#[test]
fn names_are_read_back() {
    for kind in OodKind::ALL {
        assert_eq!(
            kind.to_string().parse::<OodKind>().expect("its own name"),
            kind
        );
        assert_eq!(
            serde_json::to_string(&kind).expect("a name"),
            format!("\"{kind}\"")
        );
    }
    let error = "scribbles"
        .parse::<OodKind>()
        .expect_err("no kind")
        .to_string();
    assert_eq!(
        error,
        "the kind of OOD images is `scribbles`, but the generated kinds are noise, blur-jpeg, patches, mixtures, doodles"
    );
}

#[test]
fn what_cannot_be_made_is_refused() {
    let refused =
        |source: Arc<dyn Dataset>, kinds: &[OodKind]| match GeneratedOod::new(source, kinds, 0) {
            Ok(_) => panic!("this should have been refused"),
            Err(error) => error.to_string(),
        };
    let empty = refused(train(), &[]);
    assert!(empty.contains("one or more of noise, blur-jpeg"), "{empty}");
    let alone = refused(
        Arc::new(scribbles(5, 0)),
        &[OodKind::Noise, OodKind::Mixtures],
    );
    assert!(
        alone.contains("mixtures need images of two classes; leave them out"),
        "{alone}"
    );
    assert!(GeneratedOod::new(numbered(1), &[OodKind::Patches], 0).is_ok());
    // A broken original is its own error, which batches can skip.
    let ood = generated(Watched::new(|index| index == 3), &[OodKind::Noise], 0);
    assert!(ood.picture(2).is_ok());
    assert!(matches!(ood.picture(3), Err(DataError::Broken { .. })));
}
