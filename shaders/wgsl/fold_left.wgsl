// Gradient of the left factors: d_left[c][tap, q] = sum over the entries of component c and over
// the outputs of d_weight[entry] * shared * right[c][q, output].
//
// info: first component, components, then components + 1 starts into the entries, then the entries.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> d_weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> shared_weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> right: array<f32>;
@group(0) @binding(4) var<storage, read_write> d_left: array<f32>;

// In a matrix the sum runs along a row, and lanes share it (see lib/row_sum.wgsl).
@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let linear = workgroup.y * workgroups.x + workgroup.x;
    let result = linear * (THREADS / LANES) + local / LANES;
    let results = info[1] * FAN_IN * RANK;
    // What is past the last result repeats it and keeps nothing: a workgroup meets at its barrier as a whole.
    let id = min(result, results - 1u);
    let q = id / FAN_IN % RANK;
    let tap = id % FAN_IN;
    let place = id / (FAN_IN * RANK);
    let component = info[0] + place;
    var sum = 0.0;
    for (var at = info[2u + place]; at < info[3u + place]; at += 1u) {
        let entry = info[3u + info[1] + at];
        for (var output = local % LANES; output < FAN_OUT; output += LANES) {
            let element = select(output * COLS + tap, tap * COLS + output, MATMUL);
            sum += d_weight[entry * REGION + element] * shared_weight[element]
                * right[(component * RANK + q) * FAN_OUT + output];
        }
    }
    let total = sum_lanes(sum, local);
    if ((result < results) & (local % LANES == 0u)) {
        d_left[(component * FAN_IN + tap) * RANK + q] = total;
    }
}
