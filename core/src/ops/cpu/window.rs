//! Where a convolution's windows lie: padded copies of images in which the values that eight
//! neighbouring outputs multiply with one tap are contiguous, whatever the stride.

use super::lanes::LANES;
use super::tiles::{Tile, Tiles};
use bayesadapter_shaders::geometry::MAX_ELEMENTS;
use bayesadapter_shaders::{Conv2d, GeometryError};

/// One axis of the forward pass.
#[derive(Clone, Copy)]
struct Axis {
    image: usize,
    kernel: usize,
    stride: usize,
    dilation: usize,
    before: usize,
    out: usize,
}

fn axes(c: &Conv2d) -> [Axis; 2] {
    let out = c.output();
    let before = [c.padding.top, c.padding.left];
    std::array::from_fn(|axis| Axis {
        image: c.image[axis],
        kernel: c.kernel[axis],
        stride: c.stride[axis],
        dilation: c.dilation[axis],
        before: before[axis],
        out: out[axis],
    })
}

/// Refuses a convolution whose padded gradient is larger than an offset into it can tell. A padded image
/// always fits: no stride is longer than it, so it takes at most twice what a checked one does.
pub(in crate::ops) fn check(c: &Conv2d) -> Result<(), GeometryError> {
    let sides = axes(c).map(|axis| reach(&classes(axis)).len);
    sides
        .iter()
        .try_fold(c.channels_out / c.groups, |all, &side| {
            all.checked_mul(side)
        })
        .filter(|&all| all <= MAX_ELEMENTS)
        .map(|_| ())
        .ok_or(GeometryError::TooLarge {
            what: "the padded gradient",
        })
}

/// A pointwise convolution sees no neighbours, so the image is one long row and tiles fill up.
pub(super) fn flattened(c: &Conv2d) -> Conv2d {
    let pointwise = c.kernel == [1, 1] && c.stride == [1, 1] && c.padding == Default::default();
    match pointwise {
        true => Conv2d {
            image: [1, c.image[0] * c.image[1]],
            ..*c
        },
        false => *c,
    }
}

/// The padded copy of an image that the forward pass and the weight gradient read. Columns are
/// sorted by their remainder modulo the stride.
pub(super) struct Windows {
    y: Axis,
    x: Axis,
    /// Columns of one remainder.
    phase: usize,
    pitch: usize,
    /// Elements of one channel.
    pub plane: usize,
    /// Offset of each tap, `[kh * kw]`.
    taps: Vec<u32>,
    pub tiles: Tiles,
}

impl Windows {
    pub fn new(c: &Conv2d) -> Self {
        let [y, x] = axes(c);
        let span =
            |axis: Axis| (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
        let phase = span(x).div_ceil(x.stride);
        let pitch = phase * x.stride;
        let taps = (0..y.kernel)
            .flat_map(|ky| (0..x.kernel).map(move |kx| (ky, kx)))
            .map(|(ky, kx)| {
                let column = kx * x.dilation;
                let row = ky * y.dilation * pitch;
                (row + column % x.stride * phase + column / x.stride) as u32
            })
            .collect();
        Self {
            y,
            x,
            phase,
            pitch,
            plane: span(y) * pitch,
            taps,
            tiles: tiles([y.out, x.out], y.stride * pitch, [x.out, 1]),
        }
    }

    /// Offset of each tap of each channel, `[channels * kh * kw]`.
    pub fn offsets(&self, channels: usize) -> Vec<u32> {
        (0..channels)
            .flat_map(|channel| {
                let plane = (channel * self.plane) as u32;
                self.taps.iter().map(move |tap| plane + tap)
            })
            .collect()
    }

    /// Zeros for `channels` planes; the borders stay zero.
    pub fn buffer(&self, channels: usize) -> Vec<f32> {
        match self.in_place() {
            true => Vec::new(),
            // A tile reads eight values even where fewer are left.
            false => vec![0.0; channels * self.plane + LANES],
        }
    }

    /// Images `[channels, h, w]` as tiles read them: where they are, or copied to their places in a
    /// [`buffer`](Self::buffer).
    pub fn view<'b>(&self, images: &'b [f32], buffer: &'b mut [f32]) -> &'b [f32] {
        if self.in_place() {
            return images;
        }
        self.fill(images, buffer);
        buffer
    }

    /// Whether images are their own windows, and no tile reads beyond them.
    fn in_place(&self) -> bool {
        let whole = |axis: Axis| {
            axis.stride == 1
                && axis.before == 0
                && axis.image == axis.out + (axis.kernel - 1) * axis.dilation
        };
        whole(self.y) && whole(self.x) && self.x.out.is_multiple_of(LANES)
    }

    fn fill(&self, images: &[f32], buffer: &mut [f32]) {
        let (y, x) = (self.y, self.x);
        let planes = images.chunks_exact(y.image * x.image);
        for (image, plane) in planes.zip(buffer.chunks_exact_mut(self.plane)) {
            let rows = image.chunks_exact(x.image).enumerate();
            for (row, line) in rows.map(|(row, line)| (row + y.before, line)) {
                if let Some(target) = plane.get_mut(row * self.pitch..(row + 1) * self.pitch) {
                    self.fill_row(line, target);
                }
            }
        }
    }

    #[inline]
    fn fill_row(&self, line: &[f32], target: &mut [f32]) {
        let x = self.x;
        if x.stride == 1 {
            if let Some(target) = target.get_mut(x.before..) {
                copy_short(line, target);
            }
            return;
        }
        for (column, value) in (x.before..self.pitch).zip(line) {
            target[column % x.stride * self.phase + column / x.stride] = *value;
        }
    }
}

/// Copies as much as both have. Rows are short, and a call to copy eight numbers takes longer than to
/// copy them.
#[inline(always)]
fn copy_short(from: &[f32], to: &mut [f32]) {
    let count = from.len().min(to.len());
    let (from, from_rest) = from[..count].as_chunks::<LANES>();
    let (to, to_rest) = to[..count].as_chunks_mut::<LANES>();
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    for (to, from) in to_rest.iter_mut().zip(from_rest) {
        *to = *from;
    }
}

/// Tiles over an output plane of `[height, width]`, whose rows are `base_pitch` apart in the image
/// and whose rows and columns are `out_steps` apart in the output.
fn tiles([height, width]: [usize; 2], base_pitch: usize, out_steps: [usize; 2]) -> Tiles {
    let tiles = (0..height)
        .flat_map(|row| (0..width).step_by(LANES).map(move |column| (row, column)))
        .map(|(row, column)| Tile {
            base: (row * base_pitch + column) as u32,
            out: (row * out_steps[0] + column * out_steps[1]) as u32,
            valid: (width - column).min(LANES) as u32,
        });
    Tiles::new(tiles.collect(), out_steps[1])
}

/// One remainder of image rows modulo the stride: the image rows `first + stride * j` read the
/// gradient rows `j + shift` through each of `taps`.
struct Class {
    first: usize,
    count: usize,
    /// (kernel position, shift)
    taps: Vec<(usize, isize)>,
}

fn classes(axis: Axis) -> Vec<Class> {
    let (stride, before) = (axis.stride as isize, axis.before as isize);
    (0..axis.stride.min(axis.image))
        .map(|first| Class {
            first,
            count: (axis.image - first).div_ceil(axis.stride),
            taps: (0..axis.kernel)
                .map(|k| (k, first as isize + before - (k * axis.dilation) as isize))
                .filter(|(_, reach)| reach.rem_euclid(stride) == 0)
                .map(|(k, reach)| (k, reach.div_euclid(stride)))
                .collect(),
        })
        .collect()
}

/// Rows (or columns) of the padded gradient: those from `-before` on, `len` of them.
struct Reach {
    before: isize,
    len: usize,
}

fn reach(classes: &[Class]) -> Reach {
    let shifts = || {
        classes
            .iter()
            .flat_map(|class| class.taps.iter().map(|tap| tap.1))
    };
    let (least, most) = (shifts().min().unwrap_or(0), shifts().max().unwrap_or(0));
    let count = classes.iter().map(|class| class.count).max().unwrap_or(0);
    Reach {
        before: -least,
        len: count + (most - least) as usize,
    }
}

/// The part of the image gradient whose rows and columns have one remainder modulo the strides.
pub(super) struct Part {
    /// (kernel position `ky * kw + kx`, offset in the padded gradient)
    pub taps: Vec<(u32, u32)>,
    pub tiles: Tiles,
    /// Offset of its first element in the image.
    pub first: usize,
}

/// The padded copy of an output gradient that the image gradient reads.
pub(super) struct GradientWindows {
    y: Reach,
    x: Reach,
    out: [usize; 2],
    pub plane: usize,
    pub parts: Vec<Part>,
}

impl GradientWindows {
    pub fn new(c: &Conv2d) -> Self {
        let [y, x] = axes(c);
        let (rows, columns) = (classes(y), classes(x));
        let (reach_y, reach_x) = (reach(&rows), reach(&columns));
        let mut parts = Vec::new();
        for row in &rows {
            for column in &columns {
                let offset = |shift_y: isize, shift_x: isize| {
                    let (down, right) = (shift_y + reach_y.before, shift_x + reach_x.before);
                    down as usize * reach_x.len + right as usize
                };
                let taps = row.taps.iter().flat_map(|&(ky, shift_y)| {
                    column.taps.iter().map(move |&(kx, shift_x)| {
                        ((ky * x.kernel + kx) as u32, offset(shift_y, shift_x) as u32)
                    })
                });
                parts.push(Part {
                    taps: taps.collect(),
                    tiles: tiles(
                        [row.count, column.count],
                        reach_x.len,
                        [y.stride * x.image, x.stride],
                    ),
                    first: row.first * x.image + column.first,
                });
            }
        }
        Self {
            plane: reach_y.len * reach_x.len,
            y: reach_y,
            x: reach_x,
            out: [y.out, x.out],
            parts,
        }
    }

    /// Zeros for `channels` planes; the borders stay zero.
    pub fn buffer(&self, channels: usize) -> Vec<f32> {
        match self.in_place() {
            true => Vec::new(),
            false => vec![0.0; channels * self.plane + LANES],
        }
    }

    /// Gradients `[channels, oh, ow]` as tiles read them: where they are, or copied to their places in a
    /// [`buffer`](Self::buffer).
    pub fn view<'b>(&self, gradients: &'b [f32], buffer: &'b mut [f32]) -> &'b [f32] {
        if self.in_place() {
            return gradients;
        }
        self.fill(gradients, buffer);
        buffer
    }

    /// Whether gradients are their own windows, and no tile reads beyond them.
    fn in_place(&self) -> bool {
        let whole = |reach: &Reach, out: usize| reach.before == 0 && reach.len == out;
        whole(&self.y, self.out[0])
            && whole(&self.x, self.out[1])
            && self.parts.len() == 1
            && self.out[1].is_multiple_of(LANES)
    }

    fn fill(&self, gradients: &[f32], buffer: &mut [f32]) {
        let [oh, ow] = self.out;
        // Gradient columns that no image column reads lie outside the copy.
        let from = (-self.x.before).max(0) as usize;
        let to = ow.min((self.x.len as isize - self.x.before).max(0) as usize);
        if from >= to {
            return;
        }
        let planes = gradients.chunks_exact(oh * ow);
        for (gradient, plane) in planes.zip(buffer.chunks_exact_mut(self.plane)) {
            for (row, line) in gradient.chunks_exact(ow).enumerate() {
                let row = row as isize + self.y.before;
                if (0..self.y.len as isize).contains(&row) {
                    let start =
                        row as usize * self.x.len + (from as isize + self.x.before) as usize;
                    copy_short(&line[from..to], &mut plane[start..]);
                }
            }
        }
    }
}
