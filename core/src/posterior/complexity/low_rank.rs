//! What a low-rank ensemble adds to the complexity gradient.

use crate::{
    ops::OpError,
    posterior::{Entry, low_rank::repeated, product::product},
};
use burn::tensor::Tensor;

/// Up to this rank the pairs cost less than passes over the weight for every component. Their number grows with the
/// square of the rank.
const MAX_RANK_OF_PAIRS: usize = 4;

/// Gradients of `lambda / 2C * sum_c |W * F[c]|^2`, where `F[c] = l[c] r[c]`.
///
/// The square of `F[c]` is a sum over pairs `(p, q)` of ranks of `(l_p l_q) (r_p r_q)`, so with those products as
/// matrices `pairs_left [in, C r^2]` and `pairs_right [C r^2, out]` everything is two matrix products, and no component
/// is materialised. Where the pairs are many, one component is at a time, as large as the weight.
pub(super) struct LowRankTerms<'a> {
    entry: &'a Entry,
    left: &'a Tensor<3>,
    right: &'a Tensor<3>,
    repeats: usize,
    scale: f64,
}

impl<'a> LowRankTerms<'a> {
    pub(super) fn new(
        entry: &'a Entry,
        left: &'a Tensor<3>,
        right: &'a Tensor<3>,
        lambda: f64,
    ) -> Self {
        let [components, rows, _] = left.dims();
        let fan_in = entry.value.dims()[0] / right.dims()[2];
        Self {
            entry,
            left,
            right,
            repeats: fan_in / rows,
            scale: lambda / components as f64,
        }
    }

    /// `d W = W * sum_c F[c]^2`, flat.
    pub(super) fn shared(&self) -> Result<Tensor<1>, OpError> {
        let squares = match self.in_pairs() {
            true => product(self.pairs_left(), self.pairs_right())?,
            false => self.squared_factors()?,
        };
        let weight = self.matrix(self.entry.value.clone());
        Ok(self.flat((weight * squares).mul_scalar(self.scale)))
    }

    /// The gradient of the left factors, flat.
    pub(super) fn left(&self) -> Result<Tensor<1>, OpError> {
        let gradient = match self.in_pairs() {
            true => self.left_by_pairs()?,
            false => self.left_by_component()?,
        };
        Ok(gradient.mul_scalar(self.scale))
    }

    /// The gradient of the right factors, flat.
    pub(super) fn right(&self) -> Result<Tensor<1>, OpError> {
        let gradient = match self.in_pairs() {
            true => self.right_by_pairs()?,
            false => self.right_by_component()?,
        };
        Ok(gradient.mul_scalar(self.scale))
    }

    fn in_pairs(&self) -> bool {
        self.left.dims()[2] <= MAX_RANK_OF_PAIRS
    }

    /// `[in, out]` from the layout of the parameter.
    fn matrix(&self, value: Tensor<1>) -> Tensor<2> {
        let fan_out = self.right.dims()[2];
        let fan_in = value.dims()[0] / fan_out;
        match self.entry.shape.len() {
            2 => value.reshape([fan_in, fan_out]),
            _ => value.reshape([fan_out, fan_in]).transpose(),
        }
    }

    /// The reverse of [`matrix`](Self::matrix).
    fn flat(&self, matrix: Tensor<2>) -> Tensor<1> {
        let [fan_in, fan_out] = matrix.dims();
        let matrix = match self.entry.shape.len() {
            2 => matrix,
            _ => matrix.transpose(),
        };
        matrix.reshape([fan_in * fan_out])
    }

    fn squared_weight(&self) -> Tensor<2> {
        self.matrix(self.entry.value.clone() * self.entry.value.clone())
    }
}

/// All components at once.
impl LowRankTerms<'_> {
    /// `l_p l_q`, `[in, C * r * r]`.
    fn pairs_left(&self) -> Tensor<2> {
        let left = repeated(self.left.clone(), self.repeats);
        let [components, fan_in, rank] = left.dims();
        let left = left.swap_dims(0, 1);
        let by_first = left.clone().reshape([fan_in, components, rank, 1]);
        let by_second = left.reshape([fan_in, components, 1, rank]);
        (by_first * by_second).reshape([fan_in, components * rank * rank])
    }

    /// `r_p r_q`, `[C * r * r, out]`.
    fn pairs_right(&self) -> Tensor<2> {
        let [components, rank, fan_out] = self.right.dims();
        let by_first = self.right.clone().reshape([components, rank, 1, fan_out]);
        let by_second = self.right.clone().reshape([components, 1, rank, fan_out]);
        (by_first * by_second).reshape([components * rank * rank, fan_out])
    }

    /// `d l_p = sum_q l_q * (W^2 (r_p r_q)^T)`
    fn left_by_pairs(&self) -> Result<Tensor<1>, OpError> {
        let [components, rows, rank] = self.left.dims();
        let fan_in = rows * self.repeats;
        let products = product(self.squared_weight(), self.pairs_right().transpose())?
            .reshape([fan_in, components, rank, rank]);
        let left = repeated(self.left.clone(), self.repeats)
            .swap_dims(0, 1)
            .reshape([fan_in, components, 1, rank]);
        // [in, C, r], with the inputs that share a factor summed.
        let gradient = (products * left)
            .sum_dim(3)
            .reshape([rows, self.repeats, components * rank])
            .sum_dim(1)
            .reshape([rows, components, rank])
            .swap_dims(0, 1);
        Ok(gradient.reshape([components * rows * rank]))
    }

    /// `d r_p = sum_q (l_p l_q)^T W^2 * r_q`
    fn right_by_pairs(&self) -> Result<Tensor<1>, OpError> {
        let [components, rank, fan_out] = self.right.dims();
        let products = product(self.pairs_left().transpose(), self.squared_weight())?
            .reshape([components, rank, rank, fan_out]);
        let right = self.right.clone().reshape([components, 1, rank, fan_out]);
        let gradient = (products * right).sum_dim(2);
        Ok(gradient.reshape([components * rank * fan_out]))
    }
}

/// One component at a time.
impl LowRankTerms<'_> {
    fn components(&self) -> std::ops::Range<usize> {
        0..self.left.dims()[0]
    }

    /// `l[c]`, `[in, r]`.
    fn left_of(&self, component: usize) -> Tensor<2> {
        let [_, rows, rank] = self.left.dims();
        let left = self.left.clone().slice(component..component + 1);
        repeated(left, self.repeats).reshape([rows * self.repeats, rank])
    }

    /// `r[c]`, `[r, out]`.
    fn right_of(&self, component: usize) -> Tensor<2> {
        let [_, rank, fan_out] = self.right.dims();
        let right = self.right.clone().slice(component..component + 1);
        right.reshape([rank, fan_out])
    }

    /// `F[c]`, `[in, out]`.
    fn factor(&self, component: usize) -> Result<Tensor<2>, OpError> {
        product(self.left_of(component), self.right_of(component))
    }

    /// `sum_c F[c]^2`, `[in, out]`.
    fn squared_factors(&self) -> Result<Tensor<2>, OpError> {
        let [_, rows, _] = self.left.dims();
        let shape = [rows * self.repeats, self.right.dims()[2]];
        let zeros = Tensor::<2>::zeros(shape, &self.left.device());
        self.components().try_fold(zeros, |sum, component| {
            let factor = self.factor(component)?;
            Ok(sum + factor.clone() * factor)
        })
    }

    /// `d l[c] = (W^2 * F[c]) r[c]^T`
    fn left_by_component(&self) -> Result<Tensor<1>, OpError> {
        let [_, rows, rank] = self.left.dims();
        let squared_weight = self.squared_weight();
        let of_component = |component| -> Result<Tensor<1>, OpError> {
            let weighted = squared_weight.clone() * self.factor(component)?;
            let gradient = product(weighted, self.right_of(component).transpose())?;
            // [in, r], with the inputs that share a factor summed.
            let gradient = gradient.reshape([rows, self.repeats, rank]).sum_dim(1);
            Ok(gradient.reshape([rows * rank]))
        };
        let all: Result<Vec<_>, _> = self.components().map(of_component).collect();
        Ok(Tensor::cat(all?, 0))
    }

    /// `d r[c] = l[c]^T (W^2 * F[c])`
    fn right_by_component(&self) -> Result<Tensor<1>, OpError> {
        let [_, rank, fan_out] = self.right.dims();
        let squared_weight = self.squared_weight();
        let of_component = |component| -> Result<Tensor<1>, OpError> {
            let weighted = squared_weight.clone() * self.factor(component)?;
            let gradient = product(self.left_of(component).transpose(), weighted)?;
            Ok(gradient.reshape([rank * fan_out]))
        };
        let all: Result<Vec<_>, _> = self.components().map(of_component).collect();
        Ok(Tensor::cat(all?, 0))
    }
}
