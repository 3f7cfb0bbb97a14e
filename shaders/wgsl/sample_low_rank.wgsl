// Materialised components: out[draw][element] = shared * (l r) of the draw's component.
//
// info: draws, then the component per draw.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> left: array<f32>;
@group(0) @binding(2) var<storage, read_write> right: array<f32>;
@group(0) @binding(3) var<storage, read_write> shared_weight: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let at = (workgroup.y * workgroups.x + workgroup.x) * THREADS + local;
    let draw = at / (ROWS * COLS);
    if (draw >= info[0]) {
        return;
    }
    let element = at % (ROWS * COLS);
    let tap = select(element % COLS, element / COLS, MATMUL);
    let output = select(element / COLS, element % COLS, MATMUL);
    let id = info[1u + draw];
    var factor = 0.0;
    for (var q = 0u; q < RANK; q += 1u) {
        factor += left[(id * FAN_IN + tap) * RANK + q] * right[(id * RANK + q) * FAN_OUT + output];
    }
    out[at] = shared_weight[element] * factor;
}
