// Gradient of the shared weight of a low-rank ensemble: d_shared += sum over the entries of
// d_weight[entry] * (l r) of the entry's component.
//
// info: entries, 1 to add to what is there, then the component per entry.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> d_weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> d_shared: array<f32>;
@group(0) @binding(3) var<storage, read_write> left: array<f32>;
@group(0) @binding(4) var<storage, read_write> right: array<f32>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let element = (workgroup.y * workgroups.x + workgroup.x) * THREADS + local;
    if (element >= ROWS * COLS) {
        return;
    }
    let tap = select(element % COLS, element / COLS, MATMUL);
    let output = select(element / COLS, element % COLS, MATMUL);
    var sum = 0.0;
    if (info[1] == 1u) {
        sum = d_shared[element];
    }
    for (var entry = 0u; entry < info[0]; entry += 1u) {
        let id = info[2u + entry];
        var factor = 0.0;
        for (var q = 0u; q < RANK; q += 1u) {
            factor += left[(id * FAN_IN + tap) * RANK + q] * right[(id * RANK + q) * FAN_OUT + output];
        }
        sum += d_weight[entry * REGION + element] * factor;
    }
    d_shared[element] = sum;
}
