// Keyed noise, the transliteration of src/noise.rs: identical integers, normals equal to rounding.
// The built-in log, sin and cos are avoided on purpose: they may be off by 2^-11.

struct NoiseKey {
    seed: vec2<u32>,
    draw: u32,
    parameter: u32,
    first_example: u32,
}

// Loaded once per invocation: a load inside a loop costs more than the generator on some adapters.
var<private> noise_key: NoiseKey;

fn load_noise_key() {
    noise_key = NoiseKey(vec2<u32>(info[0], info[1]), info[2], info[3], info[4]);
}

// High and low word of a * b; WGSL has no wide product.
fn wide_product(a: u32, b: u32) -> vec2<u32> {
    let a_low = a & 0xFFFFu;
    let a_high = a >> 16u;
    let b_low = b & 0xFFFFu;
    let b_high = b >> 16u;
    let middle = a_high * b_low + ((a_low * b_low) >> 16u);
    let carry = a_low * b_high + (middle & 0xFFFFu);
    return vec2<u32>(a_high * b_high + (middle >> 16u) + (carry >> 16u), a * b);
}

// Philox 4x32-10.
fn philox(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
    var c = counter;
    var k = key;
    for (var round = 0u; round < 10u; round += 1u) {
        let p = wide_product(c.x, 0xD2511F53u);
        let q = wide_product(c.z, 0xCD9E8D57u);
        c = vec4<u32>(q.x ^ c.y ^ k.x, q.y, p.x ^ c.w ^ k.y, p.y);
        k += vec2<u32>(0x9E3779B9u, 0xBB67AE85u);
    }
    return c;
}

// Four random words: those of elements 4 * block .. 4 * block + 4.
fn noise_bits(example: u32, block: u32) -> vec4<u32> {
    return philox(
        vec4<u32>(block, noise_key.first_example + example, noise_key.draw, noise_key.parameter),
        noise_key.seed,
    );
}

fn noise_ln(value: vec2<f32>) -> vec2<f32> {
    let bits = bitcast<vec2<i32>>(value);
    let exponent = (bits - vec2<i32>(0x3F3504F3)) >> vec2<u32>(23u);
    let m = bitcast<vec2<f32>>(bits - (exponent << vec2<u32>(23u))) - vec2<f32>(1.0);
    var p = vec2<f32>(7.0376836e-2);
    p = p * m - 1.151461e-1;
    p = p * m + 1.1676999e-1;
    p = p * m - 1.2420141e-1;
    p = p * m + 1.4249323e-1;
    p = p * m - 1.6668057e-1;
    p = p * m + 2.0000715e-1;
    p = p * m - 2.4999994e-1;
    p = p * m + 3.333333e-1;
    let square = m * m;
    p = p * m * square - 0.5 * square;
    return vec2<f32>(exponent) * 0.6931472 + (m + p);
}

fn noise_flip(value: vec2<f32>, sign: vec2<u32>) -> vec2<f32> {
    return bitcast<vec2<f32>>(bitcast<vec2<u32>>(value) ^ ((sign & vec2<u32>(2u)) << vec2<u32>(30u)));
}

// Standard normals from random words: Box-Muller on the pairs (x, y) and (z, w).
fn normals(bits: vec4<u32>) -> vec4<f32> {
    let uniform_bits = vec2<f32>(vec2<i32>(bits.xz >> vec2<u32>(9u)));
    let radius = sqrt(-2.0 * noise_ln((uniform_bits + 0.5) * (1.0 / 8388608.0)));
    let quadrant = bits.yw >> vec2<u32>(30u);
    let place = vec2<f32>(bitcast<vec2<i32>>(bits.yw << vec2<u32>(2u)) >> vec2<u32>(8u));
    let angle = (place + 0.5) * (1.0 / 16777216.0) * 1.5707964;
    let square = angle * angle;
    let sine = ((-1.9515296e-4 * square + 8.332161e-3) * square - 1.6666655e-1) * square * angle
        + angle;
    let cosine = ((2.4433157e-5 * square - 1.3887316e-3) * square + 4.1666646e-2) * square * square
        - 0.5 * square + 1.0;
    let swap = (quadrant & vec2<u32>(1u)) == vec2<u32>(1u);
    let c = radius * noise_flip(select(cosine, sine, swap), quadrant + vec2<u32>(1u));
    let s = radius * noise_flip(select(sine, cosine, swap), quadrant);
    return vec4<f32>(c.x, s.x, c.y, s.y);
}

// Elements shift .. shift + 4 of the eight given.
fn window4(low: vec4<f32>, high: vec4<f32>, shift: u32) -> vec4<f32> {
    let by_two = select(low, vec4<f32>(low.zw, high.xy), shift >= 2u);
    let tail = select(high.x, high.z, shift >= 2u);
    return select(by_two, vec4<f32>(by_two.yzw, tail), (shift & 1u) == 1u);
}

// The normals of elements element .. element + 4.
fn noise4(example: u32, element: u32) -> vec4<f32> {
    let low = normals(noise_bits(example, element / 4u));
    if (ALIGNED) {
        return low;
    }
    let high = normals(noise_bits(example, element / 4u + 1u));
    return window4(low, high, element % 4u);
}
