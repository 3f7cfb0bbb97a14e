//! A few rows of normals against what they meet: the inner loops of a Gaussian matrix product with
//! few rows of x per example.
//!
//! Several weight rows go side by side: they share what is loaded of y or of the gradient, and their
//! sums do not wait for one another.

use super::lanes::{LANES, Lanes};

const SIDE_BY_SIDE: usize = 4;

/// `y += x (std * eps)` for `eps` and `std` of `[x.len(), y.len()]`.
#[inline(always)]
pub(super) fn add_rows<L: Lanes>(x: &[f32], eps: &[f32], std: &[f32], y: &mut [f32]) {
    let outputs = y.len();
    let (x, x_rest) = x.as_chunks::<SIDE_BY_SIDE>();
    let (eps, eps_rest) = eps.split_at(x.len() * SIDE_BY_SIDE * outputs);
    let (std, std_rest) = std.split_at(eps.len());
    let parts = eps.chunks_exact(SIDE_BY_SIDE * outputs);
    let parts = parts.zip(std.chunks_exact(SIDE_BY_SIDE * outputs));
    for (x, (eps, std)) in x.iter().zip(parts) {
        add_some::<L, SIDE_BY_SIDE>(x, eps, std, y);
    }
    let parts = eps_rest.chunks_exact(outputs);
    for (x, (eps, std)) in x_rest.iter().zip(parts.zip(std_rest.chunks_exact(outputs))) {
        add_some::<L, 1>(&[*x], eps, std, y);
    }
}

#[inline(always)]
fn add_some<L: Lanes, const N: usize>(x: &[f32; N], eps: &[f32], std: &[f32], y: &mut [f32]) {
    let outputs = y.len();
    assert!(eps.len() == N * outputs && std.len() == N * outputs);
    let (zero, factors) = (L::splat(0.0), x.map(L::splat));
    let whole = outputs - outputs % LANES;
    for column in (0..whole).step_by(LANES) {
        // SAFETY: eight columns from here on are inside `y`, and inside each of the N rows of the
        // same length, as asserted.
        unsafe {
            let mut sum = L::load(y.as_ptr().add(column));
            for n in 0..N {
                let at = n * outputs + column;
                let eps = L::load(eps.as_ptr().add(at));
                let deviation = eps.mul_add(L::load(std.as_ptr().add(at)), zero);
                sum = deviation.mul_add(factors[n], sum);
            }
            sum.store(y.as_mut_ptr().add(column));
        }
    }
    for column in whole..outputs {
        for n in 0..N {
            y[column] += x[n] * (eps[n * outputs + column] * std[n * outputs + column]);
        }
    }
}

/// `dx = (std * eps) grad` and, unless that is empty, `d_eps += x grad^T * eps`: `eps`, `std` and
/// `d_eps` are of `[x.len(), grad.len()]`.
#[inline(always)]
pub(super) fn gradient_rows<L: Lanes>(
    x: &[f32],
    eps: &[f32],
    std: &[f32],
    grad: &[f32],
    d_eps: &mut [f32],
    dx: &mut [f32],
) {
    let outputs = grad.len();
    let mut first = 0;
    while first < x.len() {
        let start = first * outputs;
        let d_eps = d_eps.get_mut(start..).unwrap_or_default();
        let (eps, std, dx) = (&eps[start..], &std[start..], &mut dx[first..]);
        first += match x[first..].first_chunk::<SIDE_BY_SIDE>() {
            Some(x) => gradient_some::<L, SIDE_BY_SIDE>(x, eps, std, grad, d_eps, dx),
            None => gradient_some::<L, 1>(&[x[first]], eps, std, grad, d_eps, dx),
        };
    }
}

/// The first `N` rows; returns `N`.
#[inline(always)]
fn gradient_some<L: Lanes, const N: usize>(
    x: &[f32; N],
    eps: &[f32],
    std: &[f32],
    grad: &[f32],
    d_eps: &mut [f32],
    dx: &mut [f32],
) -> usize {
    let (outputs, wanted) = (grad.len(), !d_eps.is_empty());
    assert!(eps.len() >= N * outputs && std.len() >= N * outputs);
    assert!(!wanted || d_eps.len() >= N * outputs);
    let (zero, factors) = (L::splat(0.0), x.map(L::splat));
    let mut sums = [zero; N];
    let whole = outputs - outputs % LANES;
    for column in (0..whole).step_by(LANES) {
        // SAFETY: eight columns from here on are inside `grad`, and inside each of the N rows of the
        // same length, as asserted.
        unsafe {
            let grad = L::load(grad.as_ptr().add(column));
            for n in 0..N {
                let at = n * outputs + column;
                let product = L::load(eps.as_ptr().add(at)).mul_add(grad, zero);
                sums[n] = product.mul_add(L::load(std.as_ptr().add(at)), sums[n]);
                if wanted {
                    let d_eps = d_eps.as_mut_ptr().add(at);
                    product.mul_add(factors[n], L::load(d_eps)).store(d_eps);
                }
            }
        }
    }
    for n in 0..N {
        let mut sum = sums[n].sum();
        for column in whole..outputs {
            let at = n * outputs + column;
            let product = eps[at] * grad[column];
            sum += product * std[at];
            if wanted {
                d_eps[at] += x[n] * product;
            }
        }
        dx[n] = sum;
    }
    N
}
