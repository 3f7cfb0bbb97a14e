//! Patches in other places.

use super::{generated, image, set};
use crate::fixtures::picture;
use bayesadapter::data::{OodKind, Picture};
use std::collections::BTreeSet;

#[test]
fn patches_keep_every_pixel_and_change_their_places() {
    // Every pixel is its own place, so that it can be told where it comes from.
    let values = (0..64u8).collect();
    let original = Picture::new(1, 8, 8, values).expect("an image");
    let ood = generated(set(vec![original; 2]), &[OodKind::Patches], 0);
    let mut grids = BTreeSet::new();
    for index in 0..200 {
        let shuffled = image(&ood, index);
        let from = |y: usize, x: usize| (shuffled.pixel(y, x)[0] / 8, shuffled.pixel(y, x)[0] % 8);
        assert_eq!(shuffled.pixels.iter().collect::<BTreeSet<_>>().len(), 64);
        assert!(
            (0..64).all(|at| usize::from(shuffled.pixels[at]) != at),
            "image {index}"
        );
        // Within a patch pixels stay side by side.
        let joined = |side: usize| {
            let corners = (0..8)
                .step_by(side)
                .flat_map(|y| (0..8).step_by(side).map(move |x| (y, x)));
            corners.into_iter().all(|(y, x)| {
                let (top, left) = from(y, x);
                let last = side as u8 - 1;
                from(y + side - 1, x + side - 1) == (top + last, left + last)
            })
        };
        assert!(joined(2));
        grids.insert(joined(4));
        // To exchange the upper and the lower half would leave an 8 an 8.
        let halves: Vec<usize> = (0..64).map(|at| (at + 32) % 64).collect();
        assert!(
            !shuffled
                .pixels
                .iter()
                .map(|&value| usize::from(value))
                .eq(halves)
        );
    }
    assert_eq!(grids.len(), 2, "both grids occur");
    // What is left over at the edge stays.
    let original = picture(3, 9, 11, 5);
    let ood = generated(set(vec![original.clone(); 2]), &[OodKind::Patches], 0);
    for index in 0..20 {
        let shuffled = image(&ood, index);
        let sorted = |image: &Picture| {
            let mut pixels: Vec<&[u8]> = image.pixels.chunks_exact(3).collect();
            pixels.sort();
            pixels.concat()
        };
        assert_eq!(sorted(&shuffled), sorted(&original));
        assert_ne!(shuffled, original);
        assert_eq!(shuffled.pixel(8, 4), original.pixel(8, 4));
    }
}
