//! Keyed noise: the same integers as `wgsl/lib/noise.wgsl`, and normals that agree to rounding.
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
    pub seed: u64,
    pub draw: u32,
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
    /// Branch-free over [`LANES`] counters at a time, so that it vectorises with whatever the
    /// caller was compiled for; a caller in a `#[target_feature]` function gets that instruction set.
    #[inline(always)]
    pub fn fill_normals(&self, example: u32, first: u32, out: &mut [f32]) {
        let mut tile = Tile::new();
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
        let (blocks, _) = rest.as_chunks_mut::<4>();
        let (groups, _) = blocks.as_chunks_mut::<LANES>();
        let done = groups.len() * 4 * LANES;
        for groups in groups.chunks_mut(GROUPS) {
            tile.fill(self, example, block, groups);
            block = block.wrapping_add((groups.len() * LANES) as u32);
        }
        let rest = &mut rest[done..];
        if !rest.is_empty() {
            let mut last = [[[0.0; 4]; LANES]];
            tile.fill(self, example, block, &mut last);
            rest.copy_from_slice(&last.as_flattened().as_flattened()[..rest.len()]);
        }
    }
}

/// Lanes in which one step of the work is done for several groups before the next step, so that a
/// step's constants stay in registers. Loops rather than `map`, which is a function of its own and
/// would lose the caller's instruction set.
struct Tile {
    words: [[[u32; LANES]; 4]; GROUPS],
    radii: [[[f32; LANES]; 2]; GROUPS],
}

impl Tile {
    #[inline(always)]
    fn new() -> Self {
        Self {
            words: [[[0; LANES]; 4]; GROUPS],
            radii: [[[0.0; LANES]; 2]; GROUPS],
        }
    }

    /// The normals of `LANES` blocks for each of `out`, from `block` on.
    #[inline(always)]
    fn fill(&mut self, key: &NoiseKey, example: u32, block: u32, out: &mut [[[f32; 4]; LANES]]) {
        let groups = out.len().min(GROUPS);
        for (group, words) in self.words[..groups].iter_mut().enumerate() {
            *words = key.words(example, block.wrapping_add((group * LANES) as u32));
        }
        let steps = self.words[..groups].iter().zip(&mut self.radii);
        for (words, radii) in steps {
            let mut both = [[0.0; LANES]; 2];
            for lane in 0..LANES {
                both[0][lane] = radius(words[0][lane]);
                both[1][lane] = radius(words[2][lane]);
            }
            *radii = both;
        }
        let steps = self.words[..groups].iter().zip(&self.radii);
        for ((words, radii), out) in steps.zip(out) {
            let mut planes = [[0.0; LANES]; 4];
            for lane in 0..LANES {
                for pair in 0..2 {
                    let [cos, sin] = cos_sin(words[2 * pair + 1][lane]);
                    planes[2 * pair][lane] = radii[pair][lane] * cos;
                    planes[2 * pair + 1][lane] = radii[pair][lane] * sin;
                }
            }
            for (lane, four) in out.iter_mut().enumerate() {
                *four = [
                    planes[0][lane],
                    planes[1][lane],
                    planes[2][lane],
                    planes[3][lane],
                ];
            }
        }
    }
}

impl NoiseKey {
    /// `[word][lane]`: the words of [`NoiseKey::bits`] for blocks `block .. block + LANES`.
    ///
    /// A word lives in the lower half of 64 bits and the upper half is left as it comes: that is
    /// how vector units multiply 32 bits by 32, so no round has to shuffle lanes.
    #[inline(always)]
    fn words(&self, example: u32, block: u32) -> [[u32; LANES]; 4] {
        let example = u64::from(self.first_example.wrapping_add(example));
        let (draw, parameter) = (u64::from(self.draw), u64::from(self.parameter));
        let mut words = [[0; LANES]; 4];
        for lane in 0..LANES {
            let (mut a, mut b) = (u64::from(block.wrapping_add(lane as u32)), example);
            let (mut c, mut d) = (draw, parameter);
            let (mut k0, mut k1) = (self.seed as u32, (self.seed >> 32) as u32);
            for _ in 0..10 {
                let p = (a & 0xFFFF_FFFF) * MULTIPLIERS[0];
                let q = (c & 0xFFFF_FFFF) * MULTIPLIERS[1];
                a = (q >> 32) ^ b ^ u64::from(k0);
                c = (p >> 32) ^ d ^ u64::from(k1);
                (b, d) = (q, p);
                k0 = k0.wrapping_add(WEYL[0]);
                k1 = k1.wrapping_add(WEYL[1]);
            }
            words[0][lane] = a as u32;
            words[1][lane] = b as u32;
            words[2][lane] = c as u32;
            words[3][lane] = d as u32;
        }
        words
    }
}

/// Counters worked on side by side in [`NoiseKey::fill_normals`], and how many such groups a step
/// takes at most.
const LANES: usize = 8;
const GROUPS: usize = 8;

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
    let radius = radius(radius_bits);
    let [cos, sin] = cos_sin(angle_bits);
    [radius * cos, radius * sin]
}

#[inline(always)]
fn radius(bits: u32) -> f32 {
    (-2.0 * ln(uniform(bits))).sqrt()
}

/// Natural logarithm of a positive normal number, error about 1e-7 relative (Cephes' `logf`
/// polynomial). Coefficients are spelled as in the shader.
#[inline(always)]
fn ln(value: f32) -> f32 {
    // Split value = m * 2^e with m in [sqrt(1/2), sqrt(2)).
    let bits = value.to_bits() as i32;
    let exponent = (bits - 0x3F35_04F3) >> 23;
    let m = f32::from_bits((bits - (exponent << 23)) as u32) - 1.0;
    // In pairs (Estrin), because a chain of nine steps would keep the processor waiting.
    let square = m * m;
    let fourth = square * square;
    let low = (3.333_333e-1 - 2.499_999_4e-1 * m) + (2.000_071_5e-1 - 1.666_805_7e-1 * m) * square;
    let high = (1.424_932_3e-1 - 1.242_014_1e-1 * m) + (1.167_699_9e-1 - 1.151_461e-1 * m) * square;
    let p = low + (high + 7.037_683_6e-2 * fourth) * fourth;
    let p = p * m * square - 0.5 * square;
    exponent as f32 * std::f32::consts::LN_2 + (m + p)
}

/// Cosine and sine of a uniformly random angle: two bits choose the quadrant, 24 the place in it.
#[inline(always)]
fn cos_sin(bits: u32) -> [f32; 2] {
    let quadrant = bits >> 30;
    let within = (((bits << 2) as i32 >> 8) as f32 + 0.5) * (1.0 / 16_777_216.0);
    let angle = within * std::f32::consts::FRAC_PI_2;
    let square = angle * angle;
    let sin =
        ((-1.951_529_6e-4 * square + 8.332_161e-3) * square - 1.666_665_5e-1) * square * angle
            + angle;
    let cos =
        ((2.443_315_7e-5 * square - 1.388_731_6e-3) * square + 4.166_664_6e-2) * square * square
            - 0.5 * square
            + 1.0;
    let swap = quadrant & 1 == 1;
    let (cos, sin) = if swap { (sin, cos) } else { (cos, sin) };
    let flip = |value: f32, sign: u32| f32::from_bits(value.to_bits() ^ ((sign & 2) << 30));
    [flip(cos, quadrant + 1), flip(sin, quadrant)]
}
