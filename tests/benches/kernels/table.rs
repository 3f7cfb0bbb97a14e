//! Rows, their ratios, the printed table and the JSON file.

use crate::shapes::{Pass, Shape, SourceKind};
use serde::Serialize;
use std::{collections::BTreeMap, fs, io, path::Path};

/// One measurement. Ratios above 1 mean that ours is faster than what the ratio names.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub op: &'static str,
    pub source: &'static str,
    pub device: &'static str,
    pub shape: String,
    pub pass: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gflops: Option<f64>,
    pub ratios: BTreeMap<&'static str, f64>,
}

impl Row {
    pub fn timed(
        op: &'static str,
        source: &'static str,
        device: &'static str,
        shape: &Shape,
        pass: Pass,
        milliseconds: f64,
    ) -> Self {
        Self {
            op,
            source,
            device,
            shape: shape.name.clone(),
            pass: pass.name(),
            milliseconds: Some(milliseconds),
            gflops: Some(pass.flop(&shape.map) / milliseconds / 1e6),
            ratios: BTreeMap::new(),
        }
    }

    /// A row of figures other than time.
    pub fn figures(
        op: &'static str,
        source: &'static str,
        device: &'static str,
        shape: String,
        ratios: impl IntoIterator<Item = (&'static str, f64)>,
    ) -> Self {
        Self {
            op,
            source,
            device,
            shape,
            pass: "",
            milliseconds: None,
            gflops: None,
            ratios: ratios.into_iter().collect(),
        }
    }

    fn print(&self) {
        let number =
            |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.2}"));
        let ratios: Vec<String> = self
            .ratios
            .iter()
            .map(|(name, value)| format!("{name} {value:.2}"))
            .collect();
        println!(
            "{:<16} {:<9} {:<12} {:<31} {:<17} {:>9} {:>8}  {}",
            self.op,
            self.source,
            self.device,
            self.shape,
            self.pass,
            number(self.milliseconds),
            number(self.gflops),
            ratios.join(", ")
        );
    }
}

/// All rows of a run.
#[derive(Default)]
pub struct Table {
    pub rows: Vec<Row>,
}

impl Table {
    /// Milliseconds of one row, where it was measured.
    pub fn milliseconds(&self, device: &str, source: &str, shape: &str, pass: &str) -> Option<f64> {
        self.rows
            .iter()
            .find(|row| {
                row.device == device
                    && row.source == source
                    && row.shape == shape
                    && row.pass == pass
            })
            .and_then(|row| row.milliseconds)
    }

    /// Adds `name = milliseconds(peer) / milliseconds(row)` to the rows of `device` with one of `sources`.
    pub fn compare(
        &mut self,
        name: &'static str,
        device: &str,
        sources: &[SourceKind],
        [peer_device, peer_source]: [&str; 2],
    ) {
        for at in 0..self.rows.len() {
            let row = &self.rows[at];
            if row.device != device || !sources.iter().any(|source| source.name() == row.source) {
                continue;
            }
            let peer = self.milliseconds(peer_device, peer_source, &row.shape, row.pass);
            if let (Some(peer), Some(ours)) = (peer, row.milliseconds) {
                self.rows[at].ratios.insert(name, peer / ours);
            }
        }
    }

    /// One ratio of the forward + backward rows of a source, over the shapes that `keep` names.
    pub fn ratios(
        &self,
        name: &str,
        device: &str,
        source: SourceKind,
        keep: impl Fn(&str) -> bool,
    ) -> Vec<f64> {
        let pass = Pass::ForwardBackward.name();
        self.rows
            .iter()
            .filter(|row| row.device == device && row.source == source.name() && row.pass == pass)
            .filter(|row| keep(&row.shape))
            .filter_map(|row| row.ratios.get(name).copied())
            .collect()
    }

    pub fn print(&self) {
        println!(
            "\n{:<16} {:<9} {:<12} {:<31} {:<17} {:>9} {:>8}  ratios",
            "op", "source", "device", "shape", "pass", "ms", "GFLOP/s"
        );
        self.rows.iter().for_each(Row::print);
    }

    pub fn write(&self, file: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(&self.rows)?;
        fs::create_dir_all(file.parent().expect("a file in a directory"))?;
        fs::write(file, text)
    }
}

/// `None` for no values.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}
