//! The two register-blocked loops that all convolution passes are made of. Neither needs an
//! im2col copy: a tap is an offset into a padded image.
//!
//! Blocks are inlined, to be compiled for the lanes of their task; but not for debugging, where the arrays of all kinds of
//! blocks together would not fit the stack of a thread.

use super::lanes::{LANES, Lanes};

/// One term of a sum: where its weight and where its image value lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tap {
    pub weight: u32,
    pub image: u32,
}

/// Up to eight outputs side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    /// Offset of the first output's window in the padded image.
    pub base: u32,
    /// Offset of the first output in its plane.
    pub out: u32,
    /// Number of real outputs, `1..=8`.
    pub valid: u32,
}

/// Taps, with the largest of their offsets: found once, since they bound the loads of every run.
pub(super) struct Taps {
    list: Vec<Tap>,
    weight: usize,
    image: usize,
}

impl FromIterator<Tap> for Taps {
    fn from_iter<I: IntoIterator<Item = Tap>>(taps: I) -> Self {
        let list: Vec<Tap> = taps.into_iter().collect();
        let largest = |of: fn(&Tap) -> u32| list.iter().map(of).max().unwrap_or(0) as usize;
        Self {
            weight: largest(|tap| tap.weight),
            image: largest(|tap| tap.image),
            list,
        }
    }
}

/// Tiles, with the largest of their offsets, as in [`Taps`].
pub(super) struct Tiles {
    list: Vec<Tile>,
    /// Elements between successive outputs of a tile.
    step: usize,
    base: usize,
    out: usize,
    /// Whether every second tile begins in the image where the one before it ends.
    joined: bool,
}

impl Tiles {
    pub fn new(list: Vec<Tile>, step: usize) -> Self {
        let last = |tile: &Tile| tile.out as usize + (tile.valid as usize - 1) * step;
        Self {
            base: list.iter().map(|tile| tile.base).max().unwrap_or(0) as usize,
            out: list.iter().map(last).max().unwrap_or(0),
            joined: list
                .chunks_exact(2)
                .all(|two| two[0].base + LANES as u32 == two[1].base),
            step,
            list,
        }
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Tile> {
        self.list.iter()
    }

    /// Whether lanes of this type may load two tiles as one.
    #[inline(always)]
    fn joined<L: Lanes>(&self) -> bool {
        L::TILES > 1 && self.joined
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }
}

/// Tiles that meet all planes before the next ones do: so many that their windows in all channels stay
/// in the first-level cache, while the weights stream by in order.
#[inline(always)]
fn tiles_at_once<L: Lanes>(taps: usize) -> usize {
    match taps {
        _ if L::TILES > 1 => 8,
        0..=200 => 8,
        201..=400 => 4,
        _ => 2,
    }
}

/// What [`Outer::run`] computes: `out[j][tile] = sum_tap weight[j * weight_pitch + tap] * image[tile + tap]`.
pub(super) struct Outer<'a> {
    pub weight: &'a [f32],
    pub weight_pitch: usize,
    pub taps: &'a Taps,
    pub image: &'a [f32],
    pub tiles: &'a Tiles,
    /// Elements between the planes of successive `j` in the output.
    pub out_pitch: usize,
}

impl Outer<'_> {
    /// All `count` planes, into `out`.
    #[inline(always)]
    pub fn run<L: Lanes>(&self, count: usize, out: &mut [f32]) {
        self.check(count, out.len());
        match self.tiles.joined::<L>() {
            true => self.all_planes::<L::Joined>(count, out),
            false => self.all_planes::<L>(count, out),
        }
    }

    #[inline(always)]
    fn all_planes<L: Lanes>(&self, count: usize, out: &mut [f32]) {
        let at_once = tiles_at_once::<L>(self.taps.list.len());
        for tiles in self.tiles.list.chunks(at_once) {
            let mut first = 0;
            while first < count {
                first += self.some_planes::<L>(first, count - first, tiles, out);
            }
        }
    }

    /// Planes of the largest blocks, by which the weights of a plane are best made.
    #[inline(always)]
    pub fn planes_at_once<L: Lanes>() -> usize {
        if L::TILES > 1 { 8 } else { 6 }
    }

    /// As many planes as fit the registers well; returns how many. At least eight sums hide the latency of
    /// an addition, so few planes take more tiles.
    ///
    /// With 32 registers, eight planes times two keep 16 sums, 2 values and 8 weights in them: compilers load all
    /// weights of a tap at once. Few loads of values count, since most of them lie across two cache lines. With 16
    /// registers, six planes times two keep 12 sums, 2 values and 2 weights.
    #[inline(always)]
    fn some_planes<L: Lanes>(
        &self,
        first: usize,
        left: usize,
        tiles: &[Tile],
        out: &mut [f32],
    ) -> usize {
        match (L::TILES > 1, left) {
            (false, 1) => self.planes::<L, 1, 8>(first, tiles, out),
            (true, 1) => self.planes::<L, 1, 4>(first, tiles, out),
            (true, 2) => self.planes::<L, 2, 4>(first, tiles, out),
            (true, 3 | 6) => self.planes::<L, 3, 4>(first, tiles, out),
            (true, 5) => self.planes::<L, 5, 4>(first, tiles, out),
            (true, 4 | 7) => self.planes::<L, 4, 4>(first, tiles, out),
            (true, _) => self.planes::<L, 8, 2>(first, tiles, out),
            (false, 2) => self.planes::<L, 2, 4>(first, tiles, out),
            (false, 3) => self.planes::<L, 3, 2>(first, tiles, out),
            (false, 4 | 7 | 8) => self.planes::<L, 4, 2>(first, tiles, out),
            (false, 5) => self.planes::<L, 5, 2>(first, tiles, out),
            (false, _) => self.planes::<L, 6, 2>(first, tiles, out),
        }
    }

    /// Everything the unchecked loads below rely on.
    #[inline(always)]
    fn check(&self, count: usize, out_len: usize) {
        let (taps, tiles) = (self.taps, self.tiles);
        assert!(count > 0 && taps.weight + (count - 1) * self.weight_pitch < self.weight.len());
        assert!(tiles.base + taps.image + LANES <= self.image.len());
        assert!((count - 1) * self.out_pitch + tiles.out < out_len);
    }

    /// `M` planes, `V` registers of tiles at a time; returns `M`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn planes<L: Lanes, const M: usize, const V: usize>(
        &self,
        first: usize,
        tiles: &[Tile],
        out: &mut [f32],
    ) -> usize {
        let mut groups = tiles.chunks_exact(V * L::TILES);
        for group in &mut groups {
            self.block::<L, M, V>(first, group, out);
        }
        let mut rest = groups.remainder();
        while !rest.is_empty() {
            let done = match rest.len() / L::TILES {
                0 => self.block::<L::Tile, M, 1>(first, rest, out),
                1 => self.block::<L, M, 1>(first, rest, out),
                2 | 3 => self.block::<L, M, 2>(first, rest, out),
                _ => self.block::<L, M, 4>(first, rest, out),
            };
            rest = &rest[done..];
        }
        M
    }

    /// `M` planes of the first tiles, as many as fill `V` registers; returns how many.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn block<L: Lanes, const M: usize, const V: usize>(
        &self,
        first: usize,
        tiles: &[Tile],
        out: &mut [f32],
    ) -> usize {
        let tiles = &tiles[..V * L::TILES];
        // Lanes are loaded in loops: `from_fn` is a function of its own, without wide lanes.
        let zero = L::splat(0.0);
        let mut sums = [[zero; V]; M];
        // SAFETY: `check` proved every offset formed here to be inside `weight` and `image`.
        unsafe {
            let weight = self.weight.as_ptr().add(first * self.weight_pitch);
            let at = |tile: usize| self.image.as_ptr().add(tiles[tile].base as usize);
            let image: [[*const f32; 2]; V] =
                std::array::from_fn(|v| [at(v * L::TILES), at((v + 1) * L::TILES - 1)]);
            for tap in &self.taps.list {
                let mut values = [zero; V];
                for (value, [a, b]) in values.iter_mut().zip(image) {
                    *value = L::load_tiles(a.add(tap.image as usize), b.add(tap.image as usize));
                }
                let weight = weight.add(tap.weight as usize);
                for (j, sums) in sums.iter_mut().enumerate() {
                    let factor = L::splat(*weight.add(j * self.weight_pitch));
                    for (sum, value) in sums.iter_mut().zip(values) {
                        *sum = value.mul_add(factor, *sum);
                    }
                }
            }
        }
        let planes = out.get_mut(first * self.out_pitch..).unwrap_or_default();
        self.write(sums, tiles, planes);
        tiles.len()
    }

    /// Sums of a block, into its tiles of each plane. What names a sum stays so short that compilers write it out for
    /// every one of them: a loop would need them in memory, and would have them there from the first tap on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn write<L: Lanes, const M: usize, const V: usize>(
        &self,
        sums: [[L; V]; M],
        tiles: &[Tile],
        planes: &mut [f32],
    ) {
        let whole = |tile: &Tile| tile.valid as usize == LANES;
        if self.tiles.step == 1 && tiles.iter().all(whole) {
            let planes = planes.as_mut_ptr();
            for j in 0..M {
                for v in 0..V {
                    let (a, b) = (tiles[v * L::TILES].out, tiles[(v + 1) * L::TILES - 1].out);
                    // SAFETY: `check` proved the last eight of each to be inside `out`.
                    unsafe {
                        let plane = planes.add(j * self.out_pitch);
                        sums[j][v].store_tiles(plane.add(a as usize), plane.add(b as usize));
                    }
                }
            }
            return;
        }
        let mut values = [[[[0.0; LANES]; 2]; V]; M];
        for j in 0..M {
            for v in 0..V {
                let [a, b] = &mut values[j][v];
                // SAFETY: each array holds eight f32.
                unsafe { sums[j][v].store_tiles(a.as_mut_ptr(), b.as_mut_ptr()) };
            }
        }
        for (j, values) in values.iter().enumerate() {
            let plane = &mut planes[j * self.out_pitch..];
            let values = values.iter().flat_map(|two| &two[..L::TILES]);
            for (tile, values) in tiles.iter().zip(values) {
                for (lane, value) in values[..tile.valid as usize].iter().enumerate() {
                    plane[tile.out as usize + lane * self.tiles.step] = *value;
                }
            }
        }
    }
}

/// What one example adds to a weight gradient.
#[derive(Clone, Copy, Default)]
pub(super) struct Product<'a> {
    /// `[count, tiles * 8]`, zero where a tile has no output.
    pub rows: &'a [f32],
    pub image: &'a [f32],
}

/// What [`Inner::run`] computes:
/// `out[j][k] += sum_product sum_tile sum_lane rows[j][tile, lane] * image[tile + offset_k]`.
pub(super) struct Inner<'a> {
    /// Of all examples with one weight: the lanes of a sum are added up once for all of them.
    pub products: &'a [Product<'a>],
    pub row_pitch: usize,
    pub tiles: &'a Tiles,
    /// Image offset of every column.
    pub offsets: &'a [u32],
}

impl Inner<'_> {
    /// Adds to `out[j * out_pitch + k]` for `count` rows and every column.
    #[inline(always)]
    pub fn run<L: Lanes>(&self, count: usize, out: &mut [f32], out_pitch: usize) {
        self.check(count, out.len(), out_pitch);
        match self.tiles.joined::<L>() {
            true => self.all_rows::<L::Joined>(count, out, out_pitch),
            false => self.all_rows::<L>(count, out, out_pitch),
        }
    }

    #[inline(always)]
    fn all_rows<L: Lanes>(&self, count: usize, out: &mut [f32], out_pitch: usize) {
        let mut first = 0;
        while first < count {
            let out = &mut out[first * out_pitch..];
            first += match (L::TILES > 1, count - first) {
                (_, 1) => self.columns::<L, 1, 9>(first, out, out_pitch),
                (_, 2) => self.columns::<L, 2, 4>(first, out, out_pitch),
                (_, 3) => self.columns::<L, 3, 3>(first, out, out_pitch),
                (true, 4 | 7 | 8) => self.columns::<L, 4, 4>(first, out, out_pitch),
                (true, 5) => self.columns::<L, 5, 4>(first, out, out_pitch),
                (true, _) => self.columns::<L, 6, 4>(first, out, out_pitch),
                (false, _) => self.columns::<L, 4, 3>(first, out, out_pitch),
            };
        }
    }

    /// Everything the unchecked loads below rely on.
    #[inline(always)]
    fn check(&self, count: usize, out_len: usize, out_pitch: usize) {
        let offset = self.offsets.iter().max().copied().unwrap_or(0) as usize;
        assert!(count > 0 && (count - 1) * out_pitch + self.offsets.len() <= out_len);
        let rows = (count - 1) * self.row_pitch + self.tiles.len() * LANES;
        let image = self.tiles.base + offset + LANES;
        for product in self.products {
            assert!(rows <= product.rows.len() && image <= product.image.len());
        }
    }

    /// `M` rows, `N` columns at a time; returns `M`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn columns<L: Lanes, const M: usize, const N: usize>(
        &self,
        first: usize,
        out: &mut [f32],
        out_pitch: usize,
    ) -> usize {
        let mut k = 0;
        while k < self.offsets.len() {
            let out = &mut out[k..];
            k += match self.offsets.len() - k {
                left if left >= N => self.block::<L, M, N>(first, k, out, out_pitch),
                1 => self.block::<L, M, 1>(first, k, out, out_pitch),
                2 | 3 => self.block::<L, M, 2>(first, k, out, out_pitch),
                _ => self.block::<L, M, 4>(first, k, out, out_pitch),
            };
        }
        M
    }

    /// `M` rows of `N` columns; returns `N`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn block<L: Lanes, const M: usize, const N: usize>(
        &self,
        first: usize,
        column: usize,
        out: &mut [f32],
        out_pitch: usize,
    ) -> usize {
        let offsets = &self.offsets[column..column + N];
        let zero = L::splat(0.0);
        let mut sums = [[zero; N]; M];
        for product in self.products {
            // SAFETY: `check` proved every offset formed here to be inside `rows` and `image`.
            unsafe {
                let rows = product.rows.as_ptr().add(first * self.row_pitch);
                let image: [*const f32; N] =
                    std::array::from_fn(|n| product.image.as_ptr().add(offsets[n] as usize));
                let row = |j: usize, tile: usize| rows.add(j * self.row_pitch + tile * LANES);
                let registers = self.tiles.list.chunks_exact(L::TILES);
                let rest = registers.remainder();
                for (r, tiles) in registers.enumerate() {
                    let [a, b] = [tiles[0], tiles[L::TILES - 1]].map(|tile| tile.base as usize);
                    let mut values = [zero; N];
                    for (value, image) in values.iter_mut().zip(image) {
                        *value = L::load_tiles(image.add(a), image.add(b));
                    }
                    for (j, sums) in sums.iter_mut().enumerate() {
                        let row = L::load(row(j, r * L::TILES));
                        for (sum, value) in sums.iter_mut().zip(values) {
                            *sum = value.mul_add(row, *sum);
                        }
                    }
                }
                for tile in rest {
                    let mut values = [zero; N];
                    for (value, image) in values.iter_mut().zip(image) {
                        *value = L::load_one(image.add(tile.base as usize));
                    }
                    for (j, sums) in sums.iter_mut().enumerate() {
                        let row = L::load_one(row(j, self.tiles.len() - 1));
                        for (sum, value) in sums.iter_mut().zip(values) {
                            *sum = value.mul_add(row, *sum);
                        }
                    }
                }
            }
        }
        // As in `Outer::write`, what names a sum is short.
        let mut kept = [[[0.0; 2 * LANES]; N]; M];
        for j in 0..M {
            for n in 0..N {
                let kept = kept[j][n].as_mut_ptr();
                // SAFETY: two tiles can be written there.
                unsafe { sums[j][n].store_tiles(kept, kept.add(LANES)) };
            }
        }
        for (j, kept) in kept.iter().enumerate() {
            let out = &mut out[j * out_pitch..][..N];
            for (out, kept) in out.chunks_mut(4).zip(kept.chunks(4)) {
                // Four sums at a time take half the instructions of four single ones.
                let mut four = [zero; 4];
                for (sum, kept) in four.iter_mut().zip(kept) {
                    // SAFETY: two tiles can be read there.
                    *sum = unsafe { L::load(kept.as_ptr()) };
                }
                for (out, sum) in out.iter_mut().zip(L::sum4(four)) {
                    *out += sum;
                }
            }
        }
        N
    }
}
