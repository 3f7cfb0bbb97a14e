// Weight source: mu + exp(psi) * eps, eps being the noise of example `id`.

@group(0) @binding(3) var<storage, read_write> mu: array<f32>;
@group(0) @binding(4) var<storage, read_write> psi: array<f32>;

fn load_source() {
    load_noise_key();
}

// What all examples have in common.
struct Base {
    mean: vec4<f32>,
    spread: vec4<f32>,
}

fn base4(row: u32, col: u32) -> Base {
    let four = vec4<u32>(col, col + 1u, col + 2u, col + 3u);
    let at = row * COLS + min(four, vec4<u32>(COLS - 1u));
    return Base(
        vec4<f32>(mu[at.x], mu[at.y], mu[at.z], mu[at.w]),
        exp(vec4<f32>(psi[at.x], psi[at.y], psi[at.z], psi[at.w])),
    );
}

// Elements (row, col .. col + 4). Those past the end of the row are wrong and to be masked.
fn weight4(base: Base, id: u32, row: u32, col: u32) -> vec4<f32> {
    return base.mean + base.spread * noise4(id, row * COLS + col);
}
