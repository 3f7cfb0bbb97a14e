// Materialised draws: out[draw][element] = mu + exp(psi) * eps, four elements per invocation.
//
// info: 0..5 noise key, elements, draws, 1 where successive draws differ in the draw of the key and
// 0 where they differ in the example.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> mu: array<f32>;
@group(0) @binding(2) var<storage, read_write> psi: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let id = (workgroup.y * workgroups.x + workgroup.x) * THREADS + local;
    let elements = info[5];
    let blocks = (elements + 3u) / 4u;
    let draw = id / blocks;
    if (draw >= info[6]) {
        return;
    }
    load_noise_key();
    noise_key.draw += select(0u, draw, info[7] == 1u);
    let block = id % blocks;
    let eps = normals(noise_bits(select(draw, 0u, info[7] == 1u), block));
    for (var j = 0u; j < 4u; j += 1u) {
        let element = 4u * block + j;
        if (element < elements) {
            out[draw * elements + element] = mu[element] + exp(psi[element]) * eps[j];
        }
    }
}
