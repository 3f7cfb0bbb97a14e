// Sums the parts of each slot: out[slot][element] over parts[first .. end][region offset + element].
//
// info: slots, elements, stride of a part, offset of the region, then the slots + 1 starts.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> parts: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let id = (workgroup.y * workgroups.x + workgroup.x) * THREADS + local;
    let elements = info[1];
    if (id >= info[0] * elements) {
        return;
    }
    let slot = id / elements;
    var sum = 0.0;
    for (var part = info[4u + slot]; part < info[5u + slot]; part += 1u) {
        sum += parts[part * info[2] + info[3] + id % elements];
    }
    out[id] = sum;
}
