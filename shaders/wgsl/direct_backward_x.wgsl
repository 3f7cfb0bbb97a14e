// dx by direct convolution at stride one: an invocation keeps TM inputs x a block of PY x PX
// positions in registers, and the part of the gradient that reaches the block.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> grad: array<f32>;
@group(0) @binding(2) var<storage, read_write> dx: array<f32>;

const BLOCKS_X = (W + PX - 1u) / PX;
const BLOCKS_Y = (H + PY - 1u) / PY;
const I_BLOCKS = (I + TM - 1u) / TM;

fn pixel(channel: u32, oy: i32, ox: i32) -> f32 {
    let inside = oy >= 0 && ox >= 0 && oy < i32(OH) && ox < i32(OW);
    return select(0.0, grad[channel * OH * OW + select(0u, u32(oy) * OW + u32(ox), inside)], inside);
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
    let ix0 = id % BLOCKS_X * PX;
    let iy0 = id / BLOCKS_X % BLOCKS_Y * PY;
    let i0 = id / (BLOCKS_X * BLOCKS_Y) % I_BLOCKS * TM;
    let group = id / (BLOCKS_X * BLOCKS_Y * I_BLOCKS) % GROUPS;
    let example = id / (BLOCKS_X * BLOCKS_Y * I_BLOCKS * GROUPS);
    let weight = slot_of(example);
    let oy0 = i32(iy0 + PT) - i32((KH - 1u) * DY);
    let ox0 = i32(ix0 + PL) - i32((KW - 1u) * DX);
    var sum: array<f32, TM * PY * PX>;
    for (var o = 0u; o < M; o += 1u) {
        let channel = (example * GROUPS + group) * M + o;
        var area: array<f32, EY * EX>;
        // unroll
        for (var r = 0u; r < EY; r += 1u) {
            // unroll
            for (var c = 0u; c < EX; c += 1u) {
                area[r * EX + c] = pixel(channel, oy0 + i32(r), ox0 + i32(c));
            }
        }
        let run = weight_run(weight, group * M + o, i0 * TAPS);
        // unroll
        for (var t = 0u; t < RUN; t += 1u) {
            // unroll
            for (var r = 0u; r < PY; r += 1u) {
                // unroll
                for (var c = 0u; c < PX; c += 1u) {
                    sum[(t / TAPS * PY + r) * PX + c] += run[t]
                        * area[(r + (KH - 1u - t % TAPS / KW) * DY) * EX + c + (KW - 1u - t % TAPS % KW) * DX];
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
                if (i0 + m < I && iy0 + r < H && ix0 + c < W) {
                    let channel = (example * GROUPS + group) * I + i0 + m;
                    dx[(channel * H + iy0 + r) * W + ix0 + c] = sum[(m * PY + r) * PX + c];
                }
            }
        }
    }
}
