//! From a [`Kernel`] to its WGSL.

use super::{Const, Kernel, unroll::unroll};
use std::fmt::Write;

macro_rules! texts {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../wgsl/", $folder, $name, ".wgsl")))),*]
    };
}

/// Every file with an entry point.
pub const SOURCES: &[(&str, &str)] = texts!("":
    "direct_backward_w",
    "direct_backward_x",
    "direct_forward",
    "fold_left",
    "fold_right",
    "fold_shared",
    "plain_product",
    "product_backward_w",
    "product_backward_x",
    "product_forward",
    "sample_gaussian",
    "sample_gaussian_backward",
    "sample_low_rank",
    "sum_parts",
    "vector_backward_w",
    "vector_backward_x",
    "vector_forward",
);

/// Every file of shared text.
pub const LIBRARY: &[(&str, &str)] = texts!("lib/":
    "columns",
    "gaussian",
    "gaussian_aligned",
    "given",
    "given_aligned",
    "lanes",
    "low_rank",
    "noise",
    "noise_run",
    "row_sum",
    "run_gaussian",
    "run_given",
    "run_low_rank",
    "segment",
    "slot",
    "spread_gaussian",
    "spread_none",
    "spread_run_gaussian",
    "spread_run_none",
    "tile",
    "window_grad",
    "window_x",
);

/// # Panics
/// On a name that is in neither table, which the tests rule out for every kernel.
fn text(table: &[(&str, &'static str)], name: &str) -> &'static str {
    table
        .iter()
        .find_map(|(known, text)| (*known == name).then_some(*text))
        .unwrap_or_else(|| panic!("no WGSL file is called {name}"))
}

pub(super) fn compose(kernel: &Kernel) -> String {
    let mut all = String::new();
    for (name, value) in &kernel.consts {
        // Writing to a String cannot fail.
        let _ = match value {
            Const::U32(value) => writeln!(all, "const {name} = {value}u;"),
            Const::Bool(value) => writeln!(all, "const {name} = {value};"),
        };
    }
    for name in &kernel.library {
        all.push_str(&unroll(text(LIBRARY, name), &kernel.consts));
    }
    all.push_str(&unroll(text(SOURCES, kernel.name), &kernel.consts));
    all
}
