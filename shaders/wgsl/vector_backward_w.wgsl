// Gradients of mu and psi of single rows: an invocation owns four inputs x four outputs and walks the
// examples of its segment. A workgroup is SIDE x SIDE of them, so that an operand is read once per
// 4 * SIDE channels of the other. parts as in product_backward_w.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad: array<f32>;
@group(0) @binding(3) var<storage, read_write> parts: array<f32>;

const I_TILES = (I + 4u * SIDE - 1u) / (4u * SIDE);
const O_TILES = (M + 4u * SIDE - 1u) / (4u * SIDE);

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let linear = workgroup.y * workgroups.x + workgroup.x;
    let part = linear / (O_TILES * I_TILES);
    let segment = segment_at(part);
    let o = (linear % O_TILES * SIDE + local % SIDE) * 4u;
    let i = (linear / O_TILES % I_TILES * SIDE + local / SIDE) * 4u;
    if (!segment.exists | (o >= M) | (i >= I)) {
        return;
    }
    load_source();
    let inputs = min(vec4<u32>(i, i + 1u, i + 2u, i + 3u), vec4<u32>(I - 1u));
    let outputs = min(vec4<u32>(o, o + 1u, o + 2u, o + 3u), vec4<u32>(M - 1u));
    var mean: array<vec4<f32>, 4>;
    var noisy: array<vec4<f32>, 4>;
    for (var place = 0u; place < segment.examples; place += 1u) {
        let example = example_at(segment.first + place);
        let g = outputs + example * M;
        let four = vec4<f32>(grad[g.x], grad[g.y], grad[g.z], grad[g.w]);
        for (var j = 0u; j < 4u; j += 1u) {
            let product = x[example * I + inputs[j]] * four;
            mean[j] += product;
            noisy[j] += product * unit_noise(example, inputs[j], o);
        }
    }
    for (var t = 0u; t < 16u; t += 1u) {
        if ((i + t / 4u < I) & (o + t % 4u < M)) {
            let element = (i + t / 4u) * M + o + t % 4u;
            parts[part * REGIONS * REGION + element] = mean[t / 4u][t % 4u];
            parts[(part * REGIONS + 1u) * REGION + element] = noisy[t / 4u][t % 4u] * spread(element);
        }
    }
}
