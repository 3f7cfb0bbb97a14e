//! The same layers in PyTorch, when Python can import it.

use crate::{
    shapes::{Pass, Shape},
    table::{Row, Table},
};
use bayesadapter_shaders::Map;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

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

/// Adds the rows of `peer_torch.py`, run with as many threads as we use ourselves.
pub fn measure(table: &mut Table, shapes: &[Shape], threads: usize, seconds: f64) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peer_torch.py");
    let mut child = Command::new("python3")
        .args([script, &threads.to_string(), &seconds.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 was there a moment ago");
    let layers: Value = shapes.iter().map(layer).collect();
    let mut stdin = child.stdin.take().expect("a pipe was asked for");
    stdin
        .write_all(layers.to_string().as_bytes())
        .expect("the script reads its input");
    drop(stdin);
    let stdout = child.stdout.take().expect("a pipe was asked for");
    for line in BufReader::new(stdout).lines() {
        let line: Line =
            serde_json::from_str(&line.expect("text")).expect("the script prints JSON");
        println!(
            "torch {} {} {}: {:.3} ms",
            line.source, line.shape, line.pass, line.milliseconds
        );
        table.rows.extend(row(&line, shapes));
    }
    let status = child.wait().expect("the script ends");
    assert!(status.success(), "peer_torch.py failed: {status}");
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
