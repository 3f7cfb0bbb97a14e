//! Lists of pairs of faces.

use crate::fixtures::{folder, picture, png, write};
use bayesadapter::data::{CfpPairs, DataError, FacePairs};
use std::path::Path;

/// Two folds of two pairs of each kind.
const PAIRS: &str = "2\t2
Ann\t1\t2
Bob\t1\t3
Ann\t1\tBob\t2
Ann\t2\tCid\t1
Cid\t1\t2
Ann\t1\t2
Bob\t1\tCid\t2
Bob\t3\tCid\t1
";

fn write_lfw(data: &Path) {
    for (person, pictures) in [("Ann", 2), ("Bob", 3), ("Cid", 2)] {
        for number in 1..=pictures {
            let name = format!("images/{person}/{person}_{number:04}.png");
            write(data, &name, png(&picture(3, 4, 4, number)));
        }
    }
    write(data, "pairs.txt", PAIRS);
}

fn open(data: &Path) -> Result<FacePairs, DataError> {
    FacePairs::open(data, data.join("pairs.txt"))
}

#[test]
fn lfw_pairs() {
    let data = folder();
    write_lfw(data.path());
    for images in [data.path().to_owned(), data.path().join("images")] {
        let faces = FacePairs::open(images, data.path().join("pairs.txt")).expect("pairs");
        let same: Vec<bool> = faces.pairs().iter().map(|pair| pair.same).collect();
        assert_eq!(same, [true, true, false, false, true, true, false, false]);
        let folds: Vec<usize> = faces.pairs().iter().map(|pair| pair.fold).collect();
        assert_eq!(folds, [0, 0, 0, 0, 1, 1, 1, 1]);
        let pictures = faces.pictures();
        assert_eq!(
            (pictures.len(), pictures.class_names()),
            (7, &["Ann", "Bob", "Cid"].map(str::to_owned)[..])
        );
        let (bob, cid) = (faces.pairs()[7].first, faces.pairs()[7].second);
        assert!(pictures.name(bob).ends_with("images/Bob/Bob_0003.png"));
        assert_eq!((pictures.label(bob), pictures.label(cid)), (1, 2));
        assert_eq!(
            pictures.picture(bob).expect("a picture"),
            picture(3, 4, 4, 3)
        );
    }
}

#[test]
fn faces_are_compared_by_their_features() {
    let data = folder();
    write_lfw(data.path());
    let faces = open(data.path()).expect("pairs");
    let persons: Vec<u32> = (0..7).map(|at| faces.pictures().label(at)).collect();
    // A direction per person, far from the origin: without the mean's place all would be alike.
    let features = |person_of: &dyn Fn(usize) -> u32| -> Vec<f32> {
        let row =
            |at: usize| (0..3).map(move |axis| 1e4 + if person_of(at) == axis { 1.0 } else { 0.0 });
        (0..7).flat_map(row).collect()
    };
    let right = faces
        .verify(&features(&|at| persons[at]))
        .expect("features");
    assert_eq!((right.folds.len(), right.mean_accuracy), (2, 1.0));
    // One of Bob's pictures taken for Ann: a pair of each kind is misjudged.
    let bob = faces.pairs()[1].first;
    let wrong = features(&|at| if at == bob { 0 } else { persons[at] });
    let wrong = faces.verify(&wrong).expect("features");
    assert!(wrong.mean_accuracy < 1.0, "{wrong:?}");
    let error = faces.verify(&[1.0; 8]).expect_err("8 numbers for 7 faces");
    assert_eq!(
        error.to_string(),
        "features has 8 elements, but 7 are needed here"
    );
}

#[test]
fn lfw_errors_name_the_line() {
    let data = folder();
    write_lfw(data.path());
    let refused = |list: String| {
        write(data.path(), "pairs.txt", list);
        let error = open(data.path())
            .err()
            .expect("this should have been refused")
            .to_string();
        error.replace(&data.path().display().to_string(), "DATA")
    };
    assert_eq!(
        refused(PAIRS.replace("Bob\t1\t3", "Bob\t1\t4")),
        "DATA/pairs.txt, line 3: DATA has no picture 4 of Bob"
    );
    assert_eq!(
        refused(PAIRS.replace("Bob\t1\t3", "Bob\t1\tCid\t1")),
        "DATA/pairs.txt, line 3: a name and two numbers are needed, but it is \"Bob\\t1\\tCid\\t1\""
    );
    assert_eq!(
        refused(PAIRS.replace("2\t2\n", "3\t2\n")),
        "DATA/pairs.txt, line 9: the list ends with 8 pairs, but its first line says 12"
    );
    assert_eq!(
        refused(PAIRS.replace("2\t2\n", "")),
        "DATA/pairs.txt, line 1: the numbers of folds and of pairs per fold are needed, as in `10 300`"
    );
}

fn write_cfp(data: &Path) {
    let (mut frontal, mut profile) = (String::new(), String::new());
    for person in 1..=2 {
        for number in 1..=2 {
            let index = 2 * (person - 1) + number;
            for (list, kind) in [(&mut frontal, "frontal"), (&mut profile, "profile")] {
                let name = format!("Data/Images/{person:03}/{kind}/{number:02}.png");
                write(data, &name, png(&picture(3, 4, 4, index)));
                list.push_str(&format!("{index} ../{name}\n"));
            }
        }
    }
    write(data, "Protocol/Pair_list_F.txt", frontal);
    write(data, "Protocol/Pair_list_P.txt", profile);
    for fold in 1..=10 {
        for pairs in ["FF", "FP"] {
            write(
                data,
                &format!("Protocol/Split/{pairs}/{fold:02}/same.txt"),
                "1,2\n3,4\n",
            );
            write(
                data,
                &format!("Protocol/Split/{pairs}/{fold:02}/diff.txt"),
                "1,3\n4,2\n",
            );
        }
    }
}

#[test]
fn cfp_pairs() {
    let data = folder();
    write_cfp(data.path());
    for (pairs, pictures, kind) in [
        (CfpPairs::FrontalFrontal, 4, "frontal"),
        (CfpPairs::FrontalProfile, 6, "profile"),
    ] {
        let faces = FacePairs::open_cfp(data.path(), pairs).expect("pairs");
        assert_eq!(faces.pairs().len(), 40);
        assert_eq!(faces.pictures().class_names(), ["001", "002"]);
        let last = faces.pairs()[39];
        assert!(!last.same && last.fold == 9);
        let name = |index| faces.pictures().name(index);
        assert!(
            name(last.first).ends_with("002/frontal/02.png"),
            "{}",
            name(last.first)
        );
        assert!(
            name(last.second).ends_with(&format!("001/{kind}/02.png")),
            "{}",
            name(last.second)
        );
        assert_eq!(faces.pictures().len(), pictures);
    }
}

#[test]
fn cfp_errors() {
    let data = folder();
    write_cfp(data.path());
    let refused = || {
        let error = FacePairs::open_cfp(data.path(), CfpPairs::FrontalProfile).err();
        let error = error.expect("this should have been refused").to_string();
        error.replace(&data.path().display().to_string(), "DATA")
    };
    write(data.path(), "Protocol/Split/FP/03/diff.txt", "1,3\n4,9\n");
    assert_eq!(
        refused(),
        "DATA/Protocol/Split/FP/03/diff.txt, line 2: two numbers of pictures are needed, as in `1,2`, but it is \"4,9\""
    );
    std::fs::remove_file(data.path().join("Protocol/Split/FP/03/diff.txt"))
        .expect("the file was there");
    assert!(refused().starts_with("DATA/Protocol/Split/FP/03/diff.txt cannot be read"));
    write(
        data.path(),
        "Protocol/Pair_list_P.txt",
        "1 ../Data/Images/009/profile/01.png\n",
    );
    assert_eq!(
        refused(),
        "DATA/Protocol/Pair_list_P.txt, line 1: DATA/Data/Images/009/profile/01.png is not there"
    );
}
