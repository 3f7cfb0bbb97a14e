//! The same layers in PyTorch, when Python can import it.

use crate::{
    shapes::{Pass, Shape},
    table::{Row, Table},
};
use bayesadapter_shaders::Map;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{ChildStdout, Command, Stdio};

pub const DEVICE: &str = "torch cpu";

#[derive(Deserialize)]
struct Line {
    shape: String,
    source: String,
    pass: String,
    milliseconds: f64,
}

pub fn available() -> bool {
    Command::new("python3")
        .args(["-c", "import torch"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Adds the rows of `peer_torch.py`, run with as many threads as we use ourselves. Where it fails, its rows end
/// and the measurement goes on.
pub fn measure(table: &mut Table, shapes: &[Shape], threads: usize, seconds: f64) {
    if let Err(error) = rows(table, shapes, threads, seconds) {
        println!("peer_torch.py failed: {error}; PyTorch's further rows and ratios are left out");
    }
}

fn rows(table: &mut Table, shapes: &[Shape], threads: usize, seconds: f64) -> io::Result<()> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peer_torch.py");
    let mut child = Command::new("python3")
        .args([script, &threads.to_string(), &seconds.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let layers: Value = shapes.iter().map(layer).collect();
    let mut stdin = child.stdin.take().expect("a pipe was asked for");
    // A script that is no more has a status, which says more than a broken pipe.
    let _ = stdin.write_all(layers.to_string().as_bytes());
    drop(stdin);
    let stdout = child.stdout.take().expect("a pipe was asked for");
    let read = read(table, shapes, stdout);
    let status = child.wait()?;
    match status.success() {
        true => read,
        false => Err(io::Error::other(status.to_string())),
    }
}

fn read(table: &mut Table, shapes: &[Shape], stdout: ChildStdout) -> io::Result<()> {
    for line in BufReader::new(stdout).lines() {
        let line: Line = serde_json::from_str(&line?)?;
        println!(
            "torch {} {} {}: {:.3} ms",
            line.source, line.shape, line.pass, line.milliseconds
        );
        table.rows.extend(row(&line, shapes));
    }
    Ok(())
}

fn row(line: &Line, shapes: &[Shape]) -> Option<Row> {
    let shape = shapes.iter().find(|shape| shape.name == line.shape)?;
    let pass = Pass::ALL
        .into_iter()
        .find(|pass| pass.name() == line.pass)?;
    let source = ["shared", "gaussian"]
        .into_iter()
        .find(|source| *source == line.source)?;
    Some(Row::timed(
        shape.op(),
        source,
        DEVICE,
        shape,
        pass,
        line.milliseconds,
    ))
}

/// One layer as the script reads it.
fn layer(shape: &Shape) -> Value {
    let (op, x, padding, groups) = match shape.map {
        Map::Matmul(m) => ("matmul", vec![m.batch, m.inputs], 0, 1),
        Map::Conv2d(c) => ("conv2d", shape.map.x_shape(), c.padding.top, c.groups),
    };
    json!({
        "shape": shape.name,
        "op": op,
        "batch": shape.map.batch(),
        "x": x,
        "weight": shape.map.weight_shape(),
        "padding": padding,
        "groups": groups,
    })
}
