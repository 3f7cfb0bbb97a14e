// dx of single rows with a Gaussian weight per example. Lanes split the outputs of an input, four at
// a time; mean and spread are loaded once for EXAMPLES examples, for which only the noise differs.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> grad: array<f32>;
@group(0) @binding(2) var<storage, read_write> dx: array<f32>;
@group(0) @binding(3) var<storage, read_write> mu: array<f32>;
@group(0) @binding(4) var<storage, read_write> psi: array<f32>;

const O_BLOCKS = (M + 3u) / 4u;
const INPUTS = THREADS / LANES;
const I_GROUPS = (I + INPUTS - 1u) / INPUTS;

var<workgroup> partial: array<f32, THREADS * EXAMPLES>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    load_noise_key();
    let linear = workgroup.y * workgroups.x + workgroup.x;
    let batch = info[5];
    let first = linear / I_GROUPS * EXAMPLES;
    let i = min(linear % I_GROUPS * INPUTS + local / LANES, I - 1u);
    var sum: array<f32, EXAMPLES>;
    for (var block = local % LANES; block < O_BLOCKS; block += LANES) {
        let o = 4u * block;
        let at = min(vec4<u32>(o, o + 1u, o + 2u, o + 3u), vec4<u32>(M - 1u));
        let row = at + vec4<u32>(i * M);
        let mean = vec4<f32>(mu[row.x], mu[row.y], mu[row.z], mu[row.w]);
        let spread = exp(vec4<f32>(psi[row.x], psi[row.y], psi[row.z], psi[row.w]));
        let kept = vec4<u32>(o, o + 1u, o + 2u, o + 3u) < vec4<u32>(M);
        // unroll
        for (var e = 0u; e < EXAMPLES; e += 1u) {
            let example = min(first + e, batch - 1u);
            let g = at + vec4<u32>(example * M);
            let weight = mean + spread * noise4(example, i * M + o);
            let value = vec4<f32>(grad[g.x], grad[g.y], grad[g.z], grad[g.w]);
            sum[e] += dot(select(vec4<f32>(0.0), value, kept), weight);
        }
    }
    // unroll
    for (var e = 0u; e < EXAMPLES; e += 1u) {
        partial[e * THREADS + local] = sum[e];
    }
    workgroupBarrier();
    for (var t = local; t < EXAMPLES * INPUTS; t += THREADS) {
        let e = t / INPUTS;
        let input = linear % I_GROUPS * INPUTS + t % INPUTS;
        var total = 0.0;
        for (var l = 0u; l < LANES; l += 1u) {
            total += partial[e * THREADS + t % INPUTS * LANES + l];
        }
        if (first + e < batch && input < I) {
            dx[(first + e) * I + input] = total;
        }
    }
}
