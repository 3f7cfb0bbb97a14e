//! What is counted over all test pictures: once, and not for every frame.

use super::super::{
    drawings::{self, Networks},
    judged::Edition,
};
use crate::report::{Drawing, Series};
use bayesadapter::evaluate::Evaluation;

/// What the page draws of the networks that are shown.
pub struct Counted {
    /// What it was counted of.
    pub edition: Edition,
    /// Of the network that is looked at: right answers among its surest, see [`drawings::right_among_surest`].
    pub right: Vec<usize>,
    pub uncertainty: Drawing,
    /// Of all networks.
    pub risks: Vec<Series>,
}

impl Counted {
    pub fn new(edition: Edition, evaluation: &Evaluation, networks: Networks<'_>) -> Self {
        Self {
            edition,
            right: drawings::right_among_surest(evaluation),
            uncertainty: drawings::uncertainty(evaluation),
            risks: drawings::risks(networks),
        }
    }
}
