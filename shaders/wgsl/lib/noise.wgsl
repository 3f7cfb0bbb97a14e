// Keyed noise, the transliteration of src/noise.rs: identical integers and uniforms, normals equal to
// rounding.
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

// The uniforms of two words, in the open interval (0, 1), exactly: 1 + k / 2^23 less 1 - 2^-24.
fn uniforms(bits: vec2<u32>) -> vec2<f32> {
    return bitcast<vec2<f32>>((bits >> vec2<u32>(9u)) | vec2<u32>(0x3F800000u)) - 0.99999994;
}

// -2 ln of the uniforms of two words.
fn noise_radius_squared(bits: vec2<u32>) -> vec2<f32> {
    let value = uniforms(bits);
    // Split value = (1 + m) * 2^exponent with 1 + m in [2/3, 4/3).
    let shifted = bitcast<vec2<i32>>(value) - vec2<i32>(0x3F2AAAAB);
    let mantissa = (shifted & vec2<i32>(0x007FFFFF)) + vec2<i32>(0x3F2AAAAB);
    let m = bitcast<vec2<f32>>(mantissa) - 1.0;
    let exponent = vec2<f32>(shifted >> vec2<u32>(23u));
    var p = -0.3656157 * m + 0.39169702;
    p = p * m - 0.39118095;
    p = p * m + 0.49630767;
    p = p * m - 0.667034;
    p = p * m + 1.0000615;
    p = p * m - 1.9999957;
    return p * m + exponent * -1.3862944;
}

fn noise_signed(value: vec2<f32>, sign: vec2<u32>) -> vec2<f32> {
    return bitcast<vec2<f32>>(bitcast<vec2<u32>>(value) ^ (sign & vec2<u32>(0x80000000u)));
}

// Standard normals from random words: Box-Muller on the pairs (x, y) and (z, w).
fn normals(bits: vec4<u32>) -> vec4<f32> {
    let angle = bits.yw;
    // Odd multiples of 2^-25 quarters of a turn, from -1/2 to 1/2.
    let place = (bitcast<vec2<i32>>(angle << vec2<u32>(2u)) >> vec2<u32>(7u)) | vec2<i32>(1);
    let quarters = vec2<f32>(place) * (1.0 / 33554432.0);
    let square = quarters * quarters;
    let sine = (((-4.60166e-3 * square + 7.968003e-2) * square - 6.4596346e-1) * square + 1.5707963)
        * quarters;
    let cosine = ((-2.042625e-2 * square + 2.5360636e-1) * square - 1.233698) * square + 1.0;
    let second = angle << vec2<u32>(1u);
    let odd = second >= vec2<u32>(0x80000000u);
    // Half a turn changes both signs, a quarter that of the new cosine.
    let radius = noise_signed(sqrt(noise_radius_squared(bits.xz)), angle);
    let c = noise_signed(radius, second) * select(cosine, sine, odd);
    let s = radius * select(sine, cosine, odd);
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
