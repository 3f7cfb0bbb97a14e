// Backward of the Gaussian source: the gradient of psi is exp(psi) * sum of eps_b * dw_b.

@group(0) @binding(4) var<storage, read_write> psi: array<f32>;

fn load_source() {
    load_noise_key();
}

fn unit_noise(example: u32, row: u32, col: u32) -> array<f32, RUN> {
    return noise_run(example, row * COLS + col);
}

fn spread(element: u32) -> f32 {
    return exp(psi[element]);
}
