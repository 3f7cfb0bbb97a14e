//! `cargo bench --bench network -- train|predict [--quick]`, without `-p` (see the kernels' benchmark).
//!
//! A CIFAR ResNet-20 on the CPU device: seconds of a training step for every posterior and estimator, beside
//! PyTorch's, and of predictions with many draws, beside as many single passes. Prints a table and writes
//! `bench/train.json` or `bench/predict.json` in the target directory. Medians after warm-up; measure on a
//! quiet machine.

mod peer;
mod predict;
mod report;
mod subject;
mod train;

use bayesadapter_tests::{Counting, idle_share};
use report::Report;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo itself adds it.
    arguments.retain(|argument| argument != "--bench");
    let quick = arguments.iter().any(|argument| argument == "--quick");
    arguments.retain(|argument| argument != "--quick");
    let mut report = Report::default();
    let name = match arguments.as_slice() {
        [name] if name == "train" => {
            train::measure(&mut report, quick);
            "train"
        }
        [name] if name == "predict" => {
            predict::measure(&mut report, quick);
            "predict"
        }
        other => panic!("unknown arguments {other:?}: give train or predict, and perhaps --quick"),
    };
    if let Some(idle) = idle_share().filter(|idle| *idle < 0.95) {
        let others = 100.0 * (1.0 - idle);
        println!("\nWARNING: others used {others:.0} % of this machine; the figures mean little");
    }
    report.finish(name);
}
