//! The same network in PyTorch, when Python can import it.

use serde::Deserialize;
use std::process::{Command, Stdio};

/// Seconds, as `peer_torch_network.py` prints them.
#[derive(Deserialize)]
pub struct Peer {
    pub deterministic: f64,
    pub vanilla: f64,
    pub exemplar: f64,
    pub prediction: f64,
}

/// Runs the script with as many threads as we use ourselves.
pub fn measure(batch: usize, repeats: usize) -> Option<Peer> {
    let importable = Command::new("python3")
        .args(["-c", "import torch"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !importable {
        println!("PyTorch cannot be imported: its rows and ratios are left out");
        return None;
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peer_torch_network.py");
    let output = Command::new("python3")
        .args([
            script,
            &batch.to_string(),
            &threads.to_string(),
            &repeats.to_string(),
        ])
        .stderr(Stdio::inherit())
        .output()
        .expect("python3 was there a moment ago");
    assert!(
        output.status.success(),
        "the script failed: {}",
        output.status
    );
    Some(serde_json::from_slice(&output.stdout).expect("the script prints JSON"))
}
