//! Pictures into inputs.

use crate::fixtures::{batches, epoch, numbered, picture, plain, settings};
use bayesadapter::data::{Augmentation, BatchSettings, Picture, Pictures, Preparation};
use bayesadapter::models::Normalisation;
use std::sync::Arc;

#[test]
fn normalisation_by_hand() {
    let normalisation = Normalisation {
        mean: vec![0.5, 0.25, 0.0],
        std: vec![0.5, 0.25, 2.0],
    };
    let picture = Picture::new(3, 1, 2, vec![255, 0, 51, 0, 255, 102]).expect("a picture");
    let input = Preparation::new([3, 1, 2], normalisation)
        .prepare(&picture)
        .expect("an input");
    let expected = [1.0, -1.0, -1.0, 3.0, 0.1, 0.2];
    for (value, expected) in input.iter().zip(expected) {
        assert!((value - expected).abs() < 1e-6, "{input:?}");
    }
}

#[test]
fn grey_and_colour_become_one_another() {
    let grey = Picture::new(1, 1, 2, vec![10, 200]).expect("a picture");
    assert_eq!(grey.with_channels(3).pixels, [10, 10, 10, 200, 200, 200]);
    assert_eq!(grey.with_channels(3).with_channels(1), grey);
    let input = plain([3, 1, 2]).prepare(&grey).expect("an input");
    assert_eq!(
        input,
        [10.0, 200.0, 10.0, 200.0, 10.0, 200.0].map(|v| v / 255.0)
    );
    let colours = Picture::new(3, 1, 3, vec![255, 0, 0, 0, 255, 0, 0, 0, 255]).expect("a picture");
    assert_eq!(colours.with_channels(1).pixels, [76, 150, 29]);
}

#[test]
fn pictures_that_contradict_themselves_are_refused() {
    let message = |c, h, w, n| {
        Picture::new(c, h, w, vec![0; n])
            .expect_err("refused")
            .to_string()
    };
    assert_eq!(
        message(2, 1, 1, 2),
        "a picture of 2 x 1 x 1 with 2 pixel values: 1 or 3 channels are needed"
    );
    assert_eq!(
        message(3, 0, 1, 0),
        "a picture of 3 x 0 x 1 with 0 pixel values: sides of 1 to 16,384 are needed"
    );
    assert_eq!(
        message(3, 2, 2, 11),
        "a picture of 3 x 2 x 2 with 11 pixel values: height * width * channels values are needed"
    );
}

/// A shape may come out of a file. No memory is taken for one that cannot be.
#[test]
fn shapes_out_of_range_are_refused() {
    let picture = Picture::new(1, 1, 1, vec![7]).expect("a picture");
    for shape in [
        [1, usize::MAX, usize::MAX],
        [1, 1 << 40, 1 << 40],
        [usize::MAX, 1, 1],
        [3, 0, 8],
        [3, 16_384, 16_384],
    ] {
        let preparation = Preparation::new(shape, Normalisation::uniform(3, 0.5, 0.5));
        let error = preparation.prepare(&picture).expect_err("refused");
        let text = error.to_string();
        assert!(text.starts_with("the shape of inputs is "), "{text}");
    }
}

#[test]
fn lists_that_do_not_fit_are_refused() {
    let pictures = || vec![picture(1, 2, 2, 0), picture(1, 3, 3, 1)];
    let names = || vec!["a".to_owned(), "b".to_owned()];
    let message = |pictures, labels| {
        Pictures::new(pictures, labels, names())
            .expect_err("refused")
            .to_string()
    };
    assert_eq!(
        message(vec![], vec![]),
        "the list of pictures holds no pictures"
    );
    assert_eq!(
        message(pictures(), vec![0]),
        "the list of pictures has 2 pictures, but the list of labels has 1 labels"
    );
    assert_eq!(
        message(pictures(), vec![0, 2]),
        "the list of pictures: the label of picture 1 is 2, but there are only 2 classes (0..2)"
    );
}

/// Rows count in red, columns in green.
fn coordinates(height: usize, width: usize) -> Picture {
    let pixels = (0..height * width).flat_map(|at| [(at / width) as u8, (at % width) as u8, 0]);
    Picture::new(3, height, width, pixels.collect()).expect("a picture")
}

#[test]
fn other_sizes_are_resized_and_their_centre_is_taken() {
    let corner = |height, width, shape: [usize; 3]| {
        let input = plain(shape)
            .prepare(&coordinates(height, width))
            .expect("an input");
        let plane = shape[1] * shape[2];
        [input[0] * 255.0, input[plane] * 255.0].map(|value| value.round() as i32)
    };
    // 256 for 224 keeps its size: 16 off on each side.
    assert_eq!(corner(256, 256, [3, 224, 224]), [16, 16]);
    assert_eq!(corner(256, 250, [3, 224, 224]), [16, 13]);
    // Halved first: the mean of rows 36 and 37, and of columns 4 and 5.
    assert_eq!(corner(128, 64, [3, 28, 28]), [37, 5]);
    // Smaller pictures are enlarged until they cover the input.
    assert_eq!(corner(16, 32, [3, 32, 32]), [0, 8]);
    let whole = plain([1, 2, 2]).prepare(&Picture::new(1, 1, 1, vec![51]).expect("a picture"));
    assert_eq!(whole.expect("an input"), [0.2; 4]);
}

#[test]
fn crops_move_by_up_to_the_padding_over_black() {
    let preparation = plain([3, 8, 8]).with_augmentation(Augmentation {
        crop_padding: 2,
        ..Augmentation::default()
    });
    let mut counts = [[0u32; 5]; 5];
    let white = Picture::new(1, 8, 8, vec![255; 64]).expect("a picture");
    let set = Pictures::new(vec![white; 5_000], vec![0; 5_000], vec!["only".to_owned()]);
    let set = Arc::new(set.expect("a data set"));
    for batch in epoch(&batches(set, settings(500, preparation)), 0, 0) {
        for input in batch.images.chunks_exact(3 * 64) {
            let rows: Vec<bool> = (0..8)
                .map(|y| (0..8).all(|x| input[y * 8 + x] == 0.0))
                .collect();
            let columns: Vec<bool> = (0..8)
                .map(|x| (0..8).all(|y| input[y * 8 + x] == 0.0))
                .collect();
            let shift = |lines: &[bool]| {
                let before = lines.iter().take_while(|black| **black).count();
                let after = lines.iter().rev().take_while(|black| **black).count();
                2 + after - before
            };
            assert_eq!(
                rows.iter().filter(|black| **black).count(),
                shift(&rows).abs_diff(2)
            );
            counts[shift(&rows)][shift(&columns)] += 1;
        }
    }
    // 200 expected; the standard deviation is 13.9.
    let worst = counts
        .as_flattened()
        .iter()
        .map(|count| count.abs_diff(200))
        .max();
    assert!(worst < Some(70), "{counts:?}");
}

#[test]
fn padding_is_the_value_of_a_black_pixel() {
    let preparation = Preparation::new([1, 4, 4], Normalisation::uniform(1, 0.5, 0.25));
    let preparation = preparation.with_augmentation(Augmentation {
        crop_padding: 4,
        ..Augmentation::default()
    });
    let made = epoch(&batches(numbered(50), settings(50, preparation)), 0, 0);
    // Picture `i` is filled with `i`: what is neither it nor black would be a mistake.
    let values = |i: usize| [-2.0, (i as f32 / 255.0 - 0.5) / 0.25];
    let mut padded = 0;
    for (i, input) in made[0].images.chunks_exact(16).enumerate() {
        assert!(
            input.iter().all(|value| values(i).contains(value)),
            "{input:?}"
        );
        padded += input.iter().filter(|value| **value == -2.0).count();
    }
    assert!(padded > 100, "{padded}");
}

#[test]
fn every_other_picture_is_mirrored() {
    let preparation = plain([3, 2, 4]).with_augmentation(Augmentation {
        flip: true,
        ..Augmentation::default()
    });
    let set = Pictures::new(
        vec![coordinates(2, 4); 4_000],
        vec![0; 4_000],
        vec!["only".to_owned()],
    );
    let set = Arc::new(set.expect("a data set"));
    let mut mirrored = 0;
    for batch in epoch(&batches(set, settings(100, preparation)), 1, 0) {
        for input in batch.images.chunks_exact(24) {
            let columns: Vec<u32> = input[8..12]
                .iter()
                .map(|value| (value * 255.0).round() as u32)
                .collect();
            match columns.as_slice() {
                [0, 1, 2, 3] => {}
                [3, 2, 1, 0] => mirrored += 1,
                other => panic!("{other:?}"),
            }
        }
    }
    // 2,000 expected; the standard deviation is 32.
    assert!((1_850..2_150).contains(&mirrored), "{mirrored}");
}

#[test]
fn cutout_sets_a_square_to_the_mean() {
    let normalisation = Normalisation::uniform(1, 0.5, 0.5);
    let preparation =
        Preparation::new([1, 16, 16], normalisation).with_augmentation(Augmentation {
            cutout: 6,
            ..Augmentation::default()
        });
    let white = Picture::new(1, 16, 16, vec![255; 256]).expect("a picture");
    let set = Pictures::new(vec![white; 2_000], vec![0; 2_000], vec!["only".to_owned()]);
    let set = Arc::new(set.expect("a data set"));
    let mut cut = 0;
    for batch in epoch(&batches(set, settings(100, preparation)), 0, 0) {
        for input in batch.images.chunks_exact(256) {
            let zeros: Vec<usize> = (0..256).filter(|&at| input[at] == 0.0).collect();
            let rows = zeros[zeros.len() - 1] / 16 - zeros[0] / 16 + 1;
            let columns = zeros.len() / rows;
            assert!(rows <= 6 && columns <= 6 && rows * columns == zeros.len());
            assert!(input.iter().all(|&value| value == 0.0 || value == 1.0));
            cut += zeros.len();
        }
    }
    // Of 16 centres the first three and the last two lose rows: (3 + 4 + 5 + 11 * 6 + 5 + 4) / 16 = 5.4375 on average.
    let mean = cut as f64 / 2_000.0;
    assert!((mean - 5.4375 * 5.4375).abs() < 0.5, "{mean}");
}

#[test]
fn resized_crops_have_the_shares_asked_for() {
    let preparation = |area| {
        plain([3, 8, 8]).with_augmentation(Augmentation {
            resized_crop: Some(area),
            ..Augmentation::default()
        })
    };
    let set = Pictures::new(
        vec![coordinates(200, 200); 300],
        vec![0; 300],
        vec!["only".to_owned()],
    );
    let set = Arc::new(set.expect("a data set"));
    for area in [[0.08, 1.0], [0.25, 0.25]] {
        let mut shares = Vec::new();
        for batch in epoch(
            &batches(set.clone(), settings(100, preparation(area))),
            0,
            0,
        ) {
            for input in batch.images.chunks_exact(192) {
                // From the centres of the first and the last of eight to the edges of both.
                let extent = |first: f32, last: f32| (last - first) * 255.0 * 8.0 / 7.0 / 200.0;
                let (height, width) = (extent(input[0], input[56]), extent(input[64], input[71]));
                shares.push(height * width);
                let proportion = width / height;
                assert!((0.70..1.43).contains(&proportion), "{proportion}");
            }
        }
        let (least, most) = shares
            .iter()
            .fold((1.0f32, 0.0f32), |(a, b), s| (a.min(*s), b.max(*s)));
        assert!(
            least > area[0] * 0.9 - 0.01 && most < area[1] * 1.1,
            "{least} {most}"
        );
        assert!(most - least > 0.5 * (area[1] - area[0]));
    }
}

#[test]
fn augmentation_differs_by_example_and_epoch() {
    let preparation = plain([3, 8, 8]).with_augmentation(Augmentation {
        crop_padding: 4,
        ..Augmentation::default()
    });
    let set = Pictures::new(
        vec![coordinates(8, 8); 64],
        vec![0; 64],
        vec!["only".to_owned()],
    );
    let set = Arc::new(set.expect("a data set"));
    let inputs = |seed, number| {
        let settings = BatchSettings {
            seed,
            ..settings(64, preparation.clone())
        };
        epoch(&batches(set.clone(), settings), number, 0)
            .remove(0)
            .images
    };
    let same = |a: &[f32], b: &[f32]| {
        a.chunks_exact(192)
            .zip(b.chunks_exact(192))
            .filter(|(a, b)| a == b)
            .count()
    };
    let first = inputs(0, 0);
    assert_eq!(same(&first, &inputs(0, 0)), 64);
    assert!(same(&first, &inputs(0, 1)) < 8);
    assert!(same(&first, &inputs(1, 0)) < 8);
    assert!(same(&first, &first[192..]) < 8);
}

#[test]
fn settings_survive_json_with_defaults_left_out() {
    let preparation = plain([3, 32, 32]).with_augmentation(Augmentation::cifar());
    let text = serde_json::to_string(&preparation).expect("settings can be written");
    assert_eq!(
        serde_json::from_str::<Preparation>(&text).expect("settings"),
        preparation
    );
    let short = r#"{"shape":[1,8,8],"normalisation":{"mean":[0.0],"std":[1.0]},"augmentation":{"flip":true}}"#;
    let read: Preparation = serde_json::from_str(short).expect("settings");
    assert!(read.augmentation.flip && read.augmentation.cutout == 0);
}
