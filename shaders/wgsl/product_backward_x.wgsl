// dx = w^T grad per segment: rows are inputs of one group, columns the input positions of all
// examples of the segment, the sum runs over (output, tap).

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> grad: array<f32>;
@group(0) @binding(2) var<storage, read_write> dx: array<f32>;

const Q = H * W;
const I_TILES = (I + MT - 1u) / MT;
// Outputs per chunk and the taps of each; chunks of a matrix are KC outputs.
const CHUNK_OUTPUTS = KC / CHUNK_TAPS;
const TAP_CHUNKS = (TAPS + CHUNK_TAPS - 1u) / CHUNK_TAPS;

// Where all taps fit (WHOLE_TAPS), the weight of a chunk is first laid out in its own order, in
// which four neighbours cost one call of the generator.
const FLAT_ROW = MT * TAPS;
var<workgroup> flat_tile: array<f32, FLAT_LEN>;

fn stage_flat(id: u32, group: u32, i0: u32, o0: u32, local: u32) {
    for (var t = local; t < CHUNK_OUTPUTS * FLAT_ROW / 4u; t += THREADS) {
        let o = o0 + t / (FLAT_ROW / 4u);
        let col = i0 * TAPS + t % (FLAT_ROW / 4u) * 4u;
        let end = select(0u, I * TAPS, o < M);
        let four = keep_below(weight4(id, group * M + min(o, M - 1u), col), col, end);
        flat_tile[4u * t] = four.x;
        flat_tile[4u * t + 1u] = four.y;
        flat_tile[4u * t + 2u] = four.z;
        flat_tile[4u * t + 3u] = four.w;
    }
}

fn repack_flat(local: u32) {
    for (var t = local; t < KC * MT4; t += THREADS) {
        let k = t / MT4;
        let at = k / TAPS * FLAT_ROW + t % MT4 * 4u * TAPS + k % TAPS;
        a_tile[t] = vec4<f32>(
            flat_tile[at],
            flat_tile[at + TAPS],
            flat_tile[at + 2u * TAPS],
            flat_tile[at + 3u * TAPS],
        );
    }
}

// One element of the weight, for kernels too large to be laid out whole.
fn weight1(id: u32, group: u32, o: u32, i: u32, tap: u32) -> f32 {
    let col = i * TAPS + tap;
    let four = weight4(id, group * M + o, col - col % 4u);
    return four[col % 4u];
}

fn stage_weight(id: u32, group: u32, i0: u32, o0: u32, tap0: u32, local: u32) {
    for (var t = local; t < KC * MT4; t += THREADS) {
        let k = t / MT4;
        let i = i0 + t % MT4 * 4u;
        let o = o0 + k / CHUNK_TAPS;
        let tap = tap0 + k % CHUNK_TAPS;
        let kept_o = min(o, M - 1u);
        let kept_tap = min(tap, TAPS - 1u);
        var four: vec4<f32>;
        if (TAPS == 1u) {
            four = weight4(id, group * M + kept_o, i);
        } else {
            for (var j = 0u; j < 4u; j += 1u) {
                four[j] = weight1(id, group, kept_o, min(i + j, I - 1u), kept_tap);
            }
        }
        a_tile[t] = keep_below(four, i, select(0u, I, o < M && tap < TAPS));
    }
}

// A 4 x 4 block per step; consecutive elements of a matrix row are consecutive outputs.
fn stage_matrix(id: u32, i0: u32, o0: u32, local: u32) {
    for (var t = local; t < KC / 4u * MT4; t += THREADS) {
        let i = i0 + t % MT4 * 4u;
        let o = o0 + t / MT4 * 4u;
        var block: mat4x4<f32>;
        for (var j = 0u; j < 4u; j += 1u) {
            block[j] = keep_below(weight4(id, min(i + j, I - 1u), o), o, select(0u, M, i + j < I));
        }
        block = transpose(block);
        let at = t / MT4 * 4u * MT4 + t % MT4;
        a_tile[at] = block[0];
        a_tile[at + MT4] = block[1];
        a_tile[at + 2u * MT4] = block[2];
        a_tile[at + 3u * MT4] = block[3];
    }
}

fn column_value(first: u32, columns: u32, group: u32, o: u32, tap: u32, n: u32) -> f32 {
    let inside = o < M && tap < TAPS && n < columns;
    let kept_n = min(n, columns - 1u);
    let example = example_at(first + kept_n / Q);
    let channel = group * M + min(o, M - 1u);
    return select(0.0, grad_at(example, channel, min(tap, TAPS - 1u), kept_n % Q), inside);
}

fn stage_grad(
    first: u32, columns: u32, group: u32, o0: u32, tap0: u32, n0: u32, local: u32,
) {
    for (var t = local; t < KC * NT4; t += THREADS) {
        let k = select(t / NT4, t % KC, MATMUL);
        let n4 = select(t % NT4, t / KC, MATMUL);
        let o = o0 + k / CHUNK_TAPS;
        let tap = tap0 + k % CHUNK_TAPS;
        let n = n0 + n4 * 4u;
        b_tile[k * NT4 + n4] = vec4<f32>(
            column_value(first, columns, group, o, tap, n),
            column_value(first, columns, group, o, tap, n + 1u),
            column_value(first, columns, group, o, tap, n + 2u),
            column_value(first, columns, group, o, tap, n + 3u),
        );
    }
}

fn store(first: u32, columns: u32, group: u32, i: u32, n: u32, values: vec4<f32>) {
    for (var j = 0u; j < 4u; j += 1u) {
        if (i < I && n + j < columns) {
            let example = example_at(first + (n + j) / Q);
            let position = (n + j) % Q;
            dx[example * X_EXAMPLE + (group * I + i) * X_CHANNEL + position * X_POSITION] = values[j];
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
    let group = linear / I_TILES % GROUPS;
    if (local == 0u) {
        shared_segment = segment_of(linear / (I_TILES * GROUPS));
    }
    let segment = workgroupUniformLoad(&shared_segment);
    let columns = segment.z * Q;
    if (segment.w >= (columns + NT - 1u) / NT) {
        return;
    }
    let n0 = segment.w * NT;
    load_source();
    let i0 = linear % I_TILES * MT;
    let a = local % THREADS_M * TM4;
    let b = local / THREADS_M * TN4;
    var tile = Tile();
    for (var o0 = 0u; o0 < M; o0 += CHUNK_OUTPUTS) {
        for (var tap_chunk = 0u; tap_chunk < TAP_CHUNKS; tap_chunk += 1u) {
            let tap0 = tap_chunk * CHUNK_TAPS;
            stage_grad(segment.y, columns, group, o0, tap0, n0, local);
            if (MATMUL) {
                stage_matrix(segment.x, i0, o0, local);
            } else if (WHOLE_TAPS) {
                stage_flat(segment.x, group, i0, o0, local);
                workgroupBarrier();
                repack_flat(local);
            } else {
                stage_weight(segment.x, group, i0, o0, tap0, local);
            }
            workgroupBarrier();
            tile_add_chunk(&tile, a, b);
            workgroupBarrier();
        }
    }
    for (var i = 0u; i < TM; i += 1u) {
        for (var j = 0u; j < TN4; j += 1u) {
            store(segment.y, columns, group, i0 + 4u * a + i, n0 + 4u * (b + j), tile.v[i * TN4 + j]);
        }
    }
}
