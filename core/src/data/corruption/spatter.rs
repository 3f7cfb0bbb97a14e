//! Drops of water or mud on the lens.

use super::blur::TRUNCATE;
use super::field::{Border, Field, colours, picture};
use crate::data::{Picture, dice::Dice};

/// Pale turquoise.
const WATER: [f64; 3] = [175.0 / 255.0, 238.0 / 255.0, 238.0 / 255.0];
const MUD: [f64; 3] = [63.0 / 255.0, 42.0 / 255.0, 20.0 / 255.0];
/// Thresholds of gradients: edges begin above the high one, and go on above the low one.
const EDGE: [f64; 2] = [50.0, 150.0];
/// Where distances end.
const FAR: f64 = 20.0;

pub fn spatter(original: &Picture, row: usize, dice: &mut Dice) -> Picture {
    // Mean, standard deviation, blur and threshold of the liquid; strength of water or blur of mud.
    let ([mean, std, smooth, threshold, last], is_mud) = [
        ([0.62, 0.1, 0.7, 0.7, 0.5], false),
        ([0.65, 0.1, 0.8, 0.7, 0.5], false),
        ([0.65, 0.3, 1.0, 0.69, 0.5], false),
        ([0.65, 0.1, 0.7, 0.69, 0.6], true),
        ([0.65, 0.1, 0.5, 0.68, 0.6], true),
    ][row];
    let (height, width) = (original.height, original.width);
    let normals = dice.normals(height * width);
    let random = Field::from_fn(height, width, |y, x| {
        mean + std * f64::from(normals[y * width + x])
    });
    let liquid = random.gaussian(smooth, TRUNCATE, Border::Nearest);
    let liquid = liquid.map(|value| if value < threshold { 0.0 } else { value });
    let mut colours = colours(original);
    let drops = match is_mud {
        true => mud(&liquid, threshold, last),
        false => water(&liquid).map(|drop| last * drop),
    };
    for (channel, colour) in colours.iter_mut().enumerate() {
        *colour = colour.with(&drops, |value, drop| match is_mud {
            true => value * (1.0 - drop) + MUD[channel] * drop,
            false => value + WATER[channel] * drop,
        });
    }
    picture(&colours)
}

/// Opaque, with soft edges.
fn mud(liquid: &Field, threshold: f64, smooth: f64) -> Field {
    let drops = liquid.map(|value| f64::from(value > threshold));
    let soft = drops.gaussian(smooth, TRUNCATE, Border::Nearest);
    soft.map(|value| if value < 0.8 { 0.0 } else { value })
}

/// Transparent drops, with light that comes from one side: the liquid times an embossed map of the distances to its
/// edges, at most 1.
fn water(liquid: &Field) -> Field {
    const EMBOSS: [(isize, isize, f64); 7] = [
        (-1, -1, -2.0),
        (-1, 0, -1.0),
        (0, -1, -1.0),
        (0, 0, 1.0),
        (0, 1, 1.0),
        (1, 0, 1.0),
        (1, 1, 2.0),
    ];
    // Values are those of 8 bits, 0..=255. Beyond 1, they overflow in the authors' conversion.
    let liquid = liquid.map(|value| (value * 255.0).floor().rem_euclid(256.0));
    let distances = distances(&edges(&liquid)).map(|distance| distance.min(FAR));
    // Through single precision, so that a mean that should be whole is.
    let means = distances.mean_of_nine().map(|mean| f64::from(mean as f32));
    let levels = equalised(&means.map(f64::floor));
    let embossed = levels
        .weighted(&EMBOSS, Border::Mirror)
        .map(|value| value.clamp(0.0, 255.0));
    let light = embossed.mean_of_nine().map(f64::round);
    let drops = liquid.with(&light, |liquid, light| liquid * light);
    let most = drops.max();
    drops.map(|drop| if most > 0.0 { drop / most } else { 0.0 })
}

/// Canny's edges: 1 where the gradient is strong and larger than beside, across its direction.
fn edges(field: &Field) -> Field {
    let (height, width) = (field.height, field.width);
    let sobel = |(dy, dx): (isize, isize)| {
        // 1 2 1 along, and the difference across.
        let taps: Vec<_> = (-1isize..=1)
            .flat_map(|at| {
                let weight = 2.0 - at.abs() as f64;
                [
                    (at * dx + dy, at * dy + dx, weight),
                    (at * dx - dy, at * dy - dx, -weight),
                ]
            })
            .collect();
        field.weighted(&taps, Border::Nearest)
    };
    let (across, down) = (sobel((0, 1)), sobel((1, 0)));
    let size = across.with(&down, |x, y| x.abs() + y.abs());
    let beside = |y: usize, x: usize, dy: isize, dx: isize| {
        let (y, x) = (y.checked_add_signed(dy), x.checked_add_signed(dx));
        match (y, x) {
            (Some(y), Some(x)) if y < height && x < width => size.at(y, x),
            _ => 0.0,
        }
    };
    let is_ridge = |y: usize, x: usize| {
        let (gx, gy, here) = (across.at(y, x), down.at(y, x), size.at(y, x));
        let slope = std::f64::consts::FRAC_PI_8.tan();
        if gy.abs() < gx.abs() * slope {
            here > beside(y, x, 0, -1) && here >= beside(y, x, 0, 1)
        } else if gy.abs() > gx.abs() * (slope + 2.0) {
            here > beside(y, x, -1, 0) && here >= beside(y, x, 1, 0)
        } else {
            let side = if (gx < 0.0) != (gy < 0.0) { -1 } else { 1 };
            here > beside(y, x, -1, -side) && here > beside(y, x, 1, side)
        }
    };
    let candidates = Field::from_fn(height, width, |y, x| {
        let is_candidate = size.at(y, x) > EDGE[0] && is_ridge(y, x);
        if is_candidate { size.at(y, x) } else { 0.0 }
    });
    connected(&candidates)
}

/// 1 at candidates that strong ones reach.
fn connected(candidates: &Field) -> Field {
    let (height, width) = (candidates.height, candidates.width);
    let mut edges = candidates.map(|size| f64::from(size > EDGE[1]));
    let mut open: Vec<usize> = (0..edges.values.len())
        .filter(|&at| edges.values[at] > 0.0)
        .collect();
    while let Some(at) = open.pop() {
        let (y, x) = (at / width, at % width);
        for near_y in y.saturating_sub(1)..(y + 2).min(height) {
            for near_x in x.saturating_sub(1)..(x + 2).min(width) {
                let near = near_y * width + near_x;
                if candidates.values[near] > 0.0 && edges.values[near] == 0.0 {
                    edges.values[near] = 1.0;
                    open.push(near);
                }
            }
        }
    }
    edges
}

/// Distances to the nearest edge, along steps to neighbours (1), diagonal neighbours and knight's moves, in two
/// passes, as OpenCV approximates them.
fn distances(edges: &Field) -> Field {
    const STEPS: [(isize, isize, f64); 8] = [
        (-2, -1, 2.1969),
        (-2, 1, 2.1969),
        (-1, -2, 2.1969),
        (-1, -1, 1.4),
        (-1, 0, 1.0),
        (-1, 1, 1.4),
        (-1, 2, 2.1969),
        (0, -1, 1.0),
    ];
    let mut distances = edges.map(|edge| if edge > 0.0 { 0.0 } else { f64::INFINITY });
    let (height, width) = (edges.height, edges.width);
    for direction in [1, -1] {
        for turn in 0..height * width {
            let at = if direction == 1 {
                turn
            } else {
                height * width - 1 - turn
            };
            let (y, x) = (at / width, at % width);
            for (dy, dx, length) in STEPS {
                let from = (
                    y.checked_add_signed(direction * dy),
                    x.checked_add_signed(direction * dx),
                );
                if let (Some(y), Some(x)) = from
                    && y < height
                    && x < width
                {
                    distances.values[at] = distances.values[at].min(distances.at(y, x) + length);
                }
            }
        }
    }
    distances
}

/// Levels 0..=255 spread so that each is about as frequent as the others.
fn equalised(levels: &Field) -> Field {
    let mut counts = [0.0; 256];
    levels
        .values
        .iter()
        .for_each(|&level| counts[level as usize & 255] += 1.0);
    let total = levels.values.len() as f64;
    let lowest = counts.iter().position(|&count| count > 0.0).unwrap_or(0);
    if counts[lowest] == total {
        return levels.clone();
    }
    let mut sum = -counts[lowest];
    let table = counts.map(|count| {
        sum += count;
        (sum.max(0.0) * 255.0 / (total - counts[lowest])).round()
    });
    levels.map(|level| table[level as usize & 255])
}
