// Weight source: mu + exp(psi) * eps, eps being the noise of example `id`; rows are whole vectors.

@group(0) @binding(3) var<storage, read_write> mu: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> psi: array<vec4<f32>>;

fn load_source() {
    load_noise_key();
}

// What all examples have in common.
struct Base {
    mean: vec4<f32>,
    spread: vec4<f32>,
}

fn base4(row: u32, col: u32) -> Base {
    let at = (row * COLS + min(col, COLS - 4u)) / 4u;
    return Base(mu[at], exp(psi[at]));
}

// Elements (row, col .. col + 4), col divisible by four.
fn weight4(base: Base, id: u32, row: u32, col: u32) -> vec4<f32> {
    return base.mean + base.spread * noise4(id, row * COLS + col);
}
