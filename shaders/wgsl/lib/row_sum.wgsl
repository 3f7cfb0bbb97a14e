// A sum that LANES neighbours of a workgroup share, each of which takes every LANES-th term. Neighbours
// then read neighbouring addresses, where the sum runs along a row of the weight.

var<workgroup> partial: array<f32, THREADS>;

// The sum over the lanes, for the first of them. To be called once, by the whole workgroup.
fn sum_lanes(value: f32, local: u32) -> f32 {
    var total = value;
    if (LANES > 1u) {
        partial[local] = value;
        workgroupBarrier();
        if (local % LANES == 0u) {
            for (var l = 1u; l < LANES; l += 1u) {
                total += partial[local + l];
            }
        }
    }
    return total;
}
