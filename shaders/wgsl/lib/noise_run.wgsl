// The normals of elements element .. element + RUN, each block of four made once.
fn noise_run(example: u32, element: u32) -> array<f32, RUN> {
    let shift = element % 4u;
    var blocks: array<vec4<f32>, RUN_BLOCKS>;
    // unroll
    for (var b = 0u; b < RUN_BLOCKS; b += 1u) {
        blocks[b] = normals(noise_bits(example, element / 4u + b));
    }
    var run: array<f32, RUN>;
    // unroll
    for (var b = 0u; b < RUN_VECTORS; b += 1u) {
        let four = window4(blocks[b], blocks[min(b + 1u, RUN_BLOCKS - 1u)], shift);
        // unroll
        for (var j = 0u; j < 4u; j += 1u) {
            if (4u * b + j < RUN) {
                run[min(4u * b + j, RUN - 1u)] = four[j];
            }
        }
    }
    return run;
}
