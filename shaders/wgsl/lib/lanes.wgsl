// Single rows with a Gaussian weight per example. An invocation owns four channels of the result for
// EXAMPLES examples: mean and spread of a weight are loaded once for them, only the noise differs.
//
// A workgroup is COLUMNS neighbours in channels x LANES that share the sum x BATCHES sets of
// examples, which load the same means and spreads and find them in the cache.

const THREADS = COLUMNS * LANES * BATCHES;

var<workgroup> partial: array<vec4<f32>, THREADS>;

fn lane_of(local: u32) -> u32 {
    return local / COLUMNS % LANES;
}

fn first_example(tile: u32, local: u32) -> u32 {
    return (tile * BATCHES + local / (COLUMNS * LANES)) * EXAMPLES;
}

// The sum over the lanes, for the first of them. To be called by the whole workgroup.
fn sum_lanes(value: vec4<f32>, local: u32) -> vec4<f32> {
    partial[local] = value;
    workgroupBarrier();
    var total = vec4<f32>(0.0);
    if (lane_of(local) == 0u) {
        for (var l = 0u; l < LANES; l += 1u) {
            total += partial[local + l * COLUMNS];
        }
    }
    workgroupBarrier();
    return total;
}
