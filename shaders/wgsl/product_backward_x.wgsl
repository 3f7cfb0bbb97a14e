// dx = w^T grad: rows are inputs of one group, columns the input positions of the examples of a
// segment, the sum runs over (output, tap), a few whole outputs (CHUNK) at a time.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> grad: array<f32>;
@group(0) @binding(2) var<storage, read_write> dx: array<f32>;

const POSITIONS = H * W;
const I_TILES = (I + MT - 1u) / MT;
const CHUNK = CHUNK_OUTPUTS * TAPS;

// The weight of a chunk in its own order, in which four neighbours cost one call of the generator
// (FLAT). The tile is made from it in steps.
const FLAT_ROW = MT * TAPS;
var<workgroup> flat_tile: array<f32, WEIGHTS * FLAT_LEN>;

fn stage_flat(first_segment: u32, group: u32, i0: u32, o0: u32, local: u32) {
    for (var t = local; t < CHUNK_OUTPUTS * FLAT_ROW / 4u; t += THREADS) {
        let o = o0 + t / (FLAT_ROW / 4u);
        let col = i0 * TAPS + t % (FLAT_ROW / 4u) * 4u;
        let end = select(0u, I * TAPS, o < M);
        let row = group * M + min(o, M - 1u);
        let base = base4(row, col);
        for (var w = 0u; w < WEIGHTS; w += 1u) {
            let four = keep_below(weight4(base, weight_of(first_segment, w), row, col), col, end);
            let at = w * FLAT_LEN + 4u * t;
            flat_tile[at] = four.x;
            flat_tile[at + 1u] = four.y;
            flat_tile[at + 2u] = four.z;
            flat_tile[at + 3u] = four.w;
        }
    }
}

fn repack_flat(k0: u32, local: u32) {
    for (var t = local; t < KC * A_STEP; t += THREADS) {
        let k = min(k0 + t / A_STEP, CHUNK - 1u);
        let row = t % MT4 * 4u;
        let at = t % A_STEP / MT4 * FLAT_LEN + k / TAPS * FLAT_ROW + row * TAPS + k % TAPS;
        a_tile[t] = vec4<f32>(
            flat_tile[at],
            flat_tile[at + TAPS],
            flat_tile[at + 2u * TAPS],
            flat_tile[at + 3u * TAPS],
        );
    }
}

// One element of the weight, for kernels too large to be laid out.
fn weight1(id: u32, row: u32, col: u32) -> f32 {
    let first = col - col % 4u;
    let four = weight4(base4(row, first), id, row, first);
    return four[col % 4u];
}

fn stage_taps(first_segment: u32, group: u32, i0: u32, o0: u32, k0: u32, local: u32) {
    for (var t = local; t < KC * A_STEP; t += THREADS) {
        let i = i0 + t % MT4 * 4u;
        let k = min(k0 + t / A_STEP, CHUNK - 1u);
        let row = group * M + min(o0 + k / TAPS, M - 1u);
        let id = weight_of(first_segment, t % A_STEP / MT4);
        var four: vec4<f32>;
        for (var j = 0u; j < 4u; j += 1u) {
            four[j] = weight1(id, row, min(i + j, I - 1u) * TAPS + k % TAPS);
        }
        a_tile[t] = keep_below(four, i, I);
    }
}

// A 4 x 4 block per step; consecutive elements of a matrix row are consecutive outputs.
fn stage_matrix(first_segment: u32, i0: u32, o0: u32, local: u32) {
    for (var t = local; t < KC / 4u * MT4; t += THREADS) {
        let i = i0 + t % MT4 * 4u;
        let o = o0 + t / MT4 * 4u;
        var base: array<Base, 4>;
        for (var j = 0u; j < 4u; j += 1u) {
            base[j] = base4(min(i + j, I - 1u), o);
        }
        for (var w = 0u; w < WEIGHTS; w += 1u) {
            let id = weight_of(first_segment, w);
            var block: mat4x4<f32>;
            for (var j = 0u; j < 4u; j += 1u) {
                let four = weight4(base[j], id, min(i + j, I - 1u), o);
                block[j] = keep_below(four, o, select(0u, M, i + j < I));
            }
            block = transpose(block);
            let at = t / MT4 * 4u * A_STEP + w * MT4 + t % MT4;
            a_tile[at] = block[0];
            a_tile[at + A_STEP] = block[1];
            a_tile[at + 2u * A_STEP] = block[2];
            a_tile[at + 3u * A_STEP] = block[3];
        }
    }
}

fn column_value(start: u32, group: u32, o0: u32, k: u32, n: u32) -> f32 {
    let o = o0 + k / TAPS;
    let place = place_of(start, n);
    let channel = group * M + min(o, M - 1u);
    let value = grad_at(place.example, channel, k % TAPS, place.position);
    return select(0.0, value, place.exists & (o < M) & (k < CHUNK));
}

fn stage_grad(start: u32, group: u32, o0: u32, k0: u32, local: u32) {
    for (var t = local; t < KC * NT4; t += THREADS) {
        let k = select(t / NT4, t % KC, MATMUL);
        let n4 = select(t % NT4, t / KC, MATMUL);
        let n = n4 * 4u;
        b_tile[k * NT4 + n4] = vec4<f32>(
            column_value(start, group, o0, k0 + k, n),
            column_value(start, group, o0, k0 + k, n + 1u),
            column_value(start, group, o0, k0 + k, n + 2u),
            column_value(start, group, o0, k0 + k, n + 3u),
        );
    }
}

fn store(start: u32, group: u32, i: u32, n: u32, values: vec4<f32>) {
    for (var j = 0u; j < 4u; j += 1u) {
        let place = place_of(start, n + j);
        if (place.exists & (i < I)) {
            let channel = place.example * X_EXAMPLE + (group * I + i) * X_CHANNEL;
            dx[channel + place.position * X_POSITION] = values[j];
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
    let i0 = linear % I_TILES * MT;
    let group = linear / I_TILES % GROUPS;
    let columns = load_columns(linear / (I_TILES * GROUPS), local);
    if (!columns.busy) {
        return;
    }
    load_source();
    var tile = Tile();
    for (var o0 = 0u; o0 < M; o0 += CHUNK_OUTPUTS) {
        if (FLAT) {
            stage_flat(columns.first_segment, group, i0, o0, local);
            workgroupBarrier();
        }
        for (var k0 = 0u; k0 < CHUNK; k0 += KC) {
            if (MATMUL) {
                stage_matrix(columns.first_segment, i0, o0, local);
            } else if (FLAT) {
                repack_flat(k0, local);
            } else {
                stage_taps(columns.first_segment, group, i0, o0, k0, local);
            }
            stage_grad(columns.start, group, o0, k0, local);
            workgroupBarrier();
            tile_add_chunk(&tile, local);
            workgroupBarrier();
        }
    }
    for (var i = 0u; i < TM; i += 1u) {
        for (var j = 0u; j < TN4; j += 1u) {
            let n = own_column(local) + 4u * j;
            store(columns.start, group, i0 + own_row(local) + i, n, tile.v[i * TN4 + j]);
        }
    }
}
