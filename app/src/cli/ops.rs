//! `bayesadapter ops`: what the operations do, seen on the machine at hand.

use super::devices::{self, Named};
use crate::picture;
use anyhow::{Context, Result, bail};
use bayesadapter::selfcheck::{self, Row};
use bayesadapter::showcase::{self, Variance};
use burn::tensor::{Device, read_sync};
use std::path::Path;
use std::time::Instant;

/// Draws shown in the picture.
const DRAWS: usize = 6;

/// Checks, measures, draws; fails if a device computes anything else than the CPU.
pub fn run(out: &Path, runs: u32) -> Result<()> {
    let (cpu, adapter) = devices::all();
    let adapter = match adapter {
        Ok(adapter) => Some(adapter),
        Err(error) => {
            println!("No GPU adapter, so everything runs on the CPU: {error}\n");
            None
        }
    };
    if let Some(adapter) = &adapter {
        check(adapter, &cpu.device)?;
    }
    estimators(&cpu, runs)?;
    let device = adapter.map_or(cpu.device, |adapter| adapter.device);
    let pictures = showcase::kernel_draws(&device, DRAWS)?;
    picture::save(&pictures, out).with_context(|| format!("writing {}", out.display()))?;
    println!(
        "Posterior mean, standard deviation and {DRAWS} draws of 16 kernels: {}",
        out.display()
    );
    Ok(())
}

/// Every op on the adapter against the CPU, one line per op and weight source.
pub fn check(adapter: &Named, cpu: &Device) -> Result<()> {
    println!("Ops on {}, compared with the CPU:", adapter.name);
    let started = Instant::now();
    let rows = read_sync(selfcheck::compare(&adapter.device, cpu))?;
    println!(
        "  {:18} {:10} {:>22}",
        "op", "weights", "largest difference"
    );
    for group in rows.chunk_by(|a, b| (a.op, a.source) == (b.op, b.source)) {
        let share = |row: &Row| row.max_difference / row.magnitude.max(f32::MIN_POSITIVE);
        let worst = group.iter().map(share).fold(0.0, f32::max);
        let (op, source) = (group[0].op, group[0].source);
        println!("  {op:18} {source:10} {worst:>22.1e}");
    }
    println!("  {:.1} s\n", started.elapsed().as_secs_f64());
    if let Some(row) = rows.iter().find(|row| !row.pass) {
        bail!(
            "{} of {} ({}) is off by {:e} on {}: please report this adapter",
            row.result,
            row.op,
            row.source,
            row.max_difference,
            adapter.name
        );
    }
    Ok(())
}

/// Gradient variance with one weight per mini-batch and with one per example.
fn estimators(cpu: &Named, runs: u32) -> Result<()> {
    println!("Variance of the gradient of a Gaussian convolution, {runs} draws, batch 128:");
    let found = showcase::gradient_variance(&cpu.device, runs)?;
    println!("  {:34} {:>10} {:>10}", "", "mu", "psi");
    let line = |what: &str, found: Variance| {
        println!("  {what:34} {:>10.2e} {:>10.2e}", found.mu, found.psi);
    };
    line("one weight per mini-batch (vanilla)", found.vanilla);
    line("one weight per example (exemplar)", found.exemplar);
    println!(
        "  {:34} {:>9.0}x {:>9.0}x\n",
        "ratio",
        found.vanilla.mu / found.exemplar.mu,
        found.vanilla.psi / found.exemplar.psi
    );
    Ok(())
}
