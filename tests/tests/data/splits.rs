//! Training, validation and test sets: which images are in which.

use crate::fixtures::{folder, numbered, picture, png, write};
use bayesadapter::data::{
    DataError, Dataset, Picture, Pictures, Share, Split, Splits, Subset, ValidationSource,
    ValidationSplit, digits, open_validation, stratified_split,
};
use bayesadapter::session::open_splits;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Which images these are: fixtures name them by their place in the whole data set.
fn names(data: &dyn Dataset) -> BTreeSet<String> {
    (0..data.len()).map(|index| data.name(index)).collect()
}

fn labels(data: &dyn Dataset) -> Vec<u32> {
    (0..data.len()).map(|index| data.label(index)).collect()
}

/// Number of images of each class.
fn counts(data: &dyn Dataset) -> Vec<usize> {
    let mut counts = vec![0; data.class_names().len()];
    labels(data)
        .iter()
        .for_each(|&label| counts[label as usize] += 1);
    counts
}

/// Images of classes of these sizes, one class after the other.
fn classes(sizes: &[usize]) -> Arc<dyn Dataset> {
    let labels: Vec<u32> = (0..)
        .zip(sizes)
        .flat_map(|(label, &size)| vec![label; size])
        .collect();
    let black = Picture::new(1, 1, 1, vec![0]).expect("an image");
    let names = (0..sizes.len()).map(|class| class.to_string()).collect();
    Arc::new(Pictures::new(vec![black; labels.len()], labels, names).expect("a data set"))
}

fn parsed(text: &str) -> ValidationSplit {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn digits_split(validation: &str, seed: u64) -> Splits {
    let splits = open_splits("digits", &parsed(validation), seed);
    splits.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_class_gives_its_share_and_no_image_is_in_two_sets() {
    let whole: Arc<dyn Dataset> = Arc::new(digits(Split::Train));
    let (rest, taken) = stratified_split(&whole, Share::Fraction(0.1), 3).expect("a split");
    let (left, right) = (names(&rest), names(&taken));
    assert!(left.is_disjoint(&right));
    assert_eq!(
        left.union(&right).cloned().collect::<BTreeSet<_>>(),
        names(&*whole)
    );
    assert_eq!(taken.len(), 144); // 1,442 / 10
    for (class, (of_taken, of_all)) in counts(&taken).iter().zip(counts(&*whole)).enumerate() {
        let exact = of_all as f64 / 10.0;
        assert!(
            (*of_taken as f64 - exact).abs() < 1.0,
            "class {class}: {of_taken} of {of_all}"
        );
    }
    // In the order of the data.
    let in_order = (0..whole.len()).map(|index| whole.name(index));
    let expected = in_order.filter(|name| right.contains(name));
    assert!(expected.eq((0..taken.len()).map(|index| taken.name(index))));
}

#[test]
fn a_count_is_met_exactly() {
    for count in [10, 11, 99, 200, 777, 1_432] {
        let whole: Arc<dyn Dataset> = Arc::new(digits(Split::Train));
        let (rest, taken) = stratified_split(&whole, Share::Count(count), 0).expect("a split");
        assert_eq!((rest.len(), taken.len()), (1_442 - count, count));
        assert!(counts(&taken).iter().all(|&count| count > 0));
        assert!(counts(&rest).iter().all(|&count| count > 0));
    }
    // Classes of 100, 2 and 1: one of two is taken, and the only one stays in the larger part.
    let uneven = classes(&[100, 2, 1]);
    for (share, expected) in [
        (Share::Count(2), [1, 1, 0]),
        (Share::Count(10), [9, 1, 0]),
        (Share::Fraction(0.25), [25, 1, 0]),
        (Share::Count(80), [78, 1, 1]),
    ] {
        let (rest, taken) = stratified_split(&uneven, share, 0).expect("a split");
        assert_eq!(counts(&taken), expected, "{share}");
        assert_eq!(rest.len() + taken.len(), 103);
    }
}

#[test]
fn the_seed_alone_chooses_the_images() {
    let chosen = |seed| {
        names(
            &**digits_split("0.2", seed)
                .validation
                .as_ref()
                .expect("images"),
        )
    };
    assert_eq!(chosen(5), chosen(5));
    let both = chosen(5).intersection(&chosen(6)).count();
    // Of 288 out of 1,442 by chance 58 are in both, give or take 7.
    assert!((30..90).contains(&both), "{both} of 288 are the same");
    // A larger share has the same images and more, class by class but for the rounding.
    let (small, large) = (
        chosen(5),
        names(&**digits_split("0.3", 5).validation.as_ref().expect("images")),
    );
    assert!(small.difference(&large).count() == 0);
}

#[test]
fn images_are_taken_from_all_over_the_data() {
    let whole = classes(&[1_000, 1_000]);
    let (_, taken) = stratified_split(&whole, Share::Count(400), 1).expect("a split");
    let place = |index: usize| -> f64 {
        let name = taken.name(index);
        name.rsplit(' ')
            .next()
            .and_then(|number| number.parse().ok())
            .expect("a number")
    };
    let mean = (0..200).map(place).sum::<f64>() / 200.0;
    // The standard deviation of this mean is 18.
    assert!((mean - 499.5).abs() < 75.0, "{mean}");
}

#[test]
fn auto_takes_a_fifth_of_a_test_set() {
    let splits = digits_split("auto", 0);
    let (train, test) = (digits(Split::Train), digits(Split::Test));
    let validation = splits.validation.expect("a fifth of the test set");
    assert_eq!(names(&*splits.train), names(&train));
    assert_eq!((validation.len(), splits.test.len()), (71, 284));
    assert!(names(&*validation).is_disjoint(&names(&*splits.test)));
    assert!(names(&*validation).is_subset(&names(&test)));
    let source = splits.validation_source.expect("it comes from somewhere");
    assert_eq!(source, ValidationSource::Test { taken: 71, of: 355 });
    // The same as by its name.
    let named = digits_split("test:0.2", 0).validation.expect("the same");
    assert_eq!(names(&*named), names(&*validation));
}

#[test]
fn of_data_in_one_piece_auto_takes_a_tenth_for_testing_and_then_a_tenth() {
    let whole: Arc<dyn Dataset> = classes(&[200, 100, 50]);
    let of =
        |validation: &str| Splits::of_whole(whole.clone(), &parsed(validation), 7).expect("sets");
    let (auto, none) = (of("auto"), of("none"));
    assert_eq!(counts(&*auto.test), [20, 10, 5]);
    let validation = auto.validation.expect("a tenth of the rest");
    // Of 315, 31.5: 18, 9 and 4.5 images.
    assert_eq!(counts(&*validation), [18, 9, 5]);
    assert_eq!(counts(&*auto.train), [162, 81, 40]);
    let source = auto.validation_source.expect("it comes from somewhere");
    assert_eq!(source, ValidationSource::Train { taken: 32, of: 315 });
    // The test set is the same with and without.
    assert_eq!(names(&*none.test), names(&*auto.test));
    assert_eq!(
        names(&*none.test),
        names(&*Splits::hold_out(whole.clone(), 7).test)
    );
    assert!(none.validation.is_none() && none.validation_source.is_none());
    let all = [&auto.train, &validation, &auto.test].map(|data| names(&**data));
    assert_eq!(all.iter().map(BTreeSet::len).sum::<usize>(), 350);
    assert_eq!(
        all.into_iter().flatten().collect::<BTreeSet<_>>(),
        names(&*whole)
    );
}

#[test]
fn auto_is_content_where_nothing_can_be_divided() {
    let (train, test) = (classes(&[5, 5]), classes(&[1, 1]));
    let splits = |validation: &str| {
        Splits::of_parts(train.clone(), None, test.clone(), &parsed(validation), 0)
    };
    let auto = splits("auto").expect("sets without validation");
    assert!(auto.validation.is_none());
    assert_eq!(auto.test.len(), 2);
    let error = splits("test:0.2")
        .err()
        .expect("nothing to divide")
        .to_string();
    assert_eq!(
        error,
        "validation is test:0.2, but in the test set no class has two images, one for either side; add images"
    );
}

#[test]
fn the_validation_folder_of_the_data_is_found() {
    let data = folder();
    let path = data.path().display().to_string();
    let add = |name: &str| write(data.path(), name, png(&picture(3, 4, 4, 0)));
    for name in [
        "train/a/1.png",
        "train/b/1.png",
        "train/c/1.png",
        "val/c/1.png",
        "val/b/1.png",
    ] {
        add(name);
    }
    // Without a test folder it is the test set, and nothing is left for validation.
    assert!(
        open_validation(data.path())
            .expect("class folders")
            .is_none()
    );
    // A test folder without classes, as ImageNet's, is none.
    add("test/unknown.png");
    assert!(
        open_validation(data.path())
            .expect("class folders")
            .is_none()
    );
    add("test/a/1.png");
    add("test/b/1.png");
    let own = open_validation(data.path())
        .expect("class folders")
        .expect("val/");
    assert_eq!(own.class_names(), ["a", "b", "c"]);
    assert_eq!(labels(&*own), [1, 2]);
    let splits = open_splits(&path, &ValidationSplit::Auto, 0).expect("three sets");
    let validation = splits.validation.expect("val/");
    assert_eq!(names(&*validation), names(&*own));
    assert_eq!((splits.train.len(), splits.test.len()), (3, 2));
    assert!(splits.test.name(0).ends_with("test/a/1.png"));
    assert_eq!(splits.validation_source, Some(ValidationSource::Own));
    // It is there to be used or not.
    let none = open_splits(&path, &ValidationSplit::None, 0).expect("two sets");
    assert!(none.validation.is_none());
    // A class that training does not know is refused here too.
    add("val/d/1.png");
    let error = open_validation(data.path())
        .err()
        .expect("an unknown class")
        .to_string();
    assert!(
        error.contains("val/d is a class that the training folder does not have"),
        "{error}"
    );
}

#[test]
fn texts_are_read_back() {
    for (text, expected) in [
        ("auto", ValidationSplit::Auto),
        ("none", ValidationSplit::None),
        ("0.1", ValidationSplit::Train(Share::Fraction(0.1))),
        ("2000", ValidationSplit::Train(Share::Count(2000))),
        ("1", ValidationSplit::Train(Share::Count(1))),
        ("test:0.2", ValidationSplit::Test(Share::Fraction(0.2))),
        ("test:2000", ValidationSplit::Test(Share::Count(2000))),
    ] {
        assert_eq!(parsed(text), expected);
        assert_eq!(expected.to_string(), text);
        let json = serde_json::to_string(&expected).expect("a text");
        assert_eq!(json, format!("\"{text}\""));
        assert_eq!(
            serde_json::from_str::<ValidationSplit>(&json).expect("a split"),
            expected
        );
    }
    assert_eq!(ValidationSplit::default(), ValidationSplit::Auto);
    let fraction = ValidationSplit::Test(Share::Fraction(1e-7));
    assert_eq!(parsed(&fraction.to_string()), fraction);
    // Numbers need no quotes in files.
    let read =
        |json| serde_json::from_str::<ValidationSplit>(json).map_err(|error| error.to_string());
    assert_eq!(read("0.1"), Ok(parsed("0.1")));
    assert_eq!(read("2000"), Ok(parsed("2000")));
    assert!(read("-3").is_err() && read("1.0").is_err() && read("0").is_err());
}

#[test]
fn what_is_no_share_is_refused() {
    let texts = [
        "", "0", "0.0", "1.0", "1.5", "-0.1", "-5", "nan", "inf", "ten", "0,1", "10 %", "test:",
    ];
    let of_test = ["test:0", "test:1.0", "test:auto", "test: 5", "train:0.1"];
    for text in texts.into_iter().chain(of_test) {
        let error = text.parse::<ValidationSplit>().expect_err(text);
        assert!(
            matches!(
                error,
                DataError::Setting {
                    what: "validation",
                    ..
                }
            ),
            "{error}"
        );
        let expected = format!(
            "validation is `{text}`, but auto, none, a share of the training set, as 0.1 or 2000, or of the test set, \
             as test:0.2 or test:2000, is needed"
        );
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn more_than_there_is_is_refused() {
    for (validation, expected) in [
        (
            "5000",
            "validation is 5000, but in the training set of 1442 images of 10 classes 10 to 1432 can be taken, so that \
             no class is missing on either side",
        ),
        (
            "test:355",
            "validation is test:355, but in the test set of 355 images of 10 classes 10 to 345 can be taken, so that \
             no class is missing on either side",
        ),
        (
            "9",
            "validation is 9, but in the training set of 1442 images of 10 classes 10 to 1432 can be taken, so that no \
             class is missing on either side",
        ),
    ] {
        let error = open_splits("digits", &parsed(validation), 0).err();
        assert_eq!(error.expect("too many or too few").to_string(), expected);
    }
    for fraction in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(stratified_split(&classes(&[9, 9]), Share::Fraction(fraction), 0).is_err());
    }
}

#[test]
fn sources_are_told_in_words() {
    for (source, expected) in [
        (ValidationSource::Own, "validation set of the data"),
        (
            ValidationSource::Train {
                taken: 5_000,
                of: 50_000,
            },
            "10 % of the training set (5,000 images)",
        ),
        (
            ValidationSource::Train {
                taken: 144,
                of: 1_442,
            },
            "10 % of the training set (144 images)",
        ),
        (
            ValidationSource::Train { taken: 2, of: 16 },
            "12.5 % of the training set (2 images)",
        ),
        (
            ValidationSource::Test {
                taken: 2_000,
                of: 10_000,
            },
            "2,000 of the 10,000 test images",
        ),
        (
            ValidationSource::Test {
                taken: 71,
                of: 1_234_567,
            },
            "71 of the 1,234,567 test images",
        ),
    ] {
        assert_eq!(source.to_string(), expected);
        let json = serde_json::to_string(&source).expect("a source");
        assert_eq!(
            serde_json::from_str::<ValidationSource>(&json).expect("the same"),
            source
        );
    }
}

#[test]
fn a_subset_has_the_images_of_its_indices() {
    let whole = numbered(9);
    let some = Subset::new(whole.clone(), vec![8, 0, 4]).expect("indices inside");
    assert_eq!(some.indices(), [8, 0, 4]);
    assert_eq!(labels(&some), [2, 0, 1]);
    for (at, of) in [(0, 8), (1, 0), (2, 4)] {
        assert_eq!(
            some.picture(at).expect("an image"),
            whole.picture(of).expect("an image")
        );
        assert_eq!(some.name(at), whole.name(of));
    }
    assert!(matches!(
        some.picture(3),
        Err(DataError::Index { index: 3, len: 3 })
    ));
    let error = Subset::new(whole, vec![3, 9])
        .err()
        .expect("nine are 0 to 8");
    assert!(
        matches!(error, DataError::Index { index: 9, len: 9 }),
        "{error}"
    );
}
