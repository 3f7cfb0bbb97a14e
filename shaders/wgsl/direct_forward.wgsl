// y by direct convolution: an invocation keeps TM outputs x a block of PY x PX positions in
// registers, and the part of the image under the block. No workgroup memory, no barrier: for
// adapters on CPU cores, where both are slow, and for groups of one channel.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

const BLOCKS_X = (OW + PX - 1u) / PX;
const BLOCKS_Y = (OH + PY - 1u) / PY;
const M_BLOCKS = (M + TM - 1u) / TM;

fn pixel(channel: u32, iy: i32, ix: i32) -> f32 {
    let inside = iy >= 0 && ix >= 0 && iy < i32(H) && ix < i32(W);
    return select(0.0, x[channel * H * W + select(0u, u32(iy) * W + u32(ix), inside)], inside);
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let id = (workgroup.y * workgroups.x + workgroup.x) * THREADS + local;
    if (id >= info[5]) {
        return;
    }
    load_source();
    let ox0 = id % BLOCKS_X * PX;
    let oy0 = id / BLOCKS_X % BLOCKS_Y * PY;
    let m0 = id / (BLOCKS_X * BLOCKS_Y) % M_BLOCKS * TM;
    let group = id / (BLOCKS_X * BLOCKS_Y * M_BLOCKS) % GROUPS;
    let example = id / (BLOCKS_X * BLOCKS_Y * M_BLOCKS * GROUPS);
    let weight = slot_of(example);
    let iy0 = i32(oy0 * SY) - i32(PT);
    let ix0 = i32(ox0 * SX) - i32(PL);
    var sum: array<f32, TM * PY * PX>;
    for (var i = 0u; i < I; i += STEP) {
        let channel = (example * GROUPS + group) * I + i;
        var area: array<f32, STEP * EY * EX>;
        // unroll
        for (var s = 0u; s < STEP; s += 1u) {
            // unroll
            for (var r = 0u; r < EY; r += 1u) {
                // unroll
                for (var c = 0u; c < EX; c += 1u) {
                    area[(s * EY + r) * EX + c] = pixel(channel + s, iy0 + i32(r), ix0 + i32(c));
                }
            }
        }
        // unroll
        for (var m = 0u; m < TM; m += 1u) {
            let run = weight_run(weight, group * M + min(m0 + m, M - 1u), i * TAPS);
            // unroll
            for (var t = 0u; t < RUN; t += 1u) {
                // unroll
                for (var r = 0u; r < PY; r += 1u) {
                    // unroll
                    for (var c = 0u; c < PX; c += 1u) {
                        sum[(m * PY + r) * PX + c] += run[t]
                            * area[(t / TAPS * EY + r * SY + t % TAPS / KW * DY) * EX + c * SX + t % TAPS % KW * DX];
                    }
                }
            }
        }
    }
    // unroll
    for (var m = 0u; m < TM; m += 1u) {
        // unroll
        for (var r = 0u; r < PY; r += 1u) {
            // unroll
            for (var c = 0u; c < PX; c += 1u) {
                if (m0 + m < M && oy0 + r < OH && ox0 + c < OW) {
                    let channel = (example * GROUPS + group) * M + m0 + m;
                    y[(channel * OH + oy0 + r) * OW + ox0 + c] = sum[(m * PY + r) * PX + c];
                }
            }
        }
    }
}
