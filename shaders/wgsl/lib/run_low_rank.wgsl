// Weight source: shared * (l r) of component `id`, RUN neighbours at a time.

@group(0) @binding(3) var<storage, read_write> shared_weight: array<f32>;
@group(0) @binding(4) var<storage, read_write> left: array<f32>;
@group(0) @binding(5) var<storage, read_write> right: array<f32>;

fn load_source() {}

// Elements (row, col .. col + RUN). Those past the end of the row are repeated and not to be used.
fn weight_run(id: u32, row: u32, col: u32) -> array<f32, RUN> {
    var run: array<f32, RUN>;
    for (var q = 0u; q < RANK; q += 1u) {
        let r = right[(id * RANK + q) * FAN_OUT + row];
        // unroll
        for (var j = 0u; j < RUN; j += 1u) {
            run[j] += r * left[(id * FAN_IN + min(col + j, COLS - 1u)) * RANK + q];
        }
    }
    // unroll
    for (var j = 0u; j < RUN; j += 1u) {
        run[j] *= shared_weight[row * COLS + min(col + j, COLS - 1u)];
    }
    return run;
}
