//! `bayesadapter ops`: what the operations do, seen on the machine at hand.

use super::{
    Voice,
    devices::{self, Named},
    kernels,
};
use anyhow::{Result, bail};
use bayesadapter::selfcheck::{self, Row};
use bayesadapter::showcase::{self, Variance};
use burn::tensor::{Device, read_sync};
use std::path::Path;
use std::time::Instant;

/// Draws shown in the picture.
const DRAWS: usize = 6;

/// Checks, measures, draws; fails if a device computes anything else than the CPU.
pub fn run(out: &Path, runs: u32, voice: &Voice) -> Result<()> {
    let (cpu, adapter) = devices::all();
    let adapter = match adapter {
        Ok(adapter) => Some(adapter),
        Err(error) => {
            voice.warn(&format!(
                "there is no GPU adapter, so everything runs on the CPU: {error}"
            ));
            None
        }
    };
    if let Some(adapter) = &adapter {
        check(adapter, &cpu.device, voice)?;
    }
    estimators(&cpu, runs, voice)?;
    let device = adapter.map_or(cpu.device, |adapter| adapter.device);
    let pictures = showcase::kernel_draws(&device, DRAWS)?;
    kernels::save_draws(&pictures, out)?;
    voice.say(format_args!(
        "Posterior mean, standard deviation and {DRAWS} draws of 16 kernels: {}",
        out.display()
    ));
    voice.json(&serde_json::json!({ "event": "kernels", "file": out }));
    Ok(())
}

/// Every op on the adapter against the CPU, one line per op and weight source.
pub fn check(adapter: &Named, cpu: &Device, voice: &Voice) -> Result<()> {
    voice.say(format_args!(
        "Ops on {}, compared with the CPU:",
        adapter.name
    ));
    let started = Instant::now();
    let rows = read_sync(selfcheck::compare(&adapter.device, cpu))?;
    voice.say(format_args!(
        "  {:18} {:10} {:>22}",
        "op", "weights", "largest difference"
    ));
    for group in rows.chunk_by(|a, b| (a.op, a.source) == (b.op, b.source)) {
        let share = |row: &Row| row.max_difference / row.magnitude.max(f32::MIN_POSITIVE);
        let worst = group.iter().map(share).fold(0.0, f32::max);
        let (op, source) = (group[0].op, group[0].source);
        voice.say(format_args!("  {op:18} {source:10} {worst:>22.1e}"));
        voice.json(&serde_json::json!({
            "event": "op",
            "op": op,
            "weights": source,
            "largest_difference": worst,
        }));
    }
    voice.say(format_args!("  {:.1} s\n", started.elapsed().as_secs_f64()));
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

/// Gradient variance of every estimator, and how many times as large that of the vanilla estimator is.
fn estimators(cpu: &Named, runs: u32, voice: &Voice) -> Result<()> {
    voice.say(format_args!(
        "Variance of the gradient of a Gaussian convolution (3 to 16 channels, 128 images), {runs} runs per estimator;\n\
         in brackets how many times as large vanilla's is (exemplar in the paper: about 100):"
    ));
    let found = showcase::gradient_variance(&cpu.device, runs)?;
    voice.say(format_args!("  {:10} {:>20} {:>20}", "", "mu", "psi"));
    for (estimator, variance) in found.each() {
        let Variance { mu, psi } = variance;
        let [mu_ratio, psi_ratio] = [found.vanilla.mu / mu, found.vanilla.psi / psi];
        voice.say(format_args!(
            "  {:10} {mu:>10.2e} {:>9} {psi:>10.2e} {:>9}",
            estimator.to_string(),
            format!("({mu_ratio:.0}x)"),
            format!("({psi_ratio:.0}x)"),
        ));
        voice.json(&serde_json::json!({
            "event": "gradient-variance",
            "estimator": estimator,
            "mu": mu,
            "psi": psi,
            "vanilla_over_mu": mu_ratio,
            "vanilla_over_psi": psi_ratio,
        }));
    }
    voice.say("");
    Ok(())
}
