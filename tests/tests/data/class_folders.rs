//! A folder per class.

use crate::fixtures::{encoded, folder, opened, picture, png, refused, write};
use bayesadapter::{
    data::{DataError, Dataset, Split, ValidationSplit},
    session::open_splits,
};
use image::ImageFormat;

#[test]
fn classes_are_sorted_and_pictures_may_lie_deeper() {
    let data = folder();
    write(data.path(), "zebra/one.png", png(&picture(3, 4, 4, 1)));
    write(data.path(), "ant/b.png", png(&picture(3, 6, 4, 2)));
    write(data.path(), "ant/deeper/a.png", png(&picture(1, 4, 5, 3)));
    write(data.path(), "ant/notes.txt", "not a picture");
    write(data.path(), ".hidden/x.png", "nothing");
    let set = opened(data.path(), Split::Train);
    assert_eq!(set.class_names(), ["ant", "zebra"]);
    assert_eq!(
        (0..set.len()).map(|i| set.label(i)).collect::<Vec<_>>(),
        [0, 0, 1]
    );
    assert_eq!(set.picture(0).expect("a picture"), picture(3, 6, 4, 2));
    assert_eq!(set.picture(1).expect("a picture"), picture(1, 4, 5, 3));
    assert!(set.name(2).ends_with("zebra/one.png"));
    assert!(set.unsplit());
    assert!(matches!(
        set.picture(3),
        Err(DataError::Index { index: 3, len: 3 })
    ));
}

#[test]
fn lossless_formats_give_the_pixels_back() {
    let data = folder();
    let original = picture(3, 5, 7, 4);
    let formats = [
        ("bmp", ImageFormat::Bmp),
        ("gif", ImageFormat::Gif),
        ("png", ImageFormat::Png),
        ("ppm", ImageFormat::Pnm),
        ("qoi", ImageFormat::Qoi),
        ("tga", ImageFormat::Tga),
        ("tiff", ImageFormat::Tiff),
        ("webp", ImageFormat::WebP),
        ("JPG", ImageFormat::Jpeg),
    ];
    for (ending, format) in formats {
        write(
            data.path(),
            &format!("{ending}/x.{ending}"),
            encoded(&original, format),
        );
    }
    let set = opened(data.path(), Split::Test);
    assert_eq!(set.len(), formats.len());
    for index in 0..set.len() {
        let read = set.picture(index).expect("a picture");
        assert_eq!((read.height, read.width), (5, 7), "{}", set.name(index));
        // A palette of 256 colours and JPEG change the pixels.
        if !["gif", "JPG"].contains(&set.class_names()[index].as_str()) {
            assert_eq!(read, original, "{}", set.name(index));
        }
    }
}

#[test]
fn splits_share_the_classes_of_training() {
    let data = folder();
    for name in [
        "train/a/1.png",
        "train/b/1.png",
        "train/c/1.png",
        "val/c/9.png",
    ] {
        write(data.path(), name, png(&picture(3, 4, 4, 0)));
    }
    // ImageNet's test folder has no labels.
    write(data.path(), "test/unknown.png", png(&picture(3, 4, 4, 0)));
    let (train, test) = (
        opened(data.path(), Split::Train),
        opened(data.path(), Split::Test),
    );
    assert_eq!((train.len(), test.len()), (3, 1));
    assert_eq!(test.class_names(), ["a", "b", "c"]);
    assert_eq!(test.label(0), 2);
    assert!(!train.unsplit() && !test.unsplit());
}

#[test]
fn errors_say_what_to_do() {
    let data = folder();
    write(data.path(), "1.png", png(&picture(3, 4, 4, 0)));
    write(data.path(), "2.png", png(&picture(3, 4, 4, 0)));
    assert_eq!(
        refused(data.path(), Split::Train),
        "DATA holds 2 pictures, but nothing says what they show; put the pictures of each class into a folder with \
         the name of the class"
    );
    write(data.path(), "cats/1.png", png(&picture(3, 4, 4, 0)));
    assert_eq!(
        refused(data.path(), Split::Train),
        "DATA has only the class `cats`; a classifier needs two or more class folders"
    );
    write(data.path(), "dogs/readme.txt", "none yet");
    assert_eq!(
        refused(data.path(), Split::Train),
        "class folder DATA/dogs holds no pictures; put some into it, or remove it"
    );
    write(data.path(), "dogs/1.heic", "not read");
    assert_eq!(
        refused(data.path(), Split::Train),
        "DATA/dogs/1.heic is in a format that is not read; convert it to PNG or JPEG, or remove it"
    );
}

#[test]
fn pictures_beside_the_class_folders_are_told_of() {
    let data = folder();
    for name in ["a/1.png", "b/1.png", "cover.png", "preview.jpg"] {
        write(data.path(), name, png(&picture(3, 4, 4, 0)));
    }
    let set = opened(data.path(), Split::Train);
    assert_eq!(set.len(), 2);
    let remark = set.remark().expect("a remark");
    assert!(
        remark.starts_with("2 pictures lie beside the class folders")
            && remark.contains("such as cover.png"),
        "{remark}"
    );
    for name in ["cover.png", "preview.jpg"] {
        std::fs::remove_file(data.path().join(name)).expect("the file was there");
    }
    assert_eq!(opened(data.path(), Split::Train).remark(), None);
}

#[test]
fn a_class_is_on_both_sides_or_refused() {
    let data = folder();
    for name in ["a/1.png", "a/2.png", "b/1.png", "b/2.png", "b/3.png"] {
        write(data.path(), name, png(&picture(3, 4, 4, 0)));
    }
    let path = data.path().display().to_string();
    let splits =
        open_splits(&path, &ValidationSplit::None, 0).unwrap_or_else(|error| panic!("{error}"));
    let labels =
        |data: &dyn Dataset| -> Vec<u32> { (0..data.len()).map(|at| data.label(at)).collect() };
    assert_eq!(labels(&*splits.train), [0, 1, 1]);
    assert_eq!(labels(&*splits.test), [0, 1]);
    write(data.path(), "c/1.png", png(&picture(3, 4, 4, 0)));
    let error = open_splits(&path, &ValidationSplit::None, 0)
        .err()
        .expect("a class of one")
        .to_string();
    assert!(
        error.contains("c/1.png is the only picture of the class `c`"),
        "{error}"
    );
}

#[test]
fn errors_of_splits() {
    let data = folder();
    write(data.path(), "train/a/1.png", png(&picture(3, 4, 4, 0)));
    write(data.path(), "train/b/1.png", png(&picture(3, 4, 4, 0)));
    assert_eq!(
        refused(data.path(), Split::Test),
        "DATA has no test split: it has no folder test/, testing/, val/, valid/, validation/"
    );
    write(data.path(), "val/c/1.png", png(&picture(3, 4, 4, 0)));
    assert_eq!(
        refused(data.path(), Split::Test),
        "DATA/val/c is a class that the training folder does not have; its classes are a, b"
    );
}

#[test]
fn empty_class_folders_are_found() {
    let data = folder();
    for class in ["a", "b"] {
        write(
            data.path(),
            &format!("{class}/1.png"),
            png(&picture(3, 4, 4, 0)),
        );
    }
    std::fs::create_dir(data.path().join("c")).expect("a folder");
    assert!(
        refused(data.path(), Split::Train).starts_with("class folder DATA/c holds no pictures")
    );
}

#[test]
#[cfg(unix)]
fn a_link_to_a_folder_above_is_refused() {
    let data = folder();
    write(data.path(), "a/1.png", png(&picture(3, 4, 4, 0)));
    std::os::unix::fs::symlink(data.path(), data.path().join("a/around")).expect("a link");
    assert_eq!(
        refused(data.path(), Split::Train),
        "DATA/a/around leads back to a folder that it lies in; remove the link"
    );
}

#[test]
fn what_cannot_be_there_is_an_error() {
    let data = folder();
    let nowhere = data.path().join("nowhere");
    assert!(refused(&nowhere, Split::Train).starts_with("DATA cannot be read: "));
    let empty = refused(data.path(), Split::Train);
    assert!(
        empty.starts_with("DATA has none of the layouts that are read. It holds no files."),
        "{empty}"
    );
    write(data.path(), "notes.txt", "text");
    let unknown = refused(data.path(), Split::Train);
    assert!(
        unknown.contains("It holds notes.txt. Looked for:\n- CIFAR-10"),
        "{unknown}"
    );
    let file = data.path().join("notes.txt");
    assert!(refused(&file, Split::Train).contains("It holds a single file."));
}
