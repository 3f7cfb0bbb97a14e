// Gradient of the weight per segment, a sum over the positions of its examples. Rows and columns
// are those of the weight as it lies in memory, so that the noise of a register tile is contiguous.
//
// parts: [segments][gradient, and with noise the gradient of psi][REGION]. With noise (GAUSSIAN)
// every example is a unit of its own, for its sum has to meet its own noise.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad: array<f32>;
@group(0) @binding(3) var<storage, read_write> parts: array<f32>;

const GROUP_ROWS = ROWS / GROUPS;
const ROW_TILES = (GROUP_ROWS + MT - 1u) / MT;
const COL_TILES = (COLS + SLOT - 1u) / SLOT;

var<workgroup> shared_segment: Segment;

struct Unit {
    first: u32,
    length: u32,
}

fn grad_value(example: u32, channel: u32, position: u32) -> f32 {
    return grad[example * Y_EXAMPLE + channel * Y_CHANNEL + position * Y_POSITION];
}

fn row_value(unit: Unit, group: u32, row: u32, q: u32) -> f32 {
    let kept_q = min(q, unit.length - 1u);
    let kept_row = min(row, GROUP_ROWS - 1u);
    let example = example_at(unit.first + kept_q / P);
    var value: f32;
    if (MATMUL) {
        value = x_at(example, kept_row, 0u, kept_q % P);
    } else {
        value = grad_value(example, group * M + kept_row, kept_q % P);
    }
    return select(0.0, value, q < unit.length && row < GROUP_ROWS);
}

fn col_value(unit: Unit, group: u32, col: u32, q: u32) -> f32 {
    let kept_q = min(q, unit.length - 1u);
    let kept_col = min(col, COLS - 1u);
    let example = example_at(unit.first + kept_q / P);
    var value: f32;
    if (MATMUL) {
        value = grad_value(example, kept_col, kept_q % P);
    } else {
        value = x_at(example, group * I + kept_col / TAPS, kept_col % TAPS, kept_q % P);
    }
    return select(0.0, value, q < unit.length && col < COLS);
}

fn stage(unit: Unit, group: u32, row0: u32, col0: u32, q0: u32, local: u32) {
    // Neighbouring invocations read neighbouring addresses: channels of a matrix, pixels of an image.
    for (var t = local; t < KC * MT4; t += THREADS) {
        let k = select(t % KC, t / MT4, MATMUL);
        let r4 = select(t / KC, t % MT4, MATMUL);
        let row = row0 + 4u * r4;
        a_tile[k * MT4 + r4] = vec4<f32>(
            row_value(unit, group, row, q0 + k),
            row_value(unit, group, row + 1u, q0 + k),
            row_value(unit, group, row + 2u, q0 + k),
            row_value(unit, group, row + 3u, q0 + k),
        );
    }
    for (var t = local; t < KC * NT4; t += THREADS) {
        let k = select(t % KC, t / NT4, MATMUL);
        let c4 = select(t / KC, t % NT4, MATMUL);
        let col = col0 + 4u * c4;
        b_tile[k * NT4 + c4] = vec4<f32>(
            col_value(unit, group, col, q0 + k),
            col_value(unit, group, col + 1u, q0 + k),
            col_value(unit, group, col + 2u, q0 + k),
            col_value(unit, group, col + 3u, q0 + k),
        );
    }
}

fn store(part: u32, row: u32, col: u32, mean: vec4<f32>, noisy: vec4<f32>) {
    for (var j = 0u; j < 4u; j += 1u) {
        if (col + j < COLS) {
            let element = row * COLS + col + j;
            parts[part * REGIONS * REGION + element] = mean[j];
            if (GAUSSIAN) {
                parts[(part * REGIONS + 1u) * REGION + element] = noisy[j] * spread(element);
            }
        }
    }
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let linear = workgroup.y * workgroups.x + workgroup.x;
    let part = linear / (ROW_TILES * COL_TILES * GROUPS);
    if (local == 0u) {
        shared_segment = segment_at(part);
    }
    let segment = workgroupUniformLoad(&shared_segment);
    if (!segment.exists) {
        return;
    }
    load_source();
    let group = linear / (ROW_TILES * COL_TILES) % GROUPS;
    let row0 = linear / COL_TILES % ROW_TILES * MT;
    let col0 = linear % COL_TILES * SLOT;
    let own_row0 = row0 + own_row(local);
    let own_col0 = col0 + own_column(local);
    let units = select(1u, segment.examples, GAUSSIAN);
    var sum = Tile();
    var mean = Tile();
    var noisy = Tile();
    for (var u = 0u; u < units; u += 1u) {
        let unit = Unit(segment.first + u, select(segment.examples * P, P, GAUSSIAN));
        for (var q0 = 0u; q0 < unit.length; q0 += KC) {
            stage(unit, group, row0, col0, q0, local);
            workgroupBarrier();
            tile_add_chunk(&sum, local);
            workgroupBarrier();
        }
        if (GAUSSIAN) {
            let example = example_at(unit.first);
            for (var i = 0u; i < TM; i += 1u) {
                let row = group * GROUP_ROWS + own_row0 + i;
                for (var j = 0u; j < TN4; j += 1u) {
                    let at = i * TN4 + j;
                    noisy.v[at] += sum.v[at] * unit_noise(example, row, own_col0 + 4u * j);
                    mean.v[at] += sum.v[at];
                    sum.v[at] = vec4<f32>(0.0);
                }
            }
        } else {
            mean = sum;
        }
    }
    for (var i = 0u; i < TM; i += 1u) {
        let row = own_row0 + i;
        for (var j = 0u; j < TN4; j += 1u) {
            if (row < GROUP_ROWS) {
                let at = i * TN4 + j;
                store(part, group * GROUP_ROWS + row, own_col0 + 4u * j, mean.v[at], noisy.v[at]);
            }
        }
    }
}
