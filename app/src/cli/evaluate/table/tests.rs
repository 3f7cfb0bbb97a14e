//! What is kept of a sweep is what it goes on from.

use super::*;

fn key(network: &str, draws: usize, images: usize) -> Key {
    Key {
        network: network.to_owned(),
        draws,
        images,
    }
}

fn row(temperature: Option<f64>, nll: f64) -> Row {
    Row {
        temperature,
        metrics: Metrics {
            accuracy: 2.0 / 3.0,
            nll,
            brier: 1e-300,
            ece: 0.1 + 0.2,
        },
    }
}

const FOG: Condition = Condition::Corrupted(Corruption::Fog, 2);

#[test]
fn exactly_the_finished_cells_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("new");
    let mut table = Table::open(&place).unwrap();
    let file = Path::new("runs, \"old\"/posterior.safetensors");
    let of = key("0f", 20, 1_000);
    let rows = [row(None, 0.7), row(Some(1.25), 0.6)];
    table.append((file, "PSE"), &of, FOG, &rows).unwrap();
    let clean = [row(None, 0.2)];
    table
        .append((file, "PSE"), &of, Condition::Clean, &clean)
        .unwrap();
    let again = Table::open(&place).unwrap();
    assert_eq!(again.records, table.records);
    for table in [table, again] {
        let found = |of: &Key, condition, temperature| table.rows(of, condition, temperature);
        assert_eq!(found(&of, FOG, Some(1.25)), Some(rows.to_vec()));
        assert_eq!(found(&of, FOG, Some(1.250_01)), Some(rows.to_vec()));
        assert_eq!(found(&of, FOG, None), Some(vec![rows[0]]));
        assert_eq!(found(&of, Condition::Clean, None), Some(clean.to_vec()));
        // Another temperature, severity, type, network, or number of draws or images.
        assert_eq!(found(&of, FOG, Some(1.26)), None);
        assert_eq!(found(&of, Condition::Clean, Some(1.25)), None);
        for other in [
            Condition::Corrupted(Corruption::Fog, 3),
            Condition::Corrupted(Corruption::Snow, 2),
        ] {
            assert_eq!(found(&of, other, None), None);
        }
        for other in [
            key("0e", 20, 1_000),
            key("0f", 19, 1_000),
            key("0f", 20, 999),
        ] {
            assert_eq!(found(&other, FOG, None), None);
        }
    }
}

#[test]
fn of_two_lines_for_a_cell_the_later_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = Table::open(folder.path()).unwrap();
    let of = key("0f", 1, 10);
    for nll in [0.5, 0.4] {
        let rows = [row(None, nll)];
        table
            .append((Path::new("x"), "MAP"), &of, FOG, &rows)
            .unwrap();
    }
    assert_eq!(table.rows(&of, FOG, None), Some(vec![row(None, 0.4)]));
}

#[test]
fn a_damaged_line_is_refused_with_its_number() {
    let good = "x,MAP,0f,0,10,fog,2,,0.5,0.7,0.3,0.1\n";
    let parse = |lines: &str| read(&format!("{HEADER}\n{lines}"), Path::new("sweep.csv"));
    assert!(parse("").unwrap().is_empty());
    assert_eq!(parse(good).unwrap().len(), 1);
    for (damaged, why) in [
        ("x,MAP,0f,0,10,fog,2,,0.5,0.7\n", "10 fields"),
        ("x,MAP,0f,0,10,fog,2,,0.5,0.7,0.3,0.1,9\n", "13 fields"),
        ("x,MAP\n", "2 fields"),
        ("\n", "1 fields"),
        ("\"x,MAP,0f,0,10,fog,2,,0.5,0.7,0.3,0.1\n", "quotation mark"),
        ("x,MAP,0f,-1,10,fog,2,,0.5,0.7,0.3,0.1\n", "draws is `-1`"),
        ("x,MAP,0f,0,ten,fog,2,,0.5,0.7,0.3,0.1\n", "images is `ten`"),
        ("x,MAP,0f,0,10,rain,2,,0.5,0.7,0.3,0.1\n", "`rain`"),
        ("x,MAP,0f,0,10,fog,6,,0.5,0.7,0.3,0.1\n", "severity `6`"),
        ("x,MAP,0f,0,10,none,1,,0.5,0.7,0.3,0.1\n", "`none`"),
        (
            "x,MAP,0f,0,10,fog,2,hot,0.5,0.7,0.3,0.1\n",
            "temperature is `hot`",
        ),
        ("x,MAP,0f,0,10,fog,2,,0.5,NaN,0.3,0.1\n", "nll is `NaN`"),
        // A digit of the last number may be missing too.
        ("x,MAP,0f,0,10,fog,2,,0.5,0.7,0.3,0.1", "end is missing"),
    ] {
        let error = parse(&format!("{good}{damaged}")).unwrap_err().to_string();
        assert!(
            error.starts_with("line 3 of sweep.csv is damaged") && error.contains(why),
            "{damaged}: {error}"
        );
    }
    let other = read("step,loss\n", Path::new("sweep.csv")).unwrap_err();
    assert!(other.to_string().contains("--out"), "{other}");
}
