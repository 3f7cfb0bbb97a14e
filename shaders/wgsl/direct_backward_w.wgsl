// Gradient of the weight per segment by direct convolution: an invocation keeps TM outputs x STEP
// inputs x all taps in registers and walks the positions of the segment's examples in blocks of
// PY x PX. parts as in product_backward_w.

@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad: array<f32>;
@group(0) @binding(3) var<storage, read_write> parts: array<f32>;

const M_BLOCKS = (M + TM - 1u) / TM;
const I_BLOCKS = (I + STEP - 1u) / STEP;
const LEN = TM * RUN;

fn pixel(channel: u32, iy: i32, ix: i32) -> f32 {
    let inside = iy >= 0 && ix >= 0 && iy < i32(H) && ix < i32(W);
    return select(0.0, x[channel * H * W + select(0u, u32(iy) * W + u32(ix), inside)], inside);
}

fn grad_pixel(channel: u32, oy: u32, ox: u32) -> f32 {
    let inside = oy < OH && ox < OW;
    return select(0.0, grad[channel * OH * OW + select(0u, oy * OW + ox, inside)], inside);
}

// Adds the products of one block of positions to the sums.
fn add_block(
    sum: ptr<function, array<f32, LEN>>,
    grad_channel: u32, channel: u32, oy0: u32, ox0: u32, m_last: u32, i_last: u32,
) {
    let iy0 = i32(oy0 * SY) - i32(PT);
    let ix0 = i32(ox0 * SX) - i32(PL);
    var area: array<f32, STEP * EY * EX>;
    // unroll
    for (var s = 0u; s < STEP; s += 1u) {
        // unroll
        for (var r = 0u; r < EY; r += 1u) {
            // unroll
            for (var c = 0u; c < EX; c += 1u) {
                area[(s * EY + r) * EX + c] = pixel(channel + min(s, i_last), iy0 + i32(r), ix0 + i32(c));
            }
        }
    }
    // unroll
    for (var m = 0u; m < TM; m += 1u) {
        // unroll
        for (var r = 0u; r < PY; r += 1u) {
            // unroll
            for (var c = 0u; c < PX; c += 1u) {
                let g = grad_pixel(grad_channel + min(m, m_last), oy0 + r, ox0 + c);
                // unroll
                for (var t = 0u; t < RUN; t += 1u) {
                    (*sum)[m * RUN + t] += g
                        * area[(t / TAPS * EY + r * SY + t % TAPS / KW * DY) * EX + c * SX + t % TAPS % KW * DX];
                }
            }
        }
    }
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let id = (workgroup.y * workgroups.x + workgroup.x) * THREADS + local;
    let part = id / (I_BLOCKS * M_BLOCKS * GROUPS);
    let segment = segment_at(part);
    if (!segment.exists) {
        return;
    }
    load_source();
    let i0 = id % I_BLOCKS * STEP;
    let m0 = id / I_BLOCKS % M_BLOCKS * TM;
    let group = id / (I_BLOCKS * M_BLOCKS) % GROUPS;
    let m_last = min(TM, M - m0) - 1u;
    let i_last = min(STEP, I - i0) - 1u;
    var sum: array<f32, LEN>;
    var mean: array<f32, LEN>;
    var noisy: array<f32, LEN>;
    for (var place = 0u; place < segment.examples; place += 1u) {
        let example = example_at(segment.first + place);
        let grad_channel = (example * GROUPS + group) * M + m0;
        let channel = (example * GROUPS + group) * I + i0;
        for (var oy0 = 0u; oy0 < OH; oy0 += PY) {
            for (var ox0 = 0u; ox0 < OW; ox0 += PX) {
                add_block(&sum, grad_channel, channel, oy0, ox0, m_last, i_last);
            }
        }
        if (GAUSSIAN) {
            // unroll
            for (var m = 0u; m < TM; m += 1u) {
                let eps = unit_noise(example, group * M + min(m0 + m, M - 1u), i0 * TAPS);
                // unroll
                for (var t = 0u; t < RUN; t += 1u) {
                    noisy[m * RUN + t] += sum[m * RUN + t] * eps[t];
                    mean[m * RUN + t] += sum[m * RUN + t];
                    sum[m * RUN + t] = 0.0;
                }
            }
        }
    }
    // unroll
    for (var m = 0u; m < TM; m += 1u) {
        // unroll
        for (var t = 0u; t < RUN; t += 1u) {
            if (m <= m_last && t / TAPS <= i_last) {
                let element = (group * M + m0 + m) * COLS + i0 * TAPS + t;
                if (GAUSSIAN) {
                    parts[part * REGIONS * REGION + element] = mean[m * RUN + t];
                    parts[(part * REGIONS + 1u) * REGION + element] = noisy[m * RUN + t] * spread(element);
                } else {
                    parts[part * REGIONS * REGION + element] = sum[m * RUN + t];
                }
            }
        }
    }
}
