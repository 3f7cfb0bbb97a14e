//! The window on a display of its own: the demo in it, every page, and quit.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by it"
)]

use image::{Rgb, RgbImage};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

const PAGES: [&str; 8] = [
    "set-up",
    "training",
    "posterior",
    "ensemble",
    "uncertainty",
    "calibration",
    "predict",
    "compare",
];

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

/// Below the bar, which every page has.
fn content(picture: &RgbImage) -> impl Iterator<Item = &Rgb<u8>> {
    picture.rows().skip(48).flatten()
}

/// Pixels of a page that are not of its ground.
fn ink(picture: &RgbImage) -> usize {
    let ground = picture.get_pixel(2, 790);
    content(picture).filter(|&pixel| pixel != ground).count()
}

/// Pixels of two pages that are not the same.
fn differing(one: &RgbImage, other: &RgbImage) -> usize {
    let pairs = content(one).zip(content(other));
    pairs.filter(|(one, other)| one != other).count()
}

/// The number right before these words of a line.
fn number(line: &str, words: &str) -> u64 {
    let (before, _) = line.split_once(words).expect(line);
    let digits = before.rsplit(|sign: char| !sign.is_ascii_digit()).next();
    digits.unwrap().parse().expect(line)
}

#[test]
fn without_a_display_the_commands_are_named() {
    // Without a command it is the window too.
    for arguments in [&["gui"][..], &[]] {
        let output = Command::new(env!("CARGO_BIN_EXE_bayesadapter"))
            .args(arguments)
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("WAYLAND_SOCKET")
            .output()
            .unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        for command in ["finetune", "evaluate", "predict", "demo", "--help"] {
            assert!(told.contains(command), "{arguments:?}: {told}");
        }
    }
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
    let of_demo = |line: &&str| line.starts_with("demo 1, ");
    let figures: Vec<&str> = said.lines().filter(of_demo).collect();
    assert_eq!(figures.len(), 2, "{said}");
    for line in figures {
        assert!(number(line, " frames, asked for") > 20, "{line}");
        assert!(number(line, " MB of memory") > 10, "{line}");
        // How fluent the window is, depends on the computer; but nowhere does it freeze.
        assert!(number(line, " ms (median)") < 2_000, "{line}");
    }

    let mut pages: Vec<(&str, RgbImage)> = Vec::new();
    for page in PAGES {
        let [light, dark] = ["", "-dark"].map(|ending| {
            let picture = picture(&folder, &format!("{page}{ending}"));
            assert_eq!(picture.dimensions(), (1280, 800));
            let inked = ink(&picture);
            assert!(inked > 8_000, "{page}{ending}: {inked} pixels");
            picture
        });
        let [bright, dim] = [&light, &dark].map(brightness);
        assert!(bright > 200.0 && dim < 80.0, "{page}: {bright} and {dim}");
        pages.push((page, light));
    }
    for page in [
        "start",
        "learning",
        "posterior-while-learning",
        "uncertainty-while-learning",
    ] {
        let inked = ink(&picture(&folder, page));
        assert!(inked > 8_000, "{page}: {inked} pixels");
    }
    for (at, (one, first)) in pages.iter().enumerate() {
        for (other, second) in &pages[..at] {
            assert!(differing(first, second) > 2_000, "{one} and {other}");
        }
    }
    let run = folder.join("runs/demo-1/pse");
    assert!(run.join("posterior.safetensors").exists());
    assert!(run.join("evaluations/pse.json").exists());
}
