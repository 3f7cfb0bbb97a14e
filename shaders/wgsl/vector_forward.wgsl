// y of single rows with a Gaussian weight per example. A workgroup owns four outputs per invocation
// column and splits the inputs among its lanes; mean and spread are loaded once for EXAMPLES
// examples, for which only the noise differs.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> mu: array<f32>;
@group(0) @binding(4) var<storage, read_write> psi: array<f32>;

const O_BLOCKS = (M + 3u) / 4u;
const O_GROUPS = (O_BLOCKS + COLUMNS - 1u) / COLUMNS;
const LANES = THREADS / COLUMNS;

var<workgroup> partial: array<vec4<f32>, THREADS * EXAMPLES>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    load_noise_key();
    let linear = workgroup.y * workgroups.x + workgroup.x;
    let batch = info[5];
    let first = linear / O_GROUPS * EXAMPLES;
    let block = linear % O_GROUPS * COLUMNS + local % COLUMNS;
    let lane = local / COLUMNS;
    let o = min(4u * block, M - 1u);
    let at = min(vec4<u32>(o, o + 1u, o + 2u, o + 3u), vec4<u32>(M - 1u));
    var sum: array<vec4<f32>, EXAMPLES>;
    for (var i = lane; i < I; i += LANES) {
        let row = at + vec4<u32>(i * M);
        let mean = vec4<f32>(mu[row.x], mu[row.y], mu[row.z], mu[row.w]);
        let spread = exp(vec4<f32>(psi[row.x], psi[row.y], psi[row.z], psi[row.w]));
        // unroll
        for (var e = 0u; e < EXAMPLES; e += 1u) {
            let example = min(first + e, batch - 1u);
            sum[e] += x[example * I + i] * (mean + spread * noise4(example, i * M + o));
        }
    }
    // unroll
    for (var e = 0u; e < EXAMPLES; e += 1u) {
        partial[e * THREADS + local] = sum[e];
    }
    workgroupBarrier();
    for (var t = local; t < EXAMPLES * COLUMNS; t += THREADS) {
        let e = t / COLUMNS;
        let column = linear % O_GROUPS * COLUMNS + t % COLUMNS;
        var total = vec4<f32>(0.0);
        for (var l = 0u; l < LANES; l += 1u) {
            total += partial[e * THREADS + l * COLUMNS + t % COLUMNS];
        }
        for (var j = 0u; j < 4u; j += 1u) {
            if (first + e < batch && 4u * column + j < M) {
                y[(first + e) * M + 4u * column + j] = total[j];
            }
        }
    }
}
