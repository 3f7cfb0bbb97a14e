// Weight source: `weights[id]` of given weights whose rows are whole vectors.

@group(0) @binding(3) var<storage, read_write> weights: array<vec4<f32>>;

fn load_source() {}

// Given weights have nothing in common.
alias Base = u32;

fn base4(row: u32, col: u32) -> Base {
    return 0u;
}

// Elements (row, col .. col + 4), col divisible by four.
fn weight4(base: Base, id: u32, row: u32, col: u32) -> vec4<f32> {
    return weights[((id * ROWS + row) * COLS + min(col, COLS - 4u)) / 4u];
}
