//! Pictures that cannot be read.

use crate::fixtures::{
    Watched, batches, epoch, examples, folder, opened, picture, plain, png, settings, write,
};
use bayesadapter::data::{BatchSettings, DataError, Picture, Split};

#[test]
fn a_broken_picture_is_an_error_in_its_place() {
    for workers in [0, 3] {
        let batches = batches(
            Watched::new(|index| index == 57),
            BatchSettings {
                workers,
                ..settings(10, plain([3, 4, 4]))
            },
        );
        let made: Vec<_> = batches.epoch(0, 0).collect();
        assert_eq!(made.len(), 6);
        assert!(made[..5].iter().all(Result::is_ok));
        let error = made[5]
            .as_ref()
            .expect_err("the sixth batch is broken")
            .to_string();
        assert_eq!(
            error,
            "picture 57 is no picture that can be read: made so; replace it, or let broken pictures be skipped"
        );
    }
}

#[test]
fn broken_pictures_are_skipped_on_demand() {
    let skipping = BatchSettings {
        skip_broken: true,
        ..settings(10, plain([3, 4, 4]))
    };
    // All of batch 1, one of batch 2, and all of the last.
    let dataset = Watched::new(|index| (10..20).contains(&index) || index == 23 || index >= 990);
    let made = epoch(&batches(dataset, skipping.clone()), 0, 0);
    // Every batch is there, so that an index is a place in the epoch.
    assert!(made.iter().map(|batch| batch.index).eq(0..100));
    let left = |index: usize| (made[index].shape[0], made[index].skipped.len());
    assert_eq!(
        [left(0), left(1), left(2), left(99)],
        [(10, 0), (0, 10), (9, 1), (0, 10)]
    );
    assert_eq!(made[2].skipped, ["picture 23 (made so)"]);
    let nothing_left = batches(Watched::new(|_| true), skipping).epoch(0, 0).next();
    let error = nothing_left
        .expect("an error")
        .expect_err("nothing is left")
        .to_string();
    assert!(
        error.starts_with("all 1000 pictures are broken; the first is picture 0"),
        "{error}"
    );
}

#[test]
fn batches_without_examples_before_the_first_are_not_lost() {
    for workers in [0, 3] {
        let skipping = BatchSettings {
            skip_broken: true,
            workers,
            ..settings(10, plain([3, 4, 4]))
        };
        let made = epoch(&batches(Watched::new(|index| index < 25), skipping), 0, 0);
        let sizes: Vec<usize> = made.iter().map(|batch| batch.shape[0]).collect();
        assert_eq!((&sizes[..4], made.len()), (&[0, 0, 5, 10][..], 100));
    }
}

#[test]
fn a_file_that_is_no_picture_is_named() {
    let data = folder();
    write(data.path(), "a/good.png", png(&picture(3, 4, 4, 0)));
    write(data.path(), "b/bad.png", "not a picture");
    write(data.path(), "b/cut.png", &png(&picture(3, 4, 4, 0))[..60]);
    let set = opened(data.path(), Split::Train);
    let errors: Vec<String> = (1..3)
        .map(|i| set.picture(i).expect_err("broken").to_string())
        .collect();
    assert!(
        errors[0].contains("b/bad.png is no picture that can be read"),
        "{}",
        errors[0]
    );
    assert!(
        errors[1].contains("b/cut.png is no picture that can be read"),
        "{}",
        errors[1]
    );
}

#[test]
fn a_file_that_cannot_be_read_is_a_broken_picture() {
    let data = folder();
    let names = ["a/0.png", "a/1.png", "b/2.png", "b/3.png"];
    for (number, name) in names.iter().enumerate() {
        write(data.path(), name, png(&picture(3, 4, 4, number)));
    }
    let set = opened(data.path(), Split::Train);
    // After the folder was listed one is gone, and one has become what nobody can read as a file.
    std::fs::remove_file(data.path().join("a/1.png")).expect("a file can be removed");
    std::fs::remove_file(data.path().join("b/3.png")).expect("a file can be removed");
    std::fs::create_dir(data.path().join("b/3.png")).expect("a folder can be made");
    for (index, name) in [(1, "a/1.png"), (3, "b/3.png")] {
        let error = set.picture(index).expect_err("nothing to read");
        assert!(
            matches!(&error, DataError::Broken { name: found, .. } if found.ends_with(name)),
            "{error}"
        );
    }
    let skipping = BatchSettings {
        skip_broken: true,
        ..settings(4, plain([3, 4, 4]))
    };
    let batches = batches(set, skipping);
    let made = epoch(&batches, 0, 0);
    assert_eq!(examples(&made), [0, 2]);
    assert_eq!(made[0].skipped.len(), 2);
    // A folder that is gone, as when a disk is, is more than a broken picture.
    std::fs::remove_dir_all(data.path().join("b")).expect("a folder can be removed");
    let error = batches
        .epoch(0, 0)
        .find_map(Result::err)
        .expect("no folder");
    assert!(matches!(error, DataError::Read { .. }), "{error}");
}

#[test]
fn a_picture_that_claims_to_be_huge_is_refused_before_memory_is_asked_for() {
    let mut bmp = vec![0; 54];
    bmp[..2].copy_from_slice(b"BM");
    bmp[10] = 54;
    bmp[14] = 40;
    bmp[18..22].copy_from_slice(&2_000_000_000i32.to_le_bytes());
    bmp[22..26].copy_from_slice(&2_000_000_000i32.to_le_bytes());
    bmp[26] = 1;
    bmp[28] = 24;
    let error = Picture::decode(&bmp, "huge.bmp")
        .expect_err("too large")
        .to_string();
    assert!(
        error.starts_with("huge.bmp is no picture that can be read"),
        "{error}"
    );
    let ppm = Picture::decode(b"P6 60000 60000 255\n", "huge.ppm").expect_err("too large");
    assert!(
        ppm.to_string().starts_with("huge.ppm is no picture"),
        "{ppm}"
    );
}
