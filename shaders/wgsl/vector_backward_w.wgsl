// Gradients of mu and psi of single rows: an invocation owns four outputs of one input and walks the
// examples of its segment. parts as in product_backward_w.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad: array<f32>;
@group(0) @binding(3) var<storage, read_write> parts: array<f32>;

const O_BLOCKS = (M + 3u) / 4u;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let id = (workgroup.y * workgroups.x + workgroup.x) * THREADS + local;
    let segment = segment_of(id / (O_BLOCKS * I));
    if (segment.w == PAST_END) {
        return;
    }
    load_source();
    let o = id % O_BLOCKS * 4u;
    let i = id / O_BLOCKS % I;
    let at = min(vec4<u32>(o, o + 1u, o + 2u, o + 3u), vec4<u32>(M - 1u));
    var mean = vec4<f32>(0.0);
    var noisy = vec4<f32>(0.0);
    for (var place = 0u; place < segment.z; place += 1u) {
        let example = example_at(segment.y + place);
        let g = at + vec4<u32>(example * M);
        let product = x[example * I + i] * vec4<f32>(grad[g.x], grad[g.y], grad[g.z], grad[g.w]);
        mean += product;
        noisy += product * unit_noise(example, i, o);
    }
    for (var j = 0u; j < 4u; j += 1u) {
        if (o + j < M) {
            let element = i * M + o + j;
            parts[segment.x * REGIONS * REGION + element] = mean[j];
            parts[(segment.x * REGIONS + 1u) * REGION + element] = noisy[j] * spread(element);
        }
    }
}
