//! Kernels as pictures.

use bayesadapter::evaluate::{KernelPosterior, LayerFactors};
use image::{Rgb, RgbImage};

/// Kernels that are shown of a layer; more are too small to see.
pub const MOST_KERNELS: usize = 128;

/// Factors side by side; a texture's side has its limits, and so has what one can see.
const MOST_COLUMNS: usize = 2048;

/// A picture per kernel that is shown, black being zero and white the largest standard deviation.
pub fn deviations(kernels: &KernelPosterior) -> Vec<RgbImage> {
    let largest = largest(&kernels.std);
    let shown = shown(kernels.shape, &kernels.std);
    row(kernels.shape, shown, |value| value / largest)
}

/// What the shades of [`centred`] stand for.
pub fn scale_of_means(largest: f32) -> String {
    format!("black {:.2}, grey 0, white {largest:.2}", -largest)
}

/// What the shades of [`deviations`] stand for.
pub fn scale_of_deviations(kernels: &KernelPosterior) -> String {
    match largest(&kernels.std) {
        largest if largest > f32::MIN_POSITIVE => format!("black 0, white {largest:.2e}"),
        _ => "0, these weights are points".to_owned(),
    }
}

/// How many kernels there are, and what is seen of them.
pub fn kernels_in_words(kernels: &KernelPosterior) -> String {
    let [outputs, inputs, height, width] = kernels.shape;
    let shown = match outputs > MOST_KERNELS {
        true => format!(", the first {MOST_KERNELS} shown"),
        false => String::new(),
    };
    let colours = match inputs {
        1 => "",
        3 => ", in colours",
        _ => ", of their first input",
    };
    format!("{outputs} kernels of {inputs} x {height} x {width}{colours}{shown}")
}

/// A picture per kernel that is shown, grey being zero and white the largest value.
pub fn centred(shape: [usize; 4], values: &[f32], largest: f32) -> Vec<RgbImage> {
    row(shape, shown(shape, values), |value| {
        0.5 + 0.5 * value / largest
    })
}

/// The values of the kernels that are shown.
fn shown(shape: [usize; 4], values: &[f32]) -> &[f32] {
    let [_, channels, height, width] = shape;
    let most = MOST_KERNELS * channels * height * width;
    &values[..values.len().min(most)]
}

/// The factors of an ensemble, of the inputs and of the outputs: a row per network; grey leaves the shared weight as
/// it is.
pub fn factors(factors: &LayerFactors) -> [HeatMap; 2] {
    let components = factors.components.max(1);
    let outputs = factors.right.len() / components / factors.rank.max(1);
    // The product of the factors is about one: those of the first rank are, and the others about zero.
    let first_of_left = |column: usize| column.is_multiple_of(factors.rank.max(1));
    let first_of_right = |column: usize| column < outputs;
    [
        heat_map(&factors.left, components, first_of_left),
        heat_map(&factors.right, components, first_of_right),
    ]
}

/// Factors as shades of grey.
pub struct HeatMap {
    pub picture: RgbImage,
    /// By how much black is less than grey, and white more.
    most: f32,
    /// Factors that share a pixel, of which the one farthest from grey is shown.
    each: usize,
}

impl HeatMap {
    /// What its shades stand for.
    pub fn scale(&self) -> String {
        let shared = match self.each {
            1 => String::new(),
            each => format!(", the farthest from grey of every {each}"),
        };
        format!("black -{0:.2}, white +{0:.2}{shared}", self.most)
    }
}

fn heat_map(values: &[f32], rows: usize, first_rank: impl Fn(usize) -> bool) -> HeatMap {
    let columns = values.len() / rows;
    let neutral = |column: usize| f32::from(u8::from(first_rank(column)));
    let ways = values.iter().enumerate();
    let ways: Vec<f32> = ways
        .map(|(at, value)| value - neutral(at % columns.max(1)))
        .collect();
    let most = largest(&ways);
    let each = columns.div_ceil(MOST_COLUMNS).max(1);
    let picture = RgbImage::from_fn(columns.div_ceil(each) as u32, rows as u32, |x, y| {
        let first = x as usize * each;
        let row = &ways[y as usize * columns..][..columns];
        let shared = row[first..columns.min(first + each)].iter().copied();
        let farthest = |a: f32, b: f32| if b.abs() > a.abs() { b } else { a };
        let way = shared.fold(0.0, farthest);
        let grey = (127.5 + 127.5 * way / most).round() as u8;
        Rgb([grey; 3])
    });
    HeatMap {
        picture,
        most,
        each,
    }
}

/// The largest finite value, whatever its sign; something to divide by, even where there is none.
pub fn largest(values: &[f32]) -> f32 {
    let sizes = values.iter().map(|value| value.abs());
    let finite = sizes.filter(|size| size.is_finite());
    finite.fold(f32::MIN_POSITIVE, f32::max)
}

/// A picture per kernel, by the brightness of its values from 0 to 1.
pub fn row(shape: [usize; 4], values: &[f32], brightness: impl Fn(f32) -> f32) -> Vec<RgbImage> {
    let [_, channels, height, width] = shape;
    let plane = height * width;
    values
        .chunks_exact(channels * plane)
        .map(|kernel| {
            RgbImage::from_fn(width as u32, height as u32, |x, y| {
                let place = y as usize * width + x as usize;
                Rgb([0, 1, 2].map(|colour| {
                    // Three inputs are colours; of another number, the first is shown in grey.
                    let channel = if channels == 3 { colour } else { 0 };
                    let value = kernel.get(channel * plane + place).copied().unwrap_or(0.0);
                    (brightness(value).clamp(0.0, 1.0) * 255.0).round() as u8
                }))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_factor_of_a_wide_layer_is_left_out() {
        let wide = |last: f32| {
            let mut right = vec![1.0; 2 * 5000];
            right[4999] = last;
            factors(&LayerFactors {
                components: 2,
                rank: 1,
                left: vec![1.0; 2 * 9],
                right,
            })
        };
        let [narrow, map] = wide(3.0);
        assert_eq!(narrow.picture.width(), 9);
        assert!(!narrow.scale().contains("every"));
        let picture = &map.picture;
        assert_eq!(picture.dimensions(), (1667, 2));
        assert!(map.scale().ends_with("of every 3"), "{}", map.scale());
        assert_eq!(picture.get_pixel(1666, 0).0, [255; 3]);
        assert_eq!(picture.get_pixel(1666, 1).0, [128; 3]);
        assert_eq!(wide(-1.0)[1].picture.get_pixel(1666, 0).0, [0; 3]);
    }
}
