// Weight source: mu + exp(psi) * eps, eps being the noise of example `id`; rows are whole vectors.

@group(0) @binding(3) var<storage, read_write> mu: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> psi: array<vec4<f32>>;

fn load_source() {
    load_noise_key();
}

// Elements (row, col .. col + 4), col divisible by four.
fn weight4(id: u32, row: u32, col: u32) -> vec4<f32> {
    let element = row * COLS + min(col, COLS - 4u);
    return mu[element / 4u] + exp(psi[element / 4u]) * noise4(id, element);
}
