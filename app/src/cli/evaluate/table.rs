//! `corruptions.csv`: the finished cells of a sweep, from which it goes on after an interruption.

use super::cells::{Condition, Metrics, Row};
use crate::{cli::BadInput, error::unwritable};
use anyhow::Result;
use bayesadapter::{data::Corruption, evaluate::Evaluation, file::write_atomically};
use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

/// The name of the file in the folder of `--out`.
const FILE: &str = "corruptions.csv";
const HEADER: &str = "network_file,method,network_checksum,draws,images,corruption,severity,temperature,accuracy,nll,\
                      brier,ece";
/// How far two fits of one temperature may be apart, relatively: devices round in their own ways.
const SAME_TEMPERATURE: f64 = 1e-4;

/// Which cells belong together: those of the same weights, with as many draws, on as many images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Checksum of the network.
    pub network: String,
    /// Draws that predictions average over.
    pub draws: usize,
    /// Images that were evaluated.
    pub images: usize,
}

impl Key {
    /// That of the network and the images of an evaluation.
    pub fn of(evaluation: &Evaluation) -> Self {
        Self {
            network: evaluation.network.clone(),
            draws: evaluation.draws,
            images: evaluation.scores.examples,
        }
    }
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq)]
struct Record {
    file: String,
    method: String,
    key: Key,
    condition: Condition,
    row: Row,
}

/// The file, as it was read and as it grew since.
pub struct Table {
    path: PathBuf,
    records: Vec<Record>,
}

impl Table {
    /// Opens the table in a folder; both are made if they are not there.
    pub fn open(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).map_err(unwritable(folder))?;
        let path = folder.join(FILE);
        let records = match fs::read_to_string(&path) {
            Ok(text) => read(&text, &path)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // At once: a place that cannot be written is told of before anything is computed.
                write_atomically(&path, format!("{HEADER}\n").as_bytes())?;
                Vec::new()
            }
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                let text = format!("{} is no text, and so no table of a sweep", path.display());
                return Err(BadInput(text).into());
            }
            Err(error) => return Err(unwritable(&path)(error).into()),
        };
        Ok(Self { path, records })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The rows of a finished cell: that without a temperature and, if there is a temperature, that with it. Nothing
    /// unless all of them are there.
    pub fn rows(
        &self,
        key: &Key,
        condition: Condition,
        temperature: Option<f64>,
    ) -> Option<Vec<Row>> {
        // Of lines for the same cell the last one counts.
        let mut of_cell = self
            .records
            .iter()
            .rev()
            .filter(|record| record.key == *key && record.condition == condition)
            .map(|record| record.row);
        let plain = of_cell.clone().find(|row| row.temperature.is_none())?;
        let Some(wanted) = temperature else {
            return Some(vec![plain]);
        };
        let same = |found: f64| (found - wanted).abs() <= SAME_TEMPERATURE * wanted.abs();
        let tempered = of_cell.find(|row| row.temperature.is_some_and(same))?;
        Some(vec![plain, tempered])
    }

    /// Writes a finished cell to the end of the file.
    pub fn append(
        &mut self,
        (file, method): (&Path, &str),
        key: &Key,
        condition: Condition,
        rows: &[Row],
    ) -> Result<()> {
        let records = rows.iter().map(|&row| Record {
            file: file.display().to_string(),
            method: method.to_owned(),
            key: key.clone(),
            condition,
            row,
        });
        let records: Vec<Record> = records.collect();
        let lines: String = records.iter().map(Record::line).collect();
        let append = || -> io::Result<()> {
            let mut file = OpenOptions::new().append(true).open(&self.path)?;
            // In one piece, so that a program that is ended leaves whole lines.
            file.write_all(lines.as_bytes())?;
            file.sync_data()
        };
        append().map_err(unwritable(&self.path))?;
        self.records.extend(records);
        Ok(())
    }
}

/// The lines of a file.
fn read(text: &str, path: &Path) -> Result<Vec<Record>, BadInput> {
    let refused = |number: usize, why: &str| {
        BadInput(format!(
            "line {number} of {} is damaged: {why}. Remove the line, and its cell is evaluated again",
            path.display()
        ))
    };
    let mut lines = (1..).zip(text.lines());
    if lines.next().is_none_or(|(_, first)| first != HEADER) {
        return Err(BadInput(format!(
            "{} does not begin like a table of a sweep, with {HEADER}; choose another folder with --out",
            path.display()
        )));
    }
    // Its last number may have lost digits.
    if !text.ends_with('\n') {
        return Err(refused(text.lines().count(), "its end is missing"));
    }
    lines
        .map(|(number, line)| Record::read(line).map_err(|why| refused(number, &why)))
        .collect()
}

impl Record {
    /// The line, with its end.
    fn line(&self) -> String {
        let Key {
            network,
            draws,
            images,
        } = &self.key;
        let temperature = self.row.temperature.map(|value| value.to_string());
        let temperature = temperature.unwrap_or_default();
        let Metrics {
            accuracy,
            nll,
            brier,
            ece,
        } = self.row.metrics;
        // Numbers are written with as many digits as it takes to read the same ones again.
        format!(
            "{},{},{network},{draws},{images},{},{},{temperature},{accuracy},{nll},{brier},{ece}\n",
            quoted(&self.file),
            quoted(&self.method),
            self.condition.name(),
            self.condition.severity()
        )
    }

    /// Of a line without its end; an error is what is wrong with it.
    fn read(line: &str) -> Result<Self, String> {
        let fields = fields(line).ok_or("a quotation mark is missing")?;
        let wrong = |fields: Vec<String>| format!("it has {} fields instead of 12", fields.len());
        let fields: [String; 12] = fields.try_into().map_err(wrong)?;
        let [
            file,
            method,
            network,
            draws,
            images,
            corruption,
            severity,
            rest @ ..,
        ] = fields;
        let [temperature, accuracy, nll, brier, ece] = rest;
        let number = |what: &str, text: &str| {
            let number = text.parse::<f64>().ok();
            let number = number.filter(|value| value.is_finite());
            number.ok_or_else(|| format!("{what} is `{text}`, which is no number"))
        };
        let count = |what: &str, text: &str| {
            let count = text.parse::<usize>();
            count.map_err(|_| format!("{what} is `{text}`, which is no number of them"))
        };
        let temperature = match temperature.as_str() {
            "" => None,
            text => Some(number("temperature", text)?),
        };
        Ok(Self {
            file,
            method,
            key: Key {
                network,
                draws: count("draws", &draws)?,
                images: count("images", &images)?,
            },
            condition: condition(&corruption, &severity)?,
            row: Row {
                temperature,
                metrics: Metrics {
                    accuracy: number("accuracy", &accuracy)?,
                    nll: number("nll", &nll)?,
                    brier: number("brier", &brier)?,
                    ece: number("ece", &ece)?,
                },
            },
        })
    }
}

fn condition(corruption: &str, severity: &str) -> Result<Condition, String> {
    match (corruption, severity.parse::<u8>()) {
        ("none", Ok(0)) => Ok(Condition::Clean),
        (name, Ok(severity @ 1..=5)) => match name.parse::<Corruption>() {
            Ok(corruption) => Ok(Condition::Corrupted(corruption, severity)),
            Err(_) => Err(format!("`{name}` is no corruption")),
        },
        _ => Err(format!(
            "{corruption} has no severity `{severity}`; 1 to 5 are known"
        )),
    }
}

/// A field that may hold commas. Line breaks would end the line.
fn quoted(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

/// The fields of a line; nothing if a quotation mark is left open.
fn fields(line: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let (mut field, mut open) = (String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            // Two of them stand for one.
            '"' if open && letters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => open = !open,
            ',' if !open => fields.push(std::mem::take(&mut field)),
            letter => field.push(letter),
        }
    }
    fields.push(field);
    (!open).then_some(fields)
}

#[cfg(test)]
mod tests;
