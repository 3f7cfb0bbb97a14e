// Weight source: mu + exp(psi) * eps, eps being the noise of example `id`.

@group(0) @binding(3) var<storage, read_write> mu: array<f32>;
@group(0) @binding(4) var<storage, read_write> psi: array<f32>;

fn load_source() {
    load_noise_key();
}

// Elements (row, col .. col + 4). Those past the end of the row are wrong and to be masked.
fn weight4(id: u32, row: u32, col: u32) -> vec4<f32> {
    let start = row * COLS;
    let at = min(vec4<u32>(col, col + 1u, col + 2u, col + 3u), vec4<u32>(COLS - 1u)) + start;
    let mean = vec4<f32>(mu[at.x], mu[at.y], mu[at.z], mu[at.w]);
    let spread = exp(vec4<f32>(psi[at.x], psi[at.y], psi[at.z], psi[at.w]));
    return mean + spread * noise4(id, start + col);
}
