//! The window on a display of its own: the demo in it, every page, and quit.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by it"
)]

use image::RgbImage;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

/// An X server without a screen.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    fn open() -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x800x24"])
            .args(["-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("this test needs Xvfb (Debian package xvfb); `cargo xtask setup` installs it");
        // It chooses a display that is free, and tells which.
        let mut number = String::new();
        let told = BufReader::new(server.stdout.take().unwrap()).read_line(&mut number);
        told.unwrap();
        let name = format!(":{}", number.trim());
        Self { server, name }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

fn picture(folder: &Path, name: &str) -> RgbImage {
    let file = folder.join(format!("{name}.png"));
    let picture = image::open(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
    picture.into_rgb8()
}

/// Mean of all channels, from 0 to 255.
fn brightness(picture: &RgbImage) -> f64 {
    let sum: u64 = picture.as_raw().iter().map(|&value| u64::from(value)).sum();
    sum as f64 / picture.as_raw().len() as f64
}

#[test]
fn the_demo_runs_in_the_window_and_every_page_shows_it() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("window");
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    let display = Display::open();
    let output = Command::new(env!("CARGO_BIN_EXE_bayesadapter"))
        .args(["gui", "--screenshots"])
        .arg(&folder)
        .env("DISPLAY", &display.name)
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .output()
        .unwrap();
    let [said, complaints] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    println!("{said}pictures in {}", folder.display());
    assert!(output.status.success(), "{said}{complaints}");
    assert!(said.contains("frames") && said.contains("MB"), "{said}");

    for page in [
        "set-up",
        "training",
        "posterior",
        "ensemble",
        "uncertainty",
        "calibration",
        "predict",
        "compare",
    ] {
        let [light, dark] = ["", "-dark"].map(|ending| {
            let picture = picture(&folder, &format!("{page}{ending}"));
            assert_eq!(picture.dimensions(), (1280, 800));
            brightness(&picture)
        });
        assert!(light > 200.0 && dark < 80.0, "{page}: {light} and {dark}");
    }
    for page in ["start", "learning", "posterior-while-learning"] {
        let picture = picture(&folder, page);
        let ground = picture.get_pixel(2, 400);
        let inked = picture.pixels().filter(|&pixel| pixel != ground).count();
        assert!(inked > 10_000, "{page}: {inked} pixels");
    }
    let run = folder.join("runs/demo-1/pse");
    assert!(run.join("posterior.safetensors").exists());
    assert!(run.join("evaluations/pse.json").exists());
}
