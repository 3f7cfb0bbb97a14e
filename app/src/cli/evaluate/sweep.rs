//! `--corruption all`: networks on every type and severity of CIFAR-10-C.

use super::{
    Flags,
    cells::{Cell, Condition, Row},
    images::Grid,
    network::OpenNetwork,
    summary::{self, Swept},
    table::{Key, Table},
};
use crate::cli::{BadInput, Voice, exit::INTERRUPTED, interrupt, test_pictures::Validation};
use anyhow::Result;
use bayesadapter::{
    data::Dataset,
    session::{self, Judge},
};
use burn::tensor::Device;
use std::{process::ExitCode, sync::Arc};

const SWEEPING: &str = "{bar:24} {pos}/{len} corruptions  evaluating {msg}  {eta} left";
/// How far the NLL on the same clean images may be apart, relatively: devices round in their own ways.
const SAME_NLL: f64 = 1e-3;

/// Evaluates every network on clean images and on every cell, and tells the means.
pub fn run(
    flags: &Flags,
    test: &Arc<dyn Dataset>,
    validation: &Validation,
    device: &Device,
    voice: &Voice,
) -> Result<ExitCode> {
    let mut sweep = Sweep {
        flags,
        test,
        validation,
        voice,
        grid: Grid::of(flags, voice)?,
        table: flags.out.as_deref().map(Table::open).transpose()?,
    };
    let mut networks = Vec::new();
    for file in &flags.posteriors {
        let network = OpenNetwork::open(file, flags, test.class_names(), device)?;
        match sweep.network(&network)? {
            Some(swept) => networks.push(swept),
            None => return Ok(sweep.stopped()),
        }
    }
    sweep.finish(&networks);
    Ok(ExitCode::SUCCESS)
}

struct Sweep<'a> {
    flags: &'a Flags,
    test: &'a Arc<dyn Dataset>,
    validation: &'a Validation,
    voice: &'a Voice,
    grid: Grid,
    table: Option<Table>,
}

impl Sweep<'_> {
    /// A network on all cells; nothing if the user stopped it. What the table has is not evaluated again.
    fn network(&mut self, network: &OpenNetwork<'_>) -> Result<Option<Swept>> {
        let evaluator = network.evaluator(self.flags, self.test, self.validation);
        let Some(evaluation) = network.evaluate(evaluator.clone(), self.voice)? else {
            return Ok(None);
        };
        let (key, clean) = (Key::of(&evaluation), Row::all_of(&evaluation));
        self.keep_clean(network, &key, &clean)?;
        let evaluator = Judge {
            // Fitted on clean images, once: nobody knows the corruption that is to come.
            calibration: evaluation.calibrated.map(|one| one.calibration),
            validation: None,
            ..evaluator
        };
        let temperature = clean.iter().find_map(|row| row.temperature);
        let (mut cells, mut left) = (Vec::new(), Vec::new());
        for (corruption, severity) in self.grid.cells() {
            let condition = Condition::Corrupted(corruption, severity);
            let table = self.table.as_ref();
            match table.and_then(|table| table.rows(&key, condition, temperature)) {
                Some(rows) => {
                    let cell = Cell { condition, rows };
                    self.tell_cell(network, &key, &cell, true);
                    cells.push(cell);
                }
                None => left.push((corruption, severity)),
            }
        }
        if let (Some(table), false) = (&self.table, cells.is_empty()) {
            self.voice.say(format_args!(
                "{} of {} corruptions are read from {}",
                cells.len(),
                cells.len() + left.len(),
                table.path().display()
            ));
        }
        let bar = self.voice.bar(left.len() as u64, SWEEPING);
        // One connection for all cells: a command to stop that comes at the end of one holds for the next.
        let (control, port) = session::connect();
        let _interrupt = interrupt::stops(&control);
        for (corruption, severity) in left {
            let condition = Condition::Corrupted(corruption, severity);
            bar.set_message(format!("{} on {condition}", network.label));
            let evaluator = Judge {
                test: self.grid.images(self.test, (corruption, severity))?,
                ..evaluator.clone()
            };
            let evaluated = network.evaluate_quietly(&evaluator, &port)?;
            // Broken images were told of with the clean ones, and that the accuracy is far below that on the
            // validation set is what a corruption does.
            drop(control.events());
            let Some(evaluation) = evaluated else {
                bar.finish_and_clear();
                return Ok(None);
            };
            let rows = Row::all_of(&evaluation);
            if let Some(table) = &mut self.table {
                let names = (network.file, network.label.as_str());
                table.append(names, &key, condition, &rows)?;
            }
            let cell = Cell { condition, rows };
            self.tell_cell(network, &key, &cell, false);
            cells.push(cell);
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(Some(Swept {
            label: network.label.clone(),
            clean,
            cells,
        }))
    }

    /// Puts the scores on clean images into the table, and refuses a table in which they are others: it is of other
    /// images, so that its cells are of no use here.
    fn keep_clean(&mut self, network: &OpenNetwork<'_>, key: &Key, clean: &[Row]) -> Result<()> {
        let (Some(table), Some(plain)) = (&mut self.table, clean.first()) else {
            return Ok(());
        };
        let kept = table.rows(key, Condition::Clean, None);
        if let Some(before) = kept.as_deref().and_then(<[Row]>::first) {
            let (before, now) = (before.metrics.nll, plain.metrics.nll);
            if (before - now).abs() > SAME_NLL * before.abs().max(now.abs()) {
                return Err(BadInput(format!(
                    "{} is of other images: there the NLL of {} on {} clean images is {before:.4}, and here it is \
                     {now:.4}. Choose another folder with --out",
                    table.path().display(),
                    network.file.display(),
                    key.images
                ))
                .into());
            }
        }
        let temperature = clean.iter().find_map(|row| row.temperature);
        if table.rows(key, Condition::Clean, temperature).is_none() {
            let names = (network.file, network.label.as_str());
            table.append(names, key, Condition::Clean, clean)?;
        }
        Ok(())
    }

    fn tell_cell(&self, network: &OpenNetwork<'_>, key: &Key, cell: &Cell, from_file: bool) {
        self.voice.json(&serde_json::json!({
            "event": "corruption",
            "file": network.file,
            "method": network.label,
            "draws": key.draws,
            "images": key.images,
            "corruption": cell.condition.name(),
            "severity": cell.condition.severity(),
            "from_file": from_file,
            "rows": cell.rows,
        }));
    }

    fn stopped(&self) -> ExitCode {
        let file = self.table.as_ref().map(Table::path);
        if let Some(file) = file {
            self.voice.say(format_args!(
                "Stopped. What is finished is in {}; the same command goes on from there",
                file.display()
            ));
        }
        let event = serde_json::json!({ "event": "stopped", "corruptions": file });
        self.voice.json(&event);
        ExitCode::from(INTERRUPTED)
    }

    fn finish(&self, networks: &[Swept]) {
        let Grid {
            types, severities, ..
        } = &self.grid;
        let rows = summary::summary(networks, severities);
        let levels = match severities[..] {
            [severity] => format!("severity {severity}"),
            _ => format!("{} severities", severities.len()),
        };
        let (types, images) = (types.len(), self.test.len());
        let size = format!("{types} types x {levels} x {images} images");
        summary::tell(&rows, &size, self.voice);
        let file = self.table.as_ref().map(Table::path);
        if let Some(file) = file {
            self.voice
                .say(format_args!("Corruptions: {}", file.display()));
        }
        self.voice.json(&serde_json::json!({
            "event": "corruptions",
            "types": types,
            "severities": severities,
            "images": images,
            "networks": rows,
            "file": file,
        }));
    }
}
