//! Keyed noise: the same integers and uniforms as `wgsl/lib/noise.wgsl`, and normals that agree to
//! rounding.
//!
//! Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) maps a
//! 128-bit counter under a 64-bit key to 128 random bits. Our counter is
//! `(element / 4, example, draw, parameter)` and our key is the seed, so a random number is a pure
//! function of (seed, draw, parameter, example, element): nothing is stored, nothing is sequential,
//! and any device can make any element of any weight by itself. One call serves four elements.
//!
//! Normals come from Box-Muller with our own polynomials. The built-in `log`, `sin` and `cos` of
//! WGSL may be off by 2^-11; with the polynomials a draw is the same network on every device.

/// Names one random tensor. The remaining key fields, example and element, are positions in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoiseKey {
    /// Start of all chance, Philox's key.
    pub seed: u64,
    /// Which draw of the weights, or which step of training.
    pub draw: u32,
    /// Which parameter of the network.
    pub parameter: u32,
    /// Identity of the first example of a batch. Parts of one batch that are computed apart (gradient
    /// accumulation, several devices) keep their noise by setting where they begin.
    pub first_example: u32,
}

impl NoiseKey {
    /// Four random words: those of elements `4 * block .. 4 * block + 4`.
    #[inline(always)]
    pub fn bits(&self, example: u32, block: u32) -> [u32; 4] {
        let example = self.first_example.wrapping_add(example);
        philox(
            [block, example, self.draw, self.parameter],
            [self.seed as u32, (self.seed >> 32) as u32],
        )
    }

    /// The standard normal of one element. `fill_normals` is the quick way to many.
    pub fn normal(&self, example: u32, element: u32) -> f32 {
        normals(self.bits(example, element / 4))[element as usize % 4]
    }

    /// The uniform of one element, in the open interval (0, 1).
    pub fn uniform(&self, example: u32, element: u32) -> f32 {
        uniform(self.bits(example, element / 4)[element as usize % 4])
    }

    /// The key of draw `draw + offset`.
    pub fn later(self, offset: u32) -> Self {
        Self {
            draw: self.draw.wrapping_add(offset),
            ..self
        }
    }

    /// Writes the normals of elements `first .. first + out.len()` of one example.
    ///
    /// Branch-free over many counters at a time, so that it vectorises with whatever the caller
    /// was compiled for; a caller in a `#[target_feature]` function gets that instruction set.
    #[inline(always)]
    pub fn fill_normals(&self, example: u32, first: u32, out: &mut [f32]) {
        let mut block = first / 4;
        let mut rest = out;
        if !first.is_multiple_of(4) {
            let skip = (first % 4) as usize;
            let four = normals(self.bits(example, block));
            let (now, later) = rest.split_at_mut(rest.len().min(4 - skip));
            now.copy_from_slice(&four[skip..skip + now.len()]);
            rest = later;
            block = block.wrapping_add(1);
        }
        let (rest, block) = self.fill_tiles::<MANY>(example, block, rest);
        let (rest, block) = self.fill_tiles::<FEW>(example, block, rest);
        if !rest.is_empty() {
            let mut last = [[0.0; 4]; FEW];
            Tile::new().fill(self, example, block, &mut last);
            rest.copy_from_slice(&last.as_flattened()[..rest.len()]);
        }
    }

    /// Fills whole tiles; returns what is left, and its first block.
    #[inline(always)]
    fn fill_tiles<'o, const N: usize>(
        &self,
        example: u32,
        block: u32,
        out: &'o mut [f32],
    ) -> (&'o mut [f32], u32) {
        let filled = out.len() / (4 * N) * N;
        let (now, rest) = out.split_at_mut(4 * filled);
        let (tiles, _) = now.as_chunks_mut::<4>().0.as_chunks_mut::<N>();
        let mut tile = Tile::<N>::new();
        for (n, out) in tiles.iter_mut().enumerate() {
            tile.fill(self, example, block.wrapping_add((n * N) as u32), out);
        }
        (rest, block.wrapping_add(filled as u32))
    }
}

/// Counters of the tiles that [`NoiseKey::fill_normals`] is made of: enough to keep a step busy, and few
/// at the end of a run, so that little is made in vain.
const MANY: usize = 32;
const FEW: usize = 8;

/// `N` counters, each of whose steps is done for all of them before the next step, so that a step's
/// constants stay in registers. Loops rather than `map`, which is a function of its own and would
/// lose the caller's instruction set. Aligned, because a register that lies across two cache lines is
/// read and written twice.
#[repr(align(64))]
struct Tile<const N: usize> {
    /// Words of the counters, in the lower halves.
    words: [[u64; N]; 4],
    /// A counter makes two pairs of normals, each of two words.
    radius_words: [[u32; 2]; N],
    angle_words: [[u32; 2]; N],
    squares: [[f32; 2]; N],
}

impl<const N: usize> Tile<N> {
    #[inline(always)]
    fn new() -> Self {
        Self {
            words: [[0; N]; 4],
            radius_words: [[0; 2]; N],
            angle_words: [[0; 2]; N],
            squares: [[0.0; 2]; N],
        }
    }

    /// The normals of `N` blocks from `block` on.
    #[inline(always)]
    fn fill(&mut self, key: &NoiseKey, example: u32, block: u32, out: &mut [[f32; 4]; N]) {
        self.philox(key, example, block);
        let words = self.radius_words.as_flattened();
        let squares = self.squares.as_flattened_mut();
        for pair in 0..2 * N {
            squares[pair] = radius_squared(words[pair]);
        }
        let words = self.angle_words.as_flattened();
        let out = out.as_flattened_mut();
        for pair in 0..2 * N {
            // The root here, since the polynomials of the angle fill the time that it takes.
            let [cos, sin] = scaled_cos_sin(squares[pair].sqrt(), words[pair]);
            out[2 * pair] = cos;
            out[2 * pair + 1] = sin;
        }
    }

    /// The words of [`NoiseKey::bits`] for `N` blocks from `block` on.
    ///
    /// Two rounds for all counters before the next two, which is a tenth faster than ten in a row,
    /// where every round waits for the one before it.
    #[inline(always)]
    fn philox(&mut self, key: &NoiseKey, example: u32, block: u32) {
        let [a, b, c, d] = &mut self.words;
        let example = u64::from(key.first_example.wrapping_add(example));
        let (draw, parameter) = (u64::from(key.draw), u64::from(key.parameter));
        let mut keys = [key.seed as u32, (key.seed >> 32) as u32];
        for n in 0..N {
            let block = u64::from(block.wrapping_add(n as u32));
            [a[n], b[n], c[n], d[n]] = two_rounds([block, example, draw, parameter], keys);
        }
        for _ in 0..3 {
            keys = later(later(keys));
            for n in 0..N {
                [a[n], b[n], c[n], d[n]] = two_rounds([a[n], b[n], c[n], d[n]], keys);
            }
        }
        keys = later(later(keys));
        for n in 0..N {
            let [a, b, c, d] = two_rounds([a[n], b[n], c[n], d[n]], keys);
            self.radius_words[n] = [a as u32, c as u32];
            self.angle_words[n] = [b as u32, d as u32];
        }
    }
}

/// Two rounds of Philox. A word lives in the lower half of 64 bits and the upper half is left as it
/// comes: that is how vector units multiply 32 bits by 32, so no round has to shuffle lanes.
#[inline(always)]
fn two_rounds([mut a, mut b, mut c, mut d]: [u64; 4], mut keys: [u32; 2]) -> [u64; 4] {
    for _ in 0..2 {
        let p = (a & 0xFFFF_FFFF) * MULTIPLIERS[0];
        let q = (c & 0xFFFF_FFFF) * MULTIPLIERS[1];
        // The key first, as it need not wait for the product.
        a = (q >> 32) ^ (b ^ u64::from(keys[0]));
        c = (p >> 32) ^ (d ^ u64::from(keys[1]));
        (b, d) = (q, p);
        keys = later(keys);
    }
    [a, b, c, d]
}

/// The keys of the next round.
#[inline(always)]
fn later([k0, k1]: [u32; 2]) -> [u32; 2] {
    [k0.wrapping_add(WEYL[0]), k1.wrapping_add(WEYL[1])]
}

const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Philox 4x32-10.
#[inline(always)]
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let [mut a, mut b, mut c, mut d] = counter;
    let [mut k0, mut k1] = key;
    for _ in 0..10 {
        let p = u64::from(a) * MULTIPLIERS[0];
        let q = u64::from(c) * MULTIPLIERS[1];
        (a, b, c, d) = (
            (q >> 32) as u32 ^ b ^ k0,
            q as u32,
            (p >> 32) as u32 ^ d ^ k1,
            p as u32,
        );
        k0 = k0.wrapping_add(WEYL[0]);
        k1 = k1.wrapping_add(WEYL[1]);
    }
    [a, b, c, d]
}

/// The centre of one of 2^23 equal cells of (0, 1): exact in f32, never 0 and never 1.
#[inline(always)]
pub fn uniform(bits: u32) -> f32 {
    ((bits >> 9) as i32 as f32 + 0.5) * (1.0 / 8_388_608.0)
}

/// Four standard normals from four random words (Box-Muller on two pairs).
#[inline(always)]
pub fn normals(bits: [u32; 4]) -> [f32; 4] {
    let [a, b] = box_muller(bits[0], bits[1]);
    let [c, d] = box_muller(bits[2], bits[3]);
    [a, b, c, d]
}

#[inline(always)]
fn box_muller(radius_bits: u32, angle_bits: u32) -> [f32; 2] {
    scaled_cos_sin(radius_squared(radius_bits).sqrt(), angle_bits)
}

/// `-2 ln(uniform(bits))`. Coefficients are spelled as in the shader.
#[inline(always)]
fn radius_squared(bits: u32) -> f32 {
    // The uniform, exactly: 1 + k / 2^23 less 1 - 2^-24.
    let value = f32::from_bits((bits >> 9) | 0x3F80_0000) - 0.999_999_94;
    // Split value = (1 + m) * 2^exponent with 1 + m in [2/3, 4/3).
    let shifted = value.to_bits().wrapping_sub(TWO_THIRDS) as i32;
    let m = f32::from_bits((shifted as u32 & 0x007F_FFFF) + TWO_THIRDS) - 1.0;
    let exponent = (shifted >> 23) as f32;
    // -2 ln(1 + m) / m, in pairs (Estrin), because a chain would keep the processor waiting.
    let square = m * m;
    let low = (-1.999_995_7 + 1.000_061_5 * m) + (-0.667_034 + 0.496_307_67 * m) * square;
    let high = (-0.391_180_95 + 0.391_697_02 * m) - 0.365_615_7 * square;
    let p = low + high * (square * square);
    p * m + exponent * MINUS_TWO_LN_2
}

const TWO_THIRDS: u32 = 0x3F2A_AAAB;
const MINUS_TWO_LN_2: f32 = -1.386_294_4;

/// Cosine and sine of a uniformly random angle times a radius: two bits choose the quadrant, 24 the
/// place in it.
#[inline(always)]
fn scaled_cos_sin(radius: f32, bits: u32) -> [f32; 2] {
    // Odd multiples of 2^-25 quarters of a turn, from -1/2 to 1/2.
    let quarters = ((bits << 2) as i32 >> 7 | 1) as f32 * (1.0 / 33_554_432.0);
    let square = quarters * quarters;
    let sin = (((-4.601_66e-3 * square + 7.968_003e-2) * square - 6.459_634_6e-1) * square
        + std::f32::consts::FRAC_PI_2)
        * quarters;
    let cos = ((-2.042_625e-2 * square + 2.536_063_6e-1) * square - 1.233_698) * square + 1.0;
    let odd = ((bits << 1) as i32) < 0;
    let (cos, sin) = if odd { (sin, cos) } else { (cos, sin) };
    // Half a turn changes both signs, a quarter that of the new cosine.
    let signed = |value: f32, sign: u32| f32::from_bits(value.to_bits() ^ (sign & 0x8000_0000));
    let radius = signed(radius, bits);
    [signed(radius, bits << 1) * cos, radius * sin]
}
