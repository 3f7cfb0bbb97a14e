// y = x w, the ordinary product of two matrices. Their sizes are not among the constants, so that one
// pipeline serves them all.
//
// An invocation makes 4 x 4 elements; past an edge it repeats the last row or column, and does not write.
//
// info: rows, inputs, outputs.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> weights: array<f32>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let rows = info[0];
    let inputs = info[1];
    let outputs = info[2];
    let blocks = (outputs + 3u) / 4u;
    let at = (workgroup.y * workgroups.x + workgroup.x) * THREADS + local;
    let row = at / blocks * 4u;
    let output = at % blocks * 4u;
    if (row >= rows) {
        return;
    }
    let steps = vec4<u32>(0u, 1u, 2u, 3u);
    let x_at = min(steps + row, vec4<u32>(rows - 1u)) * inputs;
    let columns = min(steps + output, vec4<u32>(outputs - 1u));
    var sums: array<vec4<f32>, 4>;
    for (var input = 0u; input < inputs; input += 1u) {
        let w_at = columns + input * outputs;
        let weight = vec4<f32>(weights[w_at.x], weights[w_at.y], weights[w_at.z], weights[w_at.w]);
        // unroll
        for (var r = 0u; r < 4u; r += 1u) {
            sums[r] += x[x_at[r] + input] * weight;
        }
    }
    // unroll
    for (var r = 0u; r < 4u; r += 1u) {
        // unroll
        for (var c = 0u; c < 4u; c += 1u) {
            if ((row + r < rows) & (output + c < outputs)) {
                y[(row + r) * outputs + output + c] = sums[r][c];
            }
        }
    }
}
