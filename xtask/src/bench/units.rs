//! Processor time of every run of rustc, from a script that stands before it.

use crate::process;
use anyhow::{Context, Result, bail};
use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The units that have been measured, in this run or before.
pub fn known(build: &Path) -> Result<Vec<String>> {
    fs::read_dir(folder(build))?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}

/// The sum over all units of a build that printed `messages`, whenever each was compiled.
pub fn processor_seconds(
    build: &Path,
    known: &[String],
    messages: &str,
    start: SystemTime,
) -> Result<f64> {
    let mut sum = 0.0;
    for unit in known {
        let file = folder(build).join(unit);
        if messages.contains(unit) || fs::metadata(&file)?.modified()? >= start {
            for number in fs::read_to_string(&file)?.split_whitespace() {
                let seconds: f64 = number
                    .parse()
                    .with_context(|| format!("unit {unit}: {number} is not a time"))?;
                sum += seconds;
            }
        }
    }
    Ok(sum)
}

pub fn folder(build: &Path) -> PathBuf {
    build.join("units")
}

pub fn install_wrapper(build: &Path) -> Result<PathBuf> {
    if process::find(&["bash"]).is_none() {
        bail!("this benchmark needs bash, to measure every run of rustc");
    }
    fs::create_dir_all(folder(build))?;
    let wrapper = build.join("rustc.sh");
    fs::write(&wrapper, include_str!("rustc.sh"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    }
    Ok(wrapper)
}
