//! Plain-Rust twins of the kernels: the same names, the same buffers, simple loops to be read beside
//! the shader. They define what is right; they are not meant to be fast.

mod fold;
mod product;
mod sample;
mod weight;

pub use fold::{fold_left, fold_right, fold_shared};
pub use product::{product_backward_w, product_backward_x, product_forward, sum_parts};
pub use sample::{sample_gaussian, sample_gaussian_backward, sample_low_rank};
pub use weight::{Parameters, weight_of_example};
