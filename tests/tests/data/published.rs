//! Layouts besides CIFAR's and class folders: IDX, sprites, tiles, numbered pictures.

use crate::fixtures::{encoded, folder, opened, picture, png, refused, write};
use bayesadapter::data::{Picture, Split};
use image::ImageFormat;
use std::io::Write;
use std::path::Path;

fn idx(sizes: &[u32], bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0, 0, 8, sizes.len() as u8];
    sizes
        .iter()
        .for_each(|size| file.extend(size.to_be_bytes()));
    file.extend(bytes);
    file
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(bytes).expect("memory can be written to");
    gz.finish().expect("a file")
}

/// Three pictures of 2 x 3 with values that count up.
fn write_idx(data: &Path) {
    let pixels: Vec<u8> = (0..18).collect();
    write(
        data,
        "train-images-idx3-ubyte.gz",
        gz(&idx(&[3, 2, 3], &pixels)),
    );
    write(
        data,
        "train-labels-idx1-ubyte.gz",
        gz(&idx(&[3], &[7, 0, 9])),
    );
}

#[test]
fn idx_files_plain_and_compressed() {
    let data = folder();
    write_idx(data.path());
    write(
        data.path(),
        "t10k-images.idx3-ubyte",
        idx(&[1, 2, 3], &[5; 6]),
    );
    write(data.path(), "t10k-labels.idx1-ubyte", idx(&[1], &[4]));
    let train = opened(data.path(), Split::Train);
    assert_eq!((train.len(), train.label(0), train.label(2)), (3, 7, 9));
    assert_eq!(
        train.picture(1).expect("a picture").pixels,
        [6, 7, 8, 9, 10, 11]
    );
    assert_eq!(train.picture(1).expect("a picture").width, 3);
    assert_eq!(train.class_names()[9], "9");
    assert!(
        train
            .name(2)
            .ends_with("train-images-idx3-ubyte.gz, picture 2")
    );
    assert_eq!(opened(data.path(), Split::Test).label(0), 4);
}

#[test]
fn fashion_mnist_has_names() {
    let data = folder();
    write_idx(&data.path().join("fashion-mnist"));
    let train = opened(&data.path().join("fashion-mnist"), Split::Train);
    assert_eq!(train.class_names()[9], "Ankle boot");
}

#[test]
fn idx_errors() {
    let data = folder();
    write_idx(data.path());
    let labels = "train-labels-idx1-ubyte.gz";
    let images = "train-images-idx3-ubyte.gz";
    assert_eq!(
        refused(data.path(), Split::Test),
        "DATA has no test split: its file of images (..images-idx3-ubyte) is missing"
    );
    let with = |name: &str, bytes: Vec<u8>| {
        write(data.path(), name, bytes);
        refused(data.path(), Split::Train)
    };
    assert_eq!(
        with(labels, gz(&idx(&[2], &[7, 0]))),
        format!("DATA/{images} has 3 pictures, but DATA/{labels} has 2 labels")
    );
    let advice = "fetch it again, or see what made it";
    assert_eq!(
        with(labels, gz(&idx(&[3], &[7, 0]))),
        format!("DATA/{labels}: its header says [3], which is 3 bytes, but it holds 2; {advice}")
    );
    assert_eq!(
        with(labels, idx(&[3], &[7, 0, 1, 1])),
        format!(
            "DATA/{labels}: its header says [3], which is 3 bytes, but it holds more than 3; {advice}"
        )
    );
    assert_eq!(
        with(labels, idx(&[3, 1, 1], &[7, 0, 1])),
        format!("DATA/{labels}: it begins with [0, 0, 8, 3], but [0, 0, 8, 1] is needed; {advice}")
    );
    assert!(with(labels, vec![0, 0]).starts_with(&format!("DATA/{labels}: it is cut short")));
    let huge = with(images, idx(&[u32::MAX, u32::MAX, u32::MAX], &[]));
    assert!(huge.contains("has more than 1073741824 bytes"), "{huge}");
    let long = with(images, idx(&[50_000, 100, 100], &[1]));
    assert!(
        long.contains("which is 500000000 bytes, but it holds 1;"),
        "{long}"
    );
}

/// Rows of 1,024 RGB pixels, a picture each.
fn sprites(pictures: usize, seed: usize) -> Vec<u8> {
    png(&picture(3, pictures, 1024, seed))
}

fn write_sprites(data: &Path) {
    for number in 1..=5 {
        write(
            data,
            &format!("data_batch_{number}.png"),
            sprites(2, number),
        );
    }
    write(data, "test_batch.png", sprites(3, 9));
    write(data, "train_lables.json", "[0,1,2,3,4,5,6,7,8,9]");
    write(data, "test_lables.json", "[3,8,8]");
}

#[test]
fn sprites_have_a_picture_per_row() {
    let data = folder();
    write_sprites(data.path());
    let train = opened(data.path(), Split::Train);
    assert_eq!((train.len(), train.label(7)), (10, 7));
    let read = train.picture(7).expect("a picture");
    assert_eq!((read.height, read.width), (32, 32));
    assert_eq!(read.pixels, picture(3, 2, 1024, 4).pixels[3072..]);
    assert!(train.name(7).ends_with("data_batch_4.png, picture 1"));
    let test = opened(data.path(), Split::Test);
    assert_eq!(
        (
            test.len(),
            test.class_names()[test.label(2) as usize].as_str()
        ),
        (3, "ship")
    );
}

#[test]
fn sprite_errors() {
    let data = folder();
    write_sprites(data.path());
    write(data.path(), "test_lables.json", "[3,8]");
    assert_eq!(
        refused(data.path(), Split::Test),
        "DATA/test_batch.png has 3 pictures, but DATA/test_lables.json has 2 labels"
    );
    write(data.path(), "test_lables.json", "[3,8,10]");
    assert!(refused(data.path(), Split::Test).contains("the label of picture 2 is 10"));
    write(data.path(), "test_lables.json", "{\"a\": 1}");
    assert!(
        refused(data.path(), Split::Test)
            .contains("test_lables.json: a list of class numbers is needed")
    );
    write(data.path(), "data_batch_2.png", png(&picture(3, 32, 32, 0)));
    assert_eq!(
        refused(data.path(), Split::Train),
        "DATA/data_batch_2.png: it has 3 channels and is 32 wide, but RGB and 1024 are needed: a picture per row; fetch \
         it again, or see what made it"
    );
    std::fs::remove_file(data.path().join("data_batch_2.png")).expect("the file was there");
    assert_eq!(
        refused(data.path(), Split::Train),
        "DATA has no train split: data_batch_2.png is missing"
    );
}

/// Two rows of three tiles of 4 x 4; tile `t` is filled with `t`.
fn tiles() -> Vec<u8> {
    let value = |at: usize| (at / 12 / 4 * 3 + at % 12 / 4) as u8;
    let pixels = (0..8 * 12).flat_map(|at| [value(at); 3]).collect();
    encoded(
        &Picture::new(3, 8, 12, pixels).expect("a picture"),
        ImageFormat::WebP,
    )
}

#[test]
fn tiles_go_row_by_row() {
    let data = folder();
    write(data.path(), "svhn_test_6.webp", tiles());
    write(data.path(), "svhn_test_6.labels", [5, 4, 3, 2, 1, 0]);
    for path in [data.path().to_owned(), data.path().join("svhn_test_6.webp")] {
        let test = opened(&path, Split::Test);
        assert_eq!(test.len(), 6);
        for tile in 0..6 {
            assert_eq!(
                test.picture(tile).expect("a tile").pixels,
                vec![tile as u8; 48]
            );
            assert_eq!(test.label(tile) as usize, 5 - tile);
        }
        assert_eq!(test.class_names().len(), 10);
        assert!(!test.unsplit());
        assert!(
            refused(&path, Split::Train)
                .ends_with("no picture of tiles with labels has `train` in its name")
        );
    }
    assert!(
        opened(data.path(), Split::Test)
            .name(3)
            .ends_with("svhn_test_6.webp, picture 3")
    );
}

#[test]
fn tiles_have_to_fill_the_picture() {
    let data = folder();
    write(data.path(), "digits.webp", tiles());
    write(data.path(), "digits.labels", [0; 5]);
    assert_eq!(
        refused(data.path(), Split::Test),
        "DATA/digits.webp: it is 12 x 8, which is not 5 square tiles, one per label of digits.labels; fetch it again, \
         or see what made it"
    );
    write(data.path(), "digits.labels", "");
    assert!(refused(data.path(), Split::Test).contains("which is not 0 square tiles"));
    write(data.path(), "digits.labels", [0; 6]);
    assert!(opened(data.path(), Split::Train).unsplit());
}

#[test]
fn numbered_pictures() {
    let data = folder();
    write(
        data.path(),
        "classes.tsv",
        "0\tn01\ttench\n1\tn02\tgoldfish\n2\tn03\tshark\n",
    );
    write(data.path(), "0002.png", png(&picture(3, 4, 4, 2)));
    write(data.path(), "0000_b.png", png(&picture(3, 4, 4, 0)));
    let set = opened(data.path(), Split::Test);
    assert_eq!(set.class_names(), ["tench", "goldfish", "shark"]);
    assert_eq!((set.label(0), set.label(1)), (0, 2));
    assert!(set.unsplit());
    write(data.path(), "0003.png", png(&picture(3, 4, 4, 3)));
    assert_eq!(
        refused(data.path(), Split::Test),
        "DATA/0003.png: the label of picture 2 is 3, but there are only 3 classes (0..3)"
    );
    write(data.path(), "0003.png", "x");
    write(data.path(), "cat.png", "x");
    write(data.path(), "classes.tsv", "0\ta\n1\tb\n2\tc\n3\td");
    assert!(
        refused(data.path(), Split::Test)
            .starts_with("DATA/cat.png: its name has to begin with the number")
    );
    write(data.path(), "classes.tsv", "0\ta\n2\tc\n");
    assert_eq!(
        refused(data.path(), Split::Test),
        "DATA/classes.tsv: line 2 is \"2\\tc\", but 1 and a name, with a tab between, are needed; fetch it again, or \
         see what made it"
    );
}
