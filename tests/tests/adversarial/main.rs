//! Attacks on the posterior predictive against closed forms of linear networks and finite differences of deep ones.

mod attack;
mod digits;
mod gradient;
mod linear;
mod refusal;
