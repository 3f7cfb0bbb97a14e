// y = w x per segment: rows are outputs of one group, columns the positions of all examples of the
// segment, the sum runs over (input, tap).

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

const K = I * TAPS;
const M_TILES = (M + MT - 1u) / MT;

// A 4 x 4 block of the weight per step, so that only whole vectors are written to the tile.
fn stage_weight(id: u32, group: u32, m0: u32, k0: u32, local: u32) {
    for (var t = local; t < KC / 4u * MT4; t += THREADS) {
        let m = m0 + t % MT4 * 4u;
        let k = k0 + t / MT4 * 4u;
        var block: mat4x4<f32>;
        for (var j = 0u; j < 4u; j += 1u) {
            if (MATMUL) {
                let end = select(0u, M, k + j < K);
                block[j] = keep_below(weight4(id, min(k + j, K - 1u), m), m, end);
            } else {
                let end = select(0u, K, m + j < M);
                block[j] = keep_below(weight4(id, group * M + min(m + j, M - 1u), k), k, end);
            }
        }
        if (!MATMUL) {
            block = transpose(block);
        }
        let at = t / MT4 * 4u * MT4 + t % MT4;
        a_tile[at] = block[0];
        a_tile[at + MT4] = block[1];
        a_tile[at + 2u * MT4] = block[2];
        a_tile[at + 3u * MT4] = block[3];
    }
}

fn column_value(first: u32, columns: u32, group: u32, k: u32, n: u32) -> f32 {
    let inside = k < K && n < columns;
    let kept_k = min(k, K - 1u);
    let kept_n = min(n, columns - 1u);
    let example = example_at(first + kept_n / P);
    let value = x_at(example, group * I + kept_k / TAPS, kept_k % TAPS, kept_n % P);
    return select(0.0, value, inside);
}

fn stage_input(first: u32, columns: u32, group: u32, k0: u32, n0: u32, local: u32) {
    for (var t = local; t < KC * NT4; t += THREADS) {
        // Neighbouring invocations read neighbouring addresses: channels of a matrix, pixels of an image.
        let k = select(t / NT4, t % KC, MATMUL);
        let n4 = select(t % NT4, t / KC, MATMUL);
        let n = n0 + n4 * 4u;
        b_tile[k * NT4 + n4] = vec4<f32>(
            column_value(first, columns, group, k0 + k, n),
            column_value(first, columns, group, k0 + k, n + 1u),
            column_value(first, columns, group, k0 + k, n + 2u),
            column_value(first, columns, group, k0 + k, n + 3u),
        );
    }
}

fn store(first: u32, columns: u32, group: u32, m: u32, n: u32, values: vec4<f32>) {
    for (var j = 0u; j < 4u; j += 1u) {
        if (m < M && n + j < columns) {
            let example = example_at(first + (n + j) / P);
            let position = (n + j) % P;
            y[example * Y_EXAMPLE + (group * M + m) * Y_CHANNEL + position * Y_POSITION] = values[j];
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
    let group = linear / M_TILES % GROUPS;
    if (local == 0u) {
        shared_segment = segment_of(linear / (M_TILES * GROUPS));
    }
    let segment = workgroupUniformLoad(&shared_segment);
    let columns = segment.z * P;
    if (segment.w >= (columns + NT - 1u) / NT) {
        return;
    }
    let n0 = segment.w * NT;
    load_source();
    let m0 = linear % M_TILES * MT;
    let a = local % THREADS_M * TM4;
    let b = local / THREADS_M * TN4;
    var tile = Tile();
    for (var k0 = 0u; k0 < K; k0 += KC) {
        stage_weight(segment.x, group, m0, k0, local);
        stage_input(segment.y, columns, group, k0, n0, local);
        workgroupBarrier();
        tile_add_chunk(&tile, a, b);
        workgroupBarrier();
    }
    for (var i = 0u; i < TM; i += 1u) {
        for (var j = 0u; j < TN4; j += 1u) {
            store(segment.y, columns, group, m0 + 4u * a + i, n0 + 4u * (b + j), tile.v[i * TN4 + j]);
        }
    }
}
