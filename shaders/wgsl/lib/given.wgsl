// Weight source: `weights[id]` of given weights.

@group(0) @binding(3) var<storage, read_write> weights: array<f32>;

fn load_source() {}

// Given weights have nothing in common.
alias Base = u32;

fn base4(row: u32, col: u32) -> Base {
    return 0u;
}

// Elements (row, col .. col + 4). Those past the end of the row are repeated and to be masked.
fn weight4(base: Base, id: u32, row: u32, col: u32) -> vec4<f32> {
    let start = (id * ROWS + row) * COLS;
    let at = min(vec4<u32>(col, col + 1u, col + 2u, col + 3u), vec4<u32>(COLS - 1u)) + start;
    return vec4<f32>(weights[at.x], weights[at.y], weights[at.z], weights[at.w]);
}
