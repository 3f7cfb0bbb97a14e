// Weight source: `weights[id]` of given weights, RUN neighbours at a time.

@group(0) @binding(3) var<storage, read_write> weights: array<f32>;

fn load_source() {}

// Elements (row, col .. col + RUN). Those past the end of the row are repeated and not to be used.
fn weight_run(id: u32, row: u32, col: u32) -> array<f32, RUN> {
    let start = (id * ROWS + row) * COLS;
    var run: array<f32, RUN>;
    // unroll
    for (var j = 0u; j < RUN; j += 1u) {
        run[j] = weights[start + min(col + j, COLS - 1u)];
    }
    return run;
}
