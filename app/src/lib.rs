//! The program as a library: command line, window and reports, so that tests and the page can use them.

// Pretended evaluations serve tests outside and inside of this crate, and name it from outside.
#[cfg(test)]
extern crate self as bayesadapter_app;

#[cfg(not(target_family = "wasm"))]
pub mod cli;
#[cfg(not(target_family = "wasm"))]
mod network;
mod picture;
pub mod report;
#[cfg(not(target_family = "wasm"))]
mod verdict;
#[cfg(not(target_family = "wasm"))]
mod window;
