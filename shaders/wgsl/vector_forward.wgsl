// y of single rows with a Gaussian weight per example; lanes share the inputs. See lib/lanes.wgsl.
//
// info: 0..5 noise key, 5 batch.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

const O_TILES = (M + 4u * COLUMNS - 1u) / (4u * COLUMNS);

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    load_source();
    let linear = workgroup.y * workgroups.x + workgroup.x;
    let batch = info[5];
    let first = first_example(linear / O_TILES, local);
    let o = (linear % O_TILES * COLUMNS + local % COLUMNS) * 4u;
    var sum: array<vec4<f32>, EXAMPLES>;
    for (var i = lane_of(local); i < I; i += LANES) {
        let base = base4(i, o);
        for (var e = 0u; e < EXAMPLES; e += 1u) {
            let example = min(first + e, batch - 1u);
            sum[e] += x[example * I + i] * weight4(base, example, i, o);
        }
    }
    for (var e = 0u; e < EXAMPLES; e += 1u) {
        let total = sum_lanes(sum[e], local);
        for (var j = 0u; j < 4u; j += 1u) {
            if ((lane_of(local) == 0u) & (first + e < batch) & (o + j < M)) {
                y[(first + e) * M + o + j] = total[j];
            }
        }
    }
}
