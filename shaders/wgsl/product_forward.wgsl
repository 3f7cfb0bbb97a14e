// y = w x: rows are outputs of one group, columns the positions of the examples of a segment, the
// sum runs over (input, tap).

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

const POSITIONS = P;
const K = I * TAPS;
const M_TILES = (M + MT - 1u) / MT;

// A 4 x 4 block of the weight per step, so that only whole vectors are written to the tile. What the
// weights share is loaded once for all slots.
fn stage_weight(first_segment: u32, group: u32, m0: u32, k0: u32, local: u32) {
    for (var t = local; t < KC / 4u * MT4; t += THREADS) {
        let m = m0 + t % MT4 * 4u;
        let k = k0 + t / MT4 * 4u;
        // Rows of a matrix are inputs, those of a convolution outputs.
        let col = select(k, m, MATMUL);
        var base: array<Base, 4>;
        for (var j = 0u; j < 4u; j += 1u) {
            base[j] = base4(block_row(group, m, k, j), col);
        }
        for (var w = 0u; w < WEIGHTS; w += 1u) {
            let id = weight_of(first_segment, w);
            var block: mat4x4<f32>;
            for (var j = 0u; j < 4u; j += 1u) {
                let end = select(select(0u, K, m + j < M), select(0u, M, k + j < K), MATMUL);
                let four = weight4(base[j], id, block_row(group, m, k, j), col);
                block[j] = keep_below(four, col, end);
            }
            if (!MATMUL) {
                block = transpose(block);
            }
            let at = t / MT4 * 4u * A_STEP + w * MT4 + t % MT4;
            a_tile[at] = block[0];
            a_tile[at + A_STEP] = block[1];
            a_tile[at + 2u * A_STEP] = block[2];
            a_tile[at + 3u * A_STEP] = block[3];
        }
    }
}

fn block_row(group: u32, m: u32, k: u32, j: u32) -> u32 {
    return select(group * M + min(m + j, M - 1u), min(k + j, K - 1u), MATMUL);
}

fn column_value(start: u32, group: u32, k: u32, n: u32) -> f32 {
    let place = place_of(start, n);
    let kept_k = min(k, K - 1u);
    let value = x_at(place.example, group * I + kept_k / TAPS, kept_k % TAPS, place.position);
    return select(0.0, value, place.exists & (k < K));
}

fn stage_input(start: u32, group: u32, k0: u32, local: u32) {
    for (var t = local; t < KC * NT4; t += THREADS) {
        // Neighbouring invocations read neighbouring addresses: channels of a matrix, pixels of an image.
        let k = select(t / NT4, t % KC, MATMUL);
        let n4 = select(t % NT4, t / KC, MATMUL);
        let n = n4 * 4u;
        b_tile[k * NT4 + n4] = vec4<f32>(
            column_value(start, group, k0 + k, n),
            column_value(start, group, k0 + k, n + 1u),
            column_value(start, group, k0 + k, n + 2u),
            column_value(start, group, k0 + k, n + 3u),
        );
    }
}

fn store(start: u32, group: u32, m: u32, n: u32, values: vec4<f32>) {
    for (var j = 0u; j < 4u; j += 1u) {
        let place = place_of(start, n + j);
        if (place.exists & (m < M)) {
            let channel = place.example * Y_EXAMPLE + (group * M + m) * Y_CHANNEL;
            y[channel + place.position * Y_POSITION] = values[j];
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
    let m0 = linear % M_TILES * MT;
    let group = linear / M_TILES % GROUPS;
    let columns = load_columns(linear / (M_TILES * GROUPS), local);
    if (!columns.busy) {
        return;
    }
    load_source();
    var tile = Tile();
    for (var k0 = 0u; k0 < K; k0 += KC) {
        stage_weight(columns.first_segment, group, m0, k0, local);
        stage_input(columns.start, group, k0, local);
        workgroupBarrier();
        tile_add_chunk(&tile, local);
        workgroupBarrier();
    }
    for (var i = 0u; i < TM; i += 1u) {
        for (var j = 0u; j < TN4; j += 1u) {
            let n = own_column(local) + 4u * j;
            store(columns.start, group, m0 + own_row(local) + i, n, tile.v[i * TN4 + j]);
        }
    }
}
