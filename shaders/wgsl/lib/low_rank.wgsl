// Weight source: shared * (l r), l and r being the factors of component `id`.

@group(0) @binding(3) var<storage, read_write> shared_weight: array<f32>;
@group(0) @binding(4) var<storage, read_write> left: array<f32>;
@group(0) @binding(5) var<storage, read_write> right: array<f32>;

fn load_source() {}

// What all components have in common.
alias Base = vec4<f32>;

// (l r)[tap, output] of component `id`; a tap is a row of the matrix, an output a column.
fn factor(id: u32, row: u32, col: u32) -> f32 {
    let tap = select(col, row, MATMUL);
    let output = select(row, col, MATMUL);
    var sum = 0.0;
    for (var q = 0u; q < RANK; q += 1u) {
        sum += left[(id * FAN_IN + tap) * RANK + q] * right[(id * RANK + q) * FAN_OUT + output];
    }
    return sum;
}

// Those past the end of the row are repeated and to be masked.
fn columns4(col: u32) -> vec4<u32> {
    return min(vec4<u32>(col, col + 1u, col + 2u, col + 3u), vec4<u32>(COLS - 1u));
}

fn base4(row: u32, col: u32) -> Base {
    let at = row * COLS + columns4(col);
    return vec4<f32>(
        shared_weight[at.x], shared_weight[at.y], shared_weight[at.z], shared_weight[at.w],
    );
}

// Elements (row, col .. col + 4).
fn weight4(base: Base, id: u32, row: u32, col: u32) -> vec4<f32> {
    let at = columns4(col);
    return base * vec4<f32>(
        factor(id, row, at.x),
        factor(id, row, at.y),
        factor(id, row, at.z),
        factor(id, row, at.w),
    );
}
