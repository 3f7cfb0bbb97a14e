//! Files of a run that goes on after they were moved.

use super::{BadInput, flags::RunFlags};
use anyhow::Result;
use bayesadapter::session::RunSettings;

/// A run that goes on takes new places of its files, and no files that it did not have.
pub fn refuse_new_files(flags: &RunFlags, saved: &RunSettings) -> Result<()> {
    let files = [
        ("--weights", &flags.weights, &saved.model.weights),
        ("--ood", &flags.ood, &saved.data.out_of_distribution),
    ];
    for (flag, given, had) in files {
        if let (Some(given), None) = (given, had) {
            return Err(BadInput(format!(
                "the run began without {flag}, and cannot go on with {given}: resumed, {flag} says where the same files \
                 are now. Leave it out, or begin a new run"
            ))
            .into());
        }
    }
    Ok(())
}
