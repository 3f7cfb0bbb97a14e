//! `cargo bench --bench data -- [--quick]`, without `-p` (see the kernels' benchmark).
//!
//! Pictures per second that [`Batches`] makes, beside those that a network's forward pass takes on the CPU device:
//! training takes about three times as long, so loading is no bottleneck where the last column is above 1/3. Prints
//! a table and writes `bench/data.json` in the target directory. Medians after warm-up; measure on a quiet machine.

use bayesadapter::data::{
    Augmentation, BatchSettings, Batches, Dataset, Picture, Pictures, Preparation, Split, open,
};
use bayesadapter::models::{Architecture, ModelConfig};
use bayesadapter_tests::{idle_share, median_seconds, target_directory};
use burn::tensor::{Device, Tensor};
use image::{ExtendedColorType, ImageFormat};
use serde::Serialize;
use std::{fs, hint::black_box, path::Path, sync::Arc};

#[derive(Serialize)]
struct Row {
    what: String,
    pictures_per_second: f64,
    /// Pictures made per picture that the network takes.
    times_the_network: f64,
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let repeats = if quick { 3 } else { 9 };
    let mut rows = Vec::new();
    cifar(&mut rows, repeats);
    photographs(&mut rows, repeats);
    if let Some(idle) = idle_share().filter(|idle| *idle < 0.95) {
        let others = 100.0 * (1.0 - idle);
        println!("\nWARNING: others used {others:.0} % of this machine; the figures mean little");
    }
    let folder = target_directory().join("bench");
    fs::create_dir_all(&folder).expect("the target directory can be written to");
    let file = folder.join("data.json");
    let text = serde_json::to_string_pretty(&rows).expect("rows are plain data");
    fs::write(&file, text).expect("the target directory can be written to");
    println!("\nwrote {}", file.display());
}

/// Pictures of 32 x 32 from memory, with the paper's augmentation.
fn cifar(rows: &mut Vec<Row>, repeats: usize) {
    const COUNT: usize = 10_000;
    let pictures = (0..COUNT).map(|seed| noise(32, seed)).collect();
    let names = (0..10).map(|class| class.to_string()).collect();
    let labels = (0..COUNT).map(|i| (i % 10) as u32).collect();
    let dataset = Arc::new(Pictures::new(pictures, labels, names).expect("a data set"));
    let network = taken_per_second("resnet20-cifar", 128, repeats);
    let augmentation = Augmentation::cifar();
    let what = "32 x 32, crop, flip, CutOut";
    measure(
        rows,
        what,
        dataset,
        ("resnet20-cifar", network),
        augmentation,
        repeats,
    );
}

/// JPEG files of 256 x 256, made into 224 x 224.
fn photographs(rows: &mut Vec<Row>, repeats: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for seed in 0..256 {
        write_jpeg(
            &folder.path().join(format!("{}/{seed}.jpg", seed % 2)),
            &noise(256, seed),
        );
    }
    let dataset = open(folder.path(), Split::Train).expect("a folder per class");
    let network = taken_per_second("efficientnet_lite0", 8, repeats);
    for (what, augmentation) in [
        ("JPEG of 256 x 256, centre of 224", Augmentation::default()),
        (
            "JPEG of 256 x 256, resized crop, flip",
            Augmentation::imagenet(),
        ),
    ] {
        measure(
            rows,
            what,
            dataset.clone(),
            ("efficientnet_lite0", network),
            augmentation,
            repeats,
        );
    }
}

/// Epochs without workers, and with the usual number of them.
fn measure(
    rows: &mut Vec<Row>,
    what: &str,
    dataset: Arc<dyn Dataset>,
    (network, taken): (&str, f64),
    augmentation: Augmentation,
    repeats: usize,
) {
    let architecture: Architecture = network.parse().expect("a network of the library");
    let preparation = Preparation::new(architecture.input_shape(), architecture.normalisation());
    let usual = BatchSettings {
        shuffle: true,
        ..BatchSettings::new(128, preparation.with_augmentation(augmentation))
    };
    for workers in [0, usual.workers] {
        let settings = BatchSettings {
            workers,
            ..usual.clone()
        };
        let batches = Batches::new(dataset.clone(), settings).expect("batches");
        let seconds = median_seconds(repeats, || {
            for batch in batches.epoch(0, 0) {
                black_box(batch.expect("a batch"));
            }
        });
        let made = batches.examples() as f64 / seconds;
        let what = format!("{what} (workers: {workers})");
        println!(
            "{what:<52}{made:>10.0} pictures/s{:>8.1} x {network}",
            made / taken
        );
        rows.push(Row {
            what,
            pictures_per_second: made,
            times_the_network: made / taken,
        });
    }
}

/// Pictures per second that a forward pass takes.
fn taken_per_second(network: &str, batch: usize, repeats: usize) -> f64 {
    let device = Device::flex();
    let architecture: Architecture = network.parse().expect("a network of the library");
    let model = architecture
        .init(&device)
        .expect("the library's own settings");
    let [channels, height, width] = architecture.input_shape();
    let images = Tensor::ones([batch, channels, height, width], &device);
    let seconds = median_seconds(repeats, || {
        black_box(model.forward(images.clone()).into_data());
    });
    batch as f64 / seconds
}

/// Smooth and noisy, so that JPEG has as much to do as with a photograph.
fn noise(side: usize, seed: usize) -> Picture {
    let value = |at: usize| {
        let (x, y) = (at / 3 % side, at / 3 / side);
        let hash = (at + 7919 * seed).wrapping_mul(2_654_435_761) >> 16;
        (x * 97 / side + y * 83 / side + seed % 40 + hash % 24) as u8
    };
    Picture::new(3, side, side, (0..3 * side * side).map(value).collect()).expect("a picture")
}

fn write_jpeg(path: &Path, picture: &Picture) {
    fs::create_dir_all(path.parent().expect("a class folder")).expect("a folder can be made");
    let (width, height) = (picture.width as u32, picture.height as u32);
    let color = ExtendedColorType::Rgb8;
    image::save_buffer_with_format(
        path,
        &picture.pixels,
        width,
        height,
        color,
        ImageFormat::Jpeg,
    )
    .expect("a file can be written");
}
