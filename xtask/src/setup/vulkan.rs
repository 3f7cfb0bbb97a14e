//! Is there a Vulkan adapter for the tests, in hardware or in software?

use super::libraries;
use anyhow::{Context, Result};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Nothing where a Vulkan adapter can be expected, and where wgpu does not use Vulkan.
pub fn missing_packages() -> Vec<&'static str> {
    if !cfg!(target_os = "linux") || adapter().is_some() {
        return Vec::new();
    }
    // Mesa's drivers contain llvmpipe, which runs Vulkan on any CPU; the loader comes with it.
    vec!["mesa-vulkan-drivers", "libvulkan1"]
}

/// What the tests will find. Without an adapter they could only fail later and less clearly.
pub fn require() -> Result<String> {
    if !cfg!(target_os = "linux") {
        return Ok("not needed, wgpu has its own ways on this system".into());
    }
    adapter().context(
        "no Vulkan driver works here, though Mesa's are installed; are VK_DRIVER_FILES and \
         VK_ICD_FILENAMES unset?",
    )
}

/// A driver that can be expected to work. A driver alone proves little, because Mesa installs those
/// of GPUs that are not there: it counts with a device node, or if it needs no device.
fn adapter() -> Option<String> {
    if !libraries::is_there("libvulkan.so.1") {
        return None;
    }
    let drivers = drivers();
    let software = drivers.iter().find(|name| name.starts_with("lvp_"));
    let has_gpu = has_device_node();
    match (has_gpu, software) {
        (true, _) if !drivers.is_empty() => Some(format!("GPU, drivers {}", drivers.join(" "))),
        (_, Some(driver)) => Some(format!("software ({driver})")),
        _ => None,
    }
}

/// File names of the installed drivers' manifests.
fn drivers() -> Vec<String> {
    // The loader reads these variables instead of the folders.
    let chosen = env::var_os("VK_DRIVER_FILES").or_else(|| env::var_os("VK_ICD_FILENAMES"));
    let files: Vec<PathBuf> = match chosen {
        Some(list) => env::split_paths(&list)
            .filter(|file| file.exists())
            .collect(),
        None => ["/usr/share", "/usr/local/share", "/etc"]
            .iter()
            .flat_map(|folder| files_in(&Path::new(folder).join("vulkan/icd.d")))
            .collect(),
    };
    files
        .iter()
        .filter_map(|file| file.file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".json"))
        .collect()
}

fn has_device_node() -> bool {
    let is_node = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("renderD") || name == "nvidia0" || name == "dxg"
    };
    ["/dev", "/dev/dri"]
        .iter()
        .flat_map(|folder| files_in(Path::new(folder)))
        .any(|file| is_node(&file))
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    // A folder that is not there holds no files.
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}
