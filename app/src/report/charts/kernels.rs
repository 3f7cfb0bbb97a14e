//! The kernels of the first layers, one small picture per output.

use crate::{
    picture,
    report::{Chart, FirstLayer, Report, Tiles, text::slug},
};
use bayesadapter::evaluate::KernelPosterior;

pub fn charts(report: &Report) -> Vec<Chart> {
    let drawable = |layer: &&FirstLayer| {
        let elements: usize = layer.kernels.shape.iter().product();
        elements > 0 && layer.kernels.mean.len() == elements && layer.kernels.std.len() == elements
    };
    let layers = report.first_layers.iter().filter(drawable);
    layers.flat_map(|layer| [mean(layer), std(layer)]).collect()
}

fn mean(FirstLayer { method, kernels }: &FirstLayer) -> Chart {
    let title = format!("Mean of the first layer's kernels, {method}");
    let caption = format!(
        "How to read it: one picture per output of the layer ({}), {}. These are the patterns that the layer \
         looks for on average over the distribution, much as those of the network that it started from.",
        kernels.path,
        colours(kernels)
    );
    let mut tiles = Tiles::of_means(title, kernels, picture::largest(&kernels.mean));
    tiles.caption = caption;
    tiles.chart(format!("kernels-mean-{}", slug(method)))
}

fn std(FirstLayer { method, kernels }: &FirstLayer) -> Chart {
    let title = format!("Standard deviation of the first layer's kernels, {method}");
    let caption = "How to read it: the same kernels; the brighter a point, the less the training images \
         determine that weight.";
    let mut tiles = Tiles::of_deviations(title, kernels);
    tiles.caption = caption.to_owned();
    tiles.chart(format!("kernels-std-{}", slug(method)))
}

fn colours(kernels: &KernelPosterior) -> &'static str {
    match kernels.shape[1] {
        3 => "in the colours of its input",
        1 => "in shades of grey",
        _ => "in shades of grey, of its first input",
    }
}
