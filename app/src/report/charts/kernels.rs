//! The kernels of a layer, one small picture per output.

use crate::report::{
    Chart, FirstLayer, Report,
    palette::{FAINT, TEXT},
    svg::WIDTH,
    text::{escaped, slug},
};
use bayesadapter::evaluate::KernelPosterior;
use std::fmt::Write;

/// Sizes in units.
const MARGIN: usize = 14;
const TOP: usize = 112;
const GAP: usize = 12;
const LARGEST_TILE: usize = 108;

pub fn charts(report: &Report) -> Vec<Chart> {
    let drawable = |layer: &&FirstLayer| {
        let elements: usize = layer.kernels.shape.iter().product();
        elements > 0 && layer.kernels.mean.len() == elements && layer.kernels.std.len() == elements
    };
    let layers = report.first_layers.iter().filter(drawable);
    layers.flat_map(|layer| [mean(layer), std(layer)]).collect()
}

fn mean(FirstLayer { method, kernels }: &FirstLayer) -> Chart {
    let largest = largest(&kernels.mean);
    let title = format!("Mean of the first layer's kernels, {method}");
    let scale = format!("Black is −{largest:.2}, grey is 0, white is {largest:.2}.");
    let elements = pictures(kernels, &kernels.mean, &title, &scale, |value| {
        0.5 + 0.5 * value / largest
    });
    let caption = format!(
        "How to read it: one picture per output of the layer ({}), {}. These are the patterns that the layer \
         looks for on average over the distribution, much as those of the network that it started from.",
        kernels.path,
        colours(kernels)
    );
    chart(
        format!("kernels-mean-{}", slug(method)),
        title,
        caption,
        &elements,
    )
}

fn std(FirstLayer { method, kernels }: &FirstLayer) -> Chart {
    let largest = largest(&kernels.std);
    let title = format!("Standard deviation of the first layer's kernels, {method}");
    let scale = format!("Black is 0, white is {largest:.4}.");
    let elements = pictures(kernels, &kernels.std, &title, &scale, |value| {
        value / largest
    });
    let caption =
        "How to read it: the same kernels; the brighter a point, the less the training images \
                   determine that weight."
            .to_owned();
    chart(
        format!("kernels-std-{}", slug(method)),
        title,
        caption,
        &elements,
    )
}

fn colours(kernels: &KernelPosterior) -> &'static str {
    match kernels.shape[1] {
        3 => "in the colours of its input",
        1 => "in shades of grey",
        _ => "in shades of grey, as the mean over its inputs",
    }
}

fn chart(
    name: String,
    title: String,
    caption: String,
    (height, elements): &(u32, String),
) -> Chart {
    Chart::new(name, title, caption, *height, elements)
}

/// The largest size of a finite value; something to divide by, even where there is none.
fn largest(values: &[f32]) -> f32 {
    let sizes = values.iter().map(|value| value.abs());
    let largest = sizes.filter(|size| size.is_finite()).fold(0.0, f32::max);
    if largest > 0.0 { largest } else { 1.0 }
}

/// Height and elements of the pictures of all outputs.
fn pictures(
    kernels: &KernelPosterior,
    values: &[f32],
    title: &str,
    scale: &str,
    brightness: impl Fn(f32) -> f32,
) -> (u32, String) {
    let [outputs, _, height, width] = kernels.shape;
    let inner = WIDTH as usize - 2 * MARGIN;
    let columns = columns(outputs);
    let pixel =
        ((inner / columns).saturating_sub(GAP)).min(LARGEST_TILE) as f64 / height.max(width) as f64;
    let (across, down) = (
        pixel * width as f64 + GAP as f64,
        pixel * height as f64 + GAP as f64,
    );
    let mut out = String::new();
    // Writing to a string cannot fail.
    for (y, size, ink, text) in [(40, 30, TEXT, title), (84, 25, FAINT, scale)] {
        let (fill, text) = (ink.light_hex(), escaped(text));
        let _ = writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"{y}\" font-family=\"sans-serif\" font-size=\"{size}\" fill=\"{fill}\">{text}</text>"
        );
    }
    for output in 0..outputs {
        let x = MARGIN as f64 + across * (output % columns) as f64;
        let y = TOP as f64 + down * (output / columns) as f64;
        let _ = writeln!(
            out,
            "<g transform=\"translate({x:.1} {y:.1}) scale({pixel:.3})\" shape-rendering=\"crispEdges\">"
        );
        for place in 0..height * width {
            let [red, green, blue] = colour(kernels, values, output, place, &brightness);
            let (x, y) = (place % width, place / width);
            // Lower case, which the rules for dark ground do not match: these colours are data.
            let _ = write!(
                out,
                "<path fill=\"#{red:02x}{green:02x}{blue:02x}\" d=\"M{x} {y}h1v1h-1z\"/>"
            );
        }
        out.push_str("</g>\n");
    }
    let end = TOP as f64 + down * outputs.div_ceil(columns) as f64;
    (end.ceil() as u32 + 2, out)
}

/// Columns of tiles: a number that fills its last row, if one of a good size does.
fn columns(tiles: usize) -> usize {
    let good = [8, 9, 10, 7, 11, 12, 6];
    let filling = good
        .into_iter()
        .find(|columns| tiles.is_multiple_of(*columns));
    filling.unwrap_or(good[0]).min(tiles)
}

fn colour(
    kernels: &KernelPosterior,
    values: &[f32],
    output: usize,
    place: usize,
    brightness: impl Fn(f32) -> f32,
) -> [u8; 3] {
    let [_, inputs, height, width] = kernels.shape;
    let plane = height * width;
    let of_input = |input: usize| values[(output * inputs + input) * plane + place];
    let byte = |value: f32| (brightness(value).clamp(0.0, 1.0) * 255.0).round() as u8;
    match inputs {
        3 => [0, 1, 2].map(|input| byte(of_input(input))),
        _ => [byte((0..inputs).map(of_input).sum::<f32>() / inputs as f32); 3],
    }
}
