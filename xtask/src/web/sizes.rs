//! What a visitor downloads.

use anyhow::{Context, Result};
use flate2::{Compression, write::GzEncoder};
use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

/// Leaves the sizes of the files for the page's progress bar: of a compressed download the browser knows another.
pub fn write(page: &Path) -> Result<()> {
    let mut sizes = BTreeMap::new();
    for file in files(page)? {
        sizes.insert(name_in(page, &file), fs::metadata(&file)?.len());
    }
    let text = serde_json::to_string(&sizes)?;
    fs::write(page.join("sizes.json"), text).context("cannot write sizes.json")
}

/// Prints each file, and what remains of it when the server compresses. Returns the compressed total.
pub fn print(page: &Path) -> Result<usize> {
    println!("\n{:<60}{:>12}{:>12}", page.display(), "kB", "kB gzipped");
    let (mut raw_total, mut gzipped_total) = (0, 0);
    for file in files(page)? {
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        raw_total += bytes.len();
        gzipped_total += print_one(&name_in(page, &file), &bytes)?;
    }
    println!("  {:<58}{}", "total", columns(raw_total, gzipped_total));
    Ok(gzipped_total)
}

/// Prints one file, and returns what remains of it.
pub fn print_one(name: &str, bytes: &[u8]) -> Result<usize> {
    let gzipped = gzipped_len(bytes)?;
    println!("  {name:<58}{}", columns(bytes.len(), gzipped));
    Ok(gzipped)
}

fn name_in(page: &Path, file: &Path) -> String {
    let name = file.strip_prefix(page).unwrap_or(file);
    name.display().to_string().replace('\\', "/")
}

/// All files below a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => found.extend(files(&path)?),
            false => found.push(path),
        }
    }
    found.sort();
    Ok(found)
}

fn columns(raw: usize, gzipped: usize) -> String {
    let kilo = |bytes: usize| bytes as f64 / 1000.0;
    format!("{:>12.1}{:>12.1}", kilo(raw), kilo(gzipped))
}

fn gzipped_len(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}
