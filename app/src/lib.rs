//! The program as a library: command line, window and reports, so that tests and the page can use them.

// Pretended evaluations serve tests outside and inside of this crate, and name it from outside.
#[cfg(test)]
extern crate self as bayesadapter_app;

#[cfg(not(target_family = "wasm"))]
pub mod cli;
mod demo;
mod device;
mod error;
mod network;
mod outcome;
mod picture;
mod places;
pub mod report;
mod verdict;
pub mod window;
