// dx of single rows with a Gaussian weight per example; lanes share the outputs, four at a time. See
// lib/lanes.wgsl.
//
// info: 0..5 noise key, 5 batch.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> grad: array<f32>;
@group(0) @binding(2) var<storage, read_write> dx: array<f32>;

const I_TILES = (I + 4u * COLUMNS - 1u) / (4u * COLUMNS);

// Zero past the last output.
fn grad4(example: u32, o: u32) -> vec4<f32> {
    let four = vec4<u32>(o, o + 1u, o + 2u, o + 3u);
    let at = example * M + min(four, vec4<u32>(M - 1u));
    let value = vec4<f32>(grad[at.x], grad[at.y], grad[at.z], grad[at.w]);
    return select(vec4<f32>(0.0), value, four < vec4<u32>(M));
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    load_source();
    let linear = workgroup.y * workgroups.x + workgroup.x;
    let batch = info[5];
    let first = first_example(linear / I_TILES, local);
    let i = (linear % I_TILES * COLUMNS + local % COLUMNS) * 4u;
    var sum: array<vec4<f32>, EXAMPLES>;
    for (var o = lane_of(local) * 4u; o < M; o += LANES * 4u) {
        for (var j = 0u; j < 4u; j += 1u) {
            let row = min(i + j, I - 1u);
            let base = base4(row, o);
            for (var e = 0u; e < EXAMPLES; e += 1u) {
                let example = min(first + e, batch - 1u);
                sum[e][j] += dot(grad4(example, o), weight4(base, example, row, o));
            }
        }
    }
    for (var e = 0u; e < EXAMPLES; e += 1u) {
        let total = sum_lanes(sum[e], local);
        for (var j = 0u; j < 4u; j += 1u) {
            if ((lane_of(local) == 0u) & (first + e < batch) & (i + j < I)) {
                dx[(first + e) * I + i + j] = total[j];
            }
        }
    }
}
