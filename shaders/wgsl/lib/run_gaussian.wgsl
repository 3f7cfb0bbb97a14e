// Weight source: mu + exp(psi) * eps of example `id`, RUN neighbours at a time.

@group(0) @binding(3) var<storage, read_write> mu: array<f32>;
@group(0) @binding(4) var<storage, read_write> psi: array<f32>;

fn load_source() {
    load_noise_key();
}

// Elements (row, col .. col + RUN). Those past the end of the row are wrong and not to be used.
fn weight_run(id: u32, row: u32, col: u32) -> array<f32, RUN> {
    var run = noise_run(id, row * COLS + col);
    // unroll
    for (var j = 0u; j < RUN; j += 1u) {
        let element = row * COLS + min(col + j, COLS - 1u);
        run[j] = mu[element] + exp(psi[element]) * run[j];
    }
    return run;
}
