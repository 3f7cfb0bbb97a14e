// Weight source: shared * (l r), l and r being the factors of component `id`.

@group(0) @binding(3) var<storage, read_write> shared_weight: array<f32>;
@group(0) @binding(4) var<storage, read_write> left: array<f32>;
@group(0) @binding(5) var<storage, read_write> right: array<f32>;

fn load_source() {}

// (l r)[tap, output] of component `id`; a tap is a row of the matrix, an output a column.
fn factor(id: u32, tap: u32, output: u32) -> f32 {
    var sum = 0.0;
    for (var q = 0u; q < RANK; q += 1u) {
        sum += left[(id * FAN_IN + tap) * RANK + q] * right[(id * RANK + q) * FAN_OUT + output];
    }
    return sum;
}

fn low_rank_weight(id: u32, row: u32, col: u32) -> f32 {
    let tap = select(col, row, MATMUL);
    let output = select(row, col, MATMUL);
    return shared_weight[row * COLS + col] * factor(id, tap, output);
}

// Elements (row, col .. col + 4). Those past the end of the row are repeated and to be masked.
fn weight4(id: u32, row: u32, col: u32) -> vec4<f32> {
    let at = min(vec4<u32>(col, col + 1u, col + 2u, col + 3u), vec4<u32>(COLS - 1u));
    return vec4<f32>(
        low_rank_weight(id, row, at.x),
        low_rank_weight(id, row, at.y),
        low_rank_weight(id, row, at.z),
        low_rank_weight(id, row, at.w),
    );
}
