//! A canvas of fine cells with ink in them, of which an image's pixels are the means.

/// A place: x to the right and y downwards, both from the upper left corner, in units of the shorter side.
pub type Point = [f32; 2];

/// Which cells have ink.
pub struct Canvas {
    /// In pixels.
    height: usize,
    width: usize,
    /// Cells along a pixel.
    fine: usize,
    /// Row by row, `height * fine` rows of `width * fine` cells.
    ink: Vec<bool>,
}

impl Canvas {
    /// An empty canvas for an image of this size.
    pub fn new(height: usize, width: usize) -> Self {
        // Enough levels of grey for an edge to be smooth: 64 on small images, 4 where a pixel is small beside a stroke.
        let fine = match height.min(width) {
            0..=12 => 8,
            13..=48 => 4,
            _ => 2,
        };
        Self {
            height,
            width,
            fine,
            ink: vec![false; height * fine * width * fine],
        }
    }

    /// The lower right corner.
    pub fn extent(&self) -> Point {
        let side = self.height.min(self.width) as f32;
        [self.width as f32 / side, self.height as f32 / side]
    }

    /// Follows the points with a round pen; a single one makes a dot.
    pub fn path(&mut self, points: &[Point], half_width: f32) {
        if let [only] = points {
            self.segment(*only, *only, half_width);
        }
        for ends in points.windows(2) {
            self.segment(ends[0], ends[1], half_width);
        }
    }

    /// Fills what lies inside of a closed line, by the even-odd rule.
    pub fn fill(&mut self, corners: &[Point]) {
        let Some(last) = corners.last() else {
            return;
        };
        let before = [last].into_iter().chain(corners);
        let edges: Vec<(&Point, &Point)> = before.zip(corners).collect();
        self.each_cell([0.0; 2], self.extent(), |[x, y], ink| {
            let crosses = |&&(a, b): &&(&Point, &Point)| {
                (a[1] > y) != (b[1] > y) && x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0])
            };
            *ink |= edges.iter().filter(crosses).count() % 2 == 1;
        });
    }

    /// Ink where there was none, and the other way round.
    pub fn invert(&mut self) {
        self.ink.iter_mut().for_each(|ink| *ink = !*ink);
    }

    /// The share of every pixel that has ink, row by row.
    pub fn coverage(&self) -> Vec<f32> {
        let columns = self.width * self.fine;
        let mut counts = vec![0u32; self.height * self.width];
        for (row, line) in self.ink.chunks_exact(columns).enumerate() {
            let first = row / self.fine * self.width;
            for (column, cells) in line.chunks_exact(self.fine).enumerate() {
                counts[first + column] += cells.iter().map(|&ink| u32::from(ink)).sum::<u32>();
            }
        }
        let cells = (self.fine * self.fine) as f32;
        counts.iter().map(|&count| count as f32 / cells).collect()
    }

    /// Everything that is no farther than `half_width` from the line between two points.
    fn segment(&mut self, from: Point, to: Point, half_width: f32) {
        let low = [0, 1].map(|axis| from[axis].min(to[axis]) - half_width);
        let high = [0, 1].map(|axis| from[axis].max(to[axis]) + half_width);
        let along = [to[0] - from[0], to[1] - from[1]];
        let length_squared = along[0] * along[0] + along[1] * along[1];
        self.each_cell(low, high, |[x, y], ink| {
            let (dx, dy) = (x - from[0], y - from[1]);
            // Two equal points have no direction.
            let share = (dx * along[0] + dy * along[1]) / length_squared.max(f32::MIN_POSITIVE);
            let share = share.clamp(0.0, 1.0);
            let (dx, dy) = (dx - share * along[0], dy - share * along[1]);
            *ink |= dx * dx + dy * dy <= half_width * half_width;
        });
    }

    /// Calls `change` for the cells in a rectangle, with their centres.
    fn each_cell(&mut self, low: Point, high: Point, mut change: impl FnMut(Point, &mut bool)) {
        let cells = (self.height.min(self.width) * self.fine) as f32;
        let (rows, columns) = (self.height * self.fine, self.width * self.fine);
        // Conversions to whole numbers end at 0.
        let first = low.map(|low| (low * cells) as usize);
        let after = |axis: usize, end: usize| ((high[axis] * cells) as usize + 1).min(end);
        for row in first[1]..after(1, rows) {
            for column in first[0]..after(0, columns) {
                let centre = [column, row].map(|at| (at as f32 + 0.5) / cells);
                change(centre, &mut self.ink[row * columns + column]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(canvas: &Canvas) -> f32 {
        let coverage = canvas.coverage();
        coverage.iter().sum::<f32>() / coverage.len() as f32
    }

    #[test]
    fn areas_are_those_of_the_shapes() {
        let mut dot = Canvas::new(64, 64);
        dot.path(&[[0.5, 0.5]], 0.25);
        assert!((mean(&dot) - std::f32::consts::PI / 16.0).abs() < 5e-3);
        let mut line = Canvas::new(64, 64);
        line.path(&[[0.25, 0.5], [0.75, 0.5]], 0.1);
        let capsule = 0.5 * 0.2 + std::f32::consts::PI * 0.01;
        assert!((mean(&line) - capsule).abs() < 5e-3);
        let mut triangle = Canvas::new(64, 64);
        triangle.fill(&[[0.1, 0.9], [0.9, 0.9], [0.5, 0.1]]);
        assert!((mean(&triangle) - 0.32).abs() < 5e-3);
        triangle.invert();
        assert!((mean(&triangle) - 0.68).abs() < 5e-3);
    }

    #[test]
    fn the_shorter_side_is_the_unit() {
        let mut canvas = Canvas::new(8, 16);
        assert_eq!(canvas.extent(), [2.0, 1.0]);
        canvas.fill(&[[1.0, 0.0], [2.0, 0.0], [2.0, 0.5], [1.0, 0.5]]);
        let coverage = canvas.coverage();
        let expected = |at: usize| f32::from(at % 16 >= 8 && at / 16 < 4);
        assert!((0..128).all(|at| coverage[at] == expected(at)));
        // Beyond the edge there is nothing to draw on.
        canvas.path(&[[-3.0, -3.0], [-2.0, 9.0]], 0.1);
        assert_eq!(canvas.coverage(), coverage);
    }

    #[test]
    fn an_edge_within_a_pixel_is_grey() {
        let mut canvas = Canvas::new(8, 8);
        canvas.fill(&[[0.0, 0.0], [0.0625, 0.0], [0.0625, 1.0], [0.0, 1.0]]);
        assert_eq!(canvas.coverage()[..2], [0.5, 0.0]);
    }
}
