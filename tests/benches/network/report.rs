//! Rows of seconds and ratios.

use bayesadapter_tests::target_directory;
use serde::Serialize;
use std::{collections::BTreeMap, fs};

/// One measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    pub ratios: BTreeMap<&'static str, f64>,
}

/// All rows of a run.
#[derive(Default)]
pub struct Report {
    rows: Vec<Row>,
}

impl Report {
    /// Adds the time of one call.
    pub fn time(&mut self, what: impl Into<String>, seconds: f64) {
        let what = what.into();
        println!("{what:<44}{seconds:>9.3} s");
        self.rows.push(Row {
            what,
            seconds: Some(seconds),
            ratios: BTreeMap::new(),
        });
    }

    /// Adds a row of other figures.
    pub fn figures(&mut self, what: impl Into<String>, figures: &[(&'static str, f64)]) {
        let what = what.into();
        self.rows.push(Row {
            what,
            seconds: None,
            ratios: figures.iter().copied().collect(),
        });
    }

    /// Adds `name = seconds(what) / seconds(of)` to a row, if both were measured.
    pub fn compare(&mut self, what: &str, name: &'static str, of: &str) {
        let seconds = |rows: &[Row], what: &str| {
            let row = rows.iter().find(|row| row.what == what);
            row.and_then(|row| row.seconds)
        };
        let Some(base) = seconds(&self.rows, of) else {
            return;
        };
        if let Some(row) = self.rows.iter_mut().find(|row| row.what == what)
            && let Some(seconds) = row.seconds
        {
            row.ratios.insert(name, seconds / base);
        }
    }

    /// Prints the table and writes it.
    pub fn finish(self, name: &str) {
        println!("\n{:<44}{:>9}  ratios", "what", "seconds");
        for row in &self.rows {
            let seconds = row
                .seconds
                .map_or(String::new(), |seconds| format!("{seconds:.3}"));
            let ratios = row.ratios.iter();
            let ratios: Vec<String> = ratios.map(|(name, of)| format!("{name} {of:.2}")).collect();
            println!("{:<44}{seconds:>9}  {}", row.what, ratios.join(", "));
        }
        let folder = target_directory().join("bench");
        fs::create_dir_all(&folder).expect("the target directory can be written to");
        let file = folder.join(format!("{name}.json"));
        let text = serde_json::to_string_pretty(&self.rows).expect("rows are plain data");
        fs::write(&file, text).expect("the target directory can be written to");
        println!("\nwrote {}", file.display());
    }
}
