// Gradients of mu and psi from those of the materialised draws; four elements per invocation.
// info: as in sample_gaussian.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> grad: array<f32>;
@group(0) @binding(2) var<storage, read_write> psi: array<f32>;
@group(0) @binding(3) var<storage, read_write> d_mu: array<f32>;
@group(0) @binding(4) var<storage, read_write> d_psi: array<f32>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = (workgroup.y * workgroups.x + workgroup.x) * THREADS + local;
    let elements = info[5];
    if (block >= (elements + 3u) / 4u) {
        return;
    }
    load_noise_key();
    let first_draw = noise_key.draw;
    var mean = vec4<f32>(0.0);
    var noisy = vec4<f32>(0.0);
    for (var draw = 0u; draw < info[6]; draw += 1u) {
        noise_key.draw = first_draw + select(0u, draw, info[7] == 1u);
        let eps = normals(noise_bits(select(draw, 0u, info[7] == 1u), block));
        for (var j = 0u; j < 4u; j += 1u) {
            let value = grad[draw * elements + min(4u * block + j, elements - 1u)];
            mean[j] += value;
            noisy[j] += value * eps[j];
        }
    }
    for (var j = 0u; j < 4u; j += 1u) {
        let element = 4u * block + j;
        if (element < elements) {
            d_mu[element] = mean[j];
            d_psi[element] = noisy[j] * exp(psi[element]);
        }
    }
}
