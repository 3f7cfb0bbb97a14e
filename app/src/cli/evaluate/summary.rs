//! What a sweep comes to: means over corruptions, and their ratios to those of the first network.

use super::cells::{Cell, Metrics, Row};
use crate::cli::Voice;
use serde::Serialize;

/// A network on all cells of a sweep.
pub struct Swept {
    /// What tables call it.
    pub label: String,
    /// On clean images: without the temperature, and with it if there is one. The cells have the same rows.
    pub clean: Vec<Row>,
    /// On corrupted images.
    pub cells: Vec<Cell>,
}

/// A network in the summary, as it is or with its temperature.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryRow {
    /// Its name, with `+ T` where its temperature is applied.
    pub name: String,
    /// The temperature, where it is applied.
    pub temperature: Option<f64>,
    /// On clean images.
    pub clean: Metrics,
    /// Mean over all cells.
    pub mean: Metrics,
    /// Mean over the types, for each severity.
    pub by_severity: Vec<SeverityMean>,
    /// Relative to each row of the first network but itself.
    pub ratios: Vec<Ratio>,
}

/// The mean over all types of corruption with one severity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeverityMean {
    /// From 1 to 5.
    pub severity: u8,
    /// The mean.
    #[serde(flatten)]
    pub metrics: Metrics,
}

/// Mean NLL and mean ECE, divided by those of another row; nothing where that is 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The name of the other row.
    pub to: String,
    /// Of mean NLL.
    pub nll: Option<f64>,
    /// Of mean ECE.
    pub ece: Option<f64>,
}

/// The rows of all networks, two for those with a temperature.
pub fn summary(networks: &[Swept], severities: &[u8]) -> Vec<SummaryRow> {
    let rows_of = |network| SummaryRow::all_of(network, severities);
    let mut rows: Vec<SummaryRow> = networks.iter().flat_map(rows_of).collect();
    let of_first = networks.first().map_or(0, |network| network.clean.len());
    let references: Vec<(String, Metrics)> = rows
        .iter()
        .take(of_first)
        .map(|row| (row.name.clone(), row.mean))
        .collect();
    for (at, row) in rows.iter_mut().enumerate() {
        let others = references.iter().enumerate().filter(|&(to, _)| to != at);
        row.ratios = others
            .map(|(_, (name, reference))| Ratio {
                to: name.clone(),
                nll: ratio(row.mean.nll, reference.nll),
                ece: ratio(row.mean.ece, reference.ece),
            })
            .collect();
    }
    rows
}

fn ratio(value: f64, reference: f64) -> Option<f64> {
    (reference > 0.0).then(|| value / reference)
}

impl SummaryRow {
    fn all_of(network: &Swept, severities: &[u8]) -> Vec<Self> {
        let rows = network.clean.iter().enumerate();
        rows.filter_map(|(at, clean)| Self::of(network, at, clean, severities))
            .collect()
    }

    /// Of the row `at` of every cell; nothing if there are no cells.
    fn of(network: &Swept, at: usize, clean: &Row, severities: &[u8]) -> Option<Self> {
        let mean = |wanted: Option<u8>| {
            let cells = network.cells.iter();
            let cells =
                cells.filter(|cell| wanted.is_none_or(|one| one == cell.condition.severity()));
            let metrics = cells.filter_map(|cell| Some(cell.rows.get(at)?.metrics));
            Metrics::mean(&metrics.collect::<Vec<_>>())
        };
        let of_severity = |&severity: &u8| {
            let metrics = mean(Some(severity))?;
            Some(SeverityMean { severity, metrics })
        };
        Some(Self {
            name: match clean.temperature {
                Some(_) => format!("{} + T", network.label),
                None => network.label.clone(),
            },
            temperature: clean.temperature,
            clean: clean.metrics,
            mean: mean(None)?,
            by_severity: severities.iter().filter_map(of_severity).collect(),
            ratios: Vec::new(),
        })
    }

    fn title(&self) -> String {
        match self.temperature {
            Some(temperature) => format!("{} (T = {temperature:.2})", self.name),
            None => self.name.clone(),
        }
    }
}

/// Tells the summary to a person; `size` says over what the means are.
pub fn tell(rows: &[SummaryRow], size: &str, voice: &Voice) {
    let titles = rows.iter().map(|row| row.title().chars().count());
    let width = titles.max().unwrap_or(0).max(32);
    voice.say(format_args!(
        "\nCorruptions, {size}, mean over all of them:\n{:width$} {:>9} {:>8} {:>8} {:>8}",
        "", "accuracy", "NLL", "Brier", "ECE"
    ));
    voice.say(format_args!("{:width$} {:>9} {:>8}", "", "%", "nats"));
    for row in rows {
        let Metrics {
            accuracy,
            nll,
            brier,
            ece,
        } = row.mean;
        voice.say(format_args!(
            "{:width$} {:>9.2} {nll:>8.4} {brier:>8.4} {ece:>8.4}",
            row.title(),
            100.0 * accuracy
        ));
    }
    tell_severities("NLL", rows, width, |metrics| metrics.nll, voice);
    tell_severities("ECE", rows, width, |metrics| metrics.ece, voice);
    tell_ratios(rows, voice);
    voice.say("");
}

fn tell_severities(
    name: &str,
    rows: &[SummaryRow],
    width: usize,
    of: impl Fn(&Metrics) -> f64,
    voice: &Voice,
) {
    let Some(first) = rows.first() else {
        return;
    };
    let heads = first.by_severity.iter().map(|one| one.severity);
    let heads: String = heads.map(|severity| format!(" {severity:>8}")).collect();
    let title = format!("{name} by severity, mean over types");
    voice.say(format_args!("\n{title:width$} {:>8}{heads}", "clean"));
    for row in rows {
        let means = row.by_severity.iter().map(|one| of(&one.metrics));
        let means: String = means.map(|mean| format!(" {mean:>8.4}")).collect();
        let clean = of(&row.clean);
        voice.say(format_args!("{:width$} {clean:>8.4}{means}", row.title()));
    }
}

fn tell_ratios(rows: &[SummaryRow], voice: &Voice) {
    let bracketed = |name: &str| match name.ends_with(" + T") {
        true => format!("({name})"),
        false => name.to_owned(),
    };
    let lines: Vec<(String, &Ratio)> = rows
        .iter()
        .flat_map(|row| row.ratios.iter().map(move |ratio| (row, ratio)))
        .map(|(row, ratio)| {
            let names = format!("{} / {}", bracketed(&row.name), bracketed(&ratio.to));
            (names, ratio)
        })
        .collect();
    let widths = lines.iter().map(|(names, _)| names.chars().count());
    let Some(width) = widths.max().map(|width| width.max(32)) else {
        return;
    };
    let shown = |ratio: Option<f64>| ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.4}"));
    let title = "Ratios of the means";
    voice.say(format_args!("\n{title:width$} {:>8} {:>8}", "NLL", "ECE"));
    for (names, ratio) in lines {
        let (nll, ece) = (shown(ratio.nll), shown(ratio.ece));
        voice.say(format_args!("{names:width$} {nll:>8} {ece:>8}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::evaluate::cells::Condition;
    use bayesadapter::data::Corruption;

    fn row(temperature: Option<f64>, [accuracy, nll, brier, ece]: [f64; 4]) -> Row {
        Row {
            temperature,
            metrics: Metrics {
                accuracy,
                nll,
                brier,
                ece,
            },
        }
    }

    /// Fog and snow of two severities; each metric is the number of the cell, times a factor.
    fn network(label: &str, factors: &[(Option<f64>, f64)]) -> Swept {
        let rows = |number: f64| {
            let row = |&(temperature, factor): &(Option<f64>, f64)| {
                let metrics = [0.1, 1.0, 0.5, 0.25].map(|unit| unit * number * factor);
                row(temperature, metrics)
            };
            factors.iter().map(row).collect::<Vec<_>>()
        };
        let cell = |number: u8, corruption, severity| Cell {
            condition: Condition::Corrupted(corruption, severity),
            rows: rows(f64::from(number)),
        };
        Swept {
            label: label.to_owned(),
            clean: rows(0.5),
            cells: vec![
                cell(1, Corruption::Fog, 1),
                cell(4, Corruption::Fog, 5),
                cell(3, Corruption::Snow, 1),
                cell(8, Corruption::Snow, 5),
            ],
        }
    }

    #[test]
    fn means_are_over_cells_and_over_types() {
        let rows = summary(&[network("MAP", &[(None, 1.0)])], &[1, 5]);
        let [map] = &rows[..] else {
            panic!("one row: {rows:?}");
        };
        assert_eq!((map.name.as_str(), map.temperature), ("MAP", None));
        // (1 + 4 + 3 + 8) / 4
        let mean = row(None, [0.4, 4.0, 2.0, 1.0]).metrics;
        assert!((map.mean.accuracy - mean.accuracy).abs() < 1e-12);
        let of = |metrics: Metrics| [metrics.nll, metrics.brier, metrics.ece];
        assert_eq!(of(map.mean), of(mean));
        assert_eq!(map.clean.nll, 0.5);
        let severities = map.by_severity.iter();
        let severities: Vec<(u8, f64)> = severities
            .map(|one| (one.severity, one.metrics.nll))
            .collect();
        assert_eq!(severities, [(1, 2.0), (5, 6.0)]);
        assert!(
            map.ratios.is_empty(),
            "a network is not compared with itself"
        );
    }

    #[test]
    fn ratios_are_to_the_rows_of_the_first_network() {
        let map = network("MAP", &[(None, 1.0), (Some(1.5), 0.5)]);
        let pse = network("PSE", &[(None, 0.25), (Some(0.9), 0.125)]);
        let rows = summary(&[map, pse], &[1, 5]);
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["MAP", "MAP + T", "PSE", "PSE + T"]);
        let ratios = |at: usize| {
            let ratios = rows[at].ratios.iter();
            let each = ratios.map(|one| (one.to.as_str(), one.nll, one.ece));
            each.collect::<Vec<_>>()
        };
        let of = |to, ratio| (to, Some(ratio), Some(ratio));
        assert_eq!(ratios(0), [of("MAP + T", 2.0)]);
        assert_eq!(ratios(1), [of("MAP", 0.5)]);
        assert_eq!(ratios(2), [of("MAP", 0.25), of("MAP + T", 0.5)]);
        assert_eq!(ratios(3), [of("MAP", 0.125), of("MAP + T", 0.25)]);
        assert_eq!(rows[3].title(), "PSE + T (T = 0.90)");
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        let perfect = network("MAP", &[(None, 0.0)]);
        let rows = summary(&[perfect, network("PSE", &[(None, 1.0)])], &[1, 5]);
        assert_eq!(rows[1].ratios[0].nll, None);
        assert!(Metrics::mean(&[]).is_none());
    }
}
