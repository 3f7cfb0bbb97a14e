//! The layouts that data sets are published in.

use crate::fixtures::{folder, opened, refused, write};
use bayesadapter::data::{Dataset, Files, Pictures, Split, digits, open_files};
use std::collections::BTreeMap;

/// A record of CIFAR: red is the label, green the column, blue the row.
fn record(label_bytes: &[u8], value: u8) -> Vec<u8> {
    let mut record = label_bytes.to_vec();
    record.extend([value; 1024]);
    record.extend((0..1024).map(|at| (at % 32) as u8));
    record.extend((0..1024).map(|at| (at / 32) as u8));
    record
}

fn cifar10_files() -> Vec<(String, Vec<u8>)> {
    let train = (1..=5u8).map(|n| {
        let records = [record(&[n], n), record(&[n + 1], n)].concat();
        (format!("data_batch_{n}.bin"), records)
    });
    let test = ("test_batch.bin".to_owned(), record(&[9], 77));
    train.chain([test]).collect()
}

#[test]
fn cifar10_folder() {
    let data = folder();
    for (name, bytes) in cifar10_files() {
        write(data.path(), &name, bytes);
    }
    let train = opened(data.path(), Split::Train);
    assert_eq!(train.len(), 10);
    assert_eq!(train.class_names()[9], "truck");
    assert_eq!(
        (0..10).map(|i| train.label(i)).collect::<Vec<_>>(),
        [1, 2, 2, 3, 3, 4, 4, 5, 5, 6]
    );
    let picture = train.picture(3).expect("a picture");
    assert_eq!(
        (picture.channels, picture.height, picture.width),
        (3, 32, 32)
    );
    assert_eq!(picture.pixel(5, 7), [2, 7, 5]);
    assert!(
        train.name(3).ends_with("data_batch_2.bin, picture 1"),
        "{}",
        train.name(3)
    );
    let test = opened(data.path(), Split::Test);
    assert_eq!(
        (
            test.len(),
            test.label(0),
            test.picture(0).expect("a picture").pixel(0, 0)[0]
        ),
        (1, 9, 77)
    );
    write(
        data.path(),
        "batches.meta.txt",
        "x0\nx1\nx2\nx3\nx4\nx5\nx6\nx7\nx8\nx9\n\n",
    );
    assert_eq!(opened(data.path(), Split::Test).class_names()[9], "x9");
}

#[test]
fn cifar10_archive() {
    let data = folder();
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in cifar10_files() {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        let path = format!("cifar-10-batches-bin/{name}");
        archive
            .append_data(&mut header, path, &bytes[..])
            .expect("an archive");
    }
    let tar = archive.into_inner().expect("an archive");
    write(data.path(), "cifar.tar", &tar);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, &tar).expect("memory can be written to");
    let gz = gz.finish().expect("an archive");
    write(data.path(), "cifar-10-binary.tar.gz", &gz);
    for name in ["cifar.tar", "cifar-10-binary.tar.gz"] {
        let train = opened(&data.path().join(name), Split::Train);
        assert_eq!(train.len(), 10);
        assert!(
            train
                .name(9)
                .ends_with("cifar-10-batches-bin/data_batch_5.bin, picture 1")
        );
    }
    // As it is downloaded: the archive alone in a folder, or beside a note.
    let download = folder();
    write(download.path(), "cifar-10-binary.tar.gz", &gz);
    write(download.path(), "readme.txt", "from Toronto");
    let test = opened(download.path(), Split::Test);
    assert_eq!((test.len(), test.label(0)), (1, 9));
    assert!(
        test.name(0)
            .ends_with("cifar-10-binary.tar.gz/cifar-10-batches-bin/test_batch.bin, picture 0"),
        "{}",
        test.name(0)
    );
    write(download.path(), "other.tar", &tar);
    assert!(refused(download.path(), Split::Test).contains("cifar-10-binary.tar.gz, other.tar"));

    write(data.path(), "cut.tar.gz", &gz[..gz.len() / 2]);
    let cut = refused(&data.path().join("cut.tar.gz"), Split::Train);
    assert!(cut.contains("DATA: it is no complete tar archive"), "{cut}");
}

#[test]
fn cifar10_errors() {
    let data = folder();
    for (name, bytes) in cifar10_files() {
        write(data.path(), &name, bytes);
    }
    write(data.path(), "data_batch_3.bin", vec![0; 3072]);
    assert_eq!(
        refused(data.path(), Split::Train),
        "DATA/data_batch_3.bin has 3072 bytes, but a whole number of records of 3073 bytes is needed: it is cut short \
         or another file; fetch it again"
    );
    write(
        data.path(),
        "data_batch_3.bin",
        [record(&[0], 0), record(&[10], 0)].concat(),
    );
    assert_eq!(
        refused(data.path(), Split::Train),
        "DATA/data_batch_3.bin: the label of picture 1 is 10, but there are only 10 classes (0..10)"
    );
    write(data.path(), "data_batch_3.bin", "");
    assert!(refused(data.path(), Split::Train).contains("has 0 bytes"));
    std::fs::remove_file(data.path().join("data_batch_3.bin")).expect("the file was there");
    assert_eq!(
        refused(data.path(), Split::Train),
        "DATA has no train split: data_batch_3.bin is missing"
    );
}

#[test]
fn cifar100_has_two_label_bytes() {
    let files = vec![
        (
            "cifar-100-binary/train.bin".to_owned(),
            [record(&[5, 2], 1), record(&[7, 0], 2)].concat(),
        ),
        (
            "cifar-100-binary/fine_label_names.txt".to_owned(),
            b"apple\nbaby\nbear\n".to_vec(),
        ),
    ];
    let set = open_files(Files::from_bytes("upload", files), Split::Train).expect("CIFAR-100");
    assert_eq!(set.class_names(), ["apple", "baby", "bear"]);
    assert_eq!((set.label(0), set.label(1)), (2, 0));
    assert_eq!(set.picture(1).expect("a picture").pixel(1, 3), [2, 3, 1]);
}

#[test]
fn digits_are_split_by_class() {
    let (train, test) = (digits(Split::Train), digits(Split::Test));
    assert_eq!((train.len(), test.len()), (1_442, 355));
    let count = |set: &Pictures| {
        let mut counts = BTreeMap::new();
        (0..set.len()).for_each(|i| *counts.entry(set.label(i)).or_insert(0usize) += 1);
        counts
    };
    let (of_train, of_test) = (count(&train), count(&test));
    assert_eq!(of_train.len(), 10);
    for (class, tests) in of_test {
        let share = tests as f64 / (tests + of_train[&class]) as f64;
        assert!((share - 0.2).abs() < 0.01, "class {class}: {share}");
    }
    let brightest = (0..test.len()).map(|i| {
        test.picture(i)
            .expect("a digit")
            .pixels
            .iter()
            .copied()
            .max()
    });
    assert_eq!(brightest.max(), Some(Some(255)));
}

#[test]
fn digits_have_the_published_mean_and_spread() {
    let mut values = Vec::new();
    for split in [Split::Train, Split::Test] {
        let set = digits(split);
        (0..set.len()).for_each(|i| values.extend(set.picture(i).expect("a digit").pixels));
    }
    let mean = values.iter().map(|&v| f64::from(v) / 255.0).sum::<f64>() / values.len() as f64;
    let var = values
        .iter()
        .map(|&v| (f64::from(v) / 255.0 - mean).powi(2))
        .sum::<f64>()
        / values.len() as f64;
    assert!(
        (mean - 0.3053).abs() < 1e-3 && (var.sqrt() - 0.3760).abs() < 1e-3,
        "{mean} {}",
        var.sqrt()
    );
}
