//! Minimisation of a function of one variable.

/// How exactly the place is found. A smooth function is flat around its minimum: closer than about the
/// square root of the rounding of its values, `f64` cannot tell two places apart.
const TOLERANCE: f64 = 1e-8;
/// A guard only: Brent's method needs 10 to 30 evaluations here.
const MAX_STEPS: usize = 200;

/// The smaller part of a golden section, (3 - sqrt 5) / 2.
const GOLDEN: f64 = 0.381_966_011_250_105_1;

/// A place and the value of the function there.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) value: f64,
}

impl Point {
    pub(super) fn at(x: f64, function: impl Fn(f64) -> f64) -> Self {
        Self {
            x,
            value: function(x),
        }
    }
}

/// The minimum of a function without local minima inside `ends`, from a start between them, by Brent's
/// method (Brent, "Algorithms for Minimization without Derivatives", 1973, chapter 5): the vertex of the
/// parabola through the three best points, or a golden-section step where that does not converge.
pub(super) fn minimum(
    function: impl Fn(f64) -> f64,
    (mut low, mut high): (f64, f64),
    start: Point,
) -> Point {
    let (mut best, mut second, mut third) = (start, start, start);
    let (mut step, mut step_before) = (0.0f64, 0.0f64);
    for _ in 0..MAX_STEPS {
        let middle = 0.5 * (low + high);
        if (best.x - middle).abs() <= 2.0 * TOLERANCE - 0.5 * (high - low) {
            break;
        }
        let larger_half = if best.x < middle { high } else { low } - best.x;
        let vertex = parabola_step(best, second, third);
        let inside = |step: f64| best.x + step > low && best.x + step < high;
        let accepted = vertex.filter(|&v| inside(v) && v.abs() < 0.5 * step_before.abs());
        (step_before, step) = match accepted {
            Some(v)
                if best.x + v - low < 2.0 * TOLERANCE || high - best.x - v < 2.0 * TOLERANCE =>
            {
                (step, TOLERANCE.copysign(middle - best.x))
            }
            Some(v) => (step, v),
            None => (larger_half, GOLDEN * larger_half),
        };
        // Closer points would differ by nothing but rounding.
        let moved = step.abs().max(TOLERANCE).copysign(step);
        let new = Point::at(best.x + moved, &function);
        let better = new.value <= best.value;
        match (better, moved > 0.0) {
            (true, true) => low = best.x,
            (true, false) => high = best.x,
            (false, true) => high = new.x,
            (false, false) => low = new.x,
        }
        if better {
            (best, second, third) = (new, best, second);
        } else if new.value <= second.value || second.x == best.x {
            (second, third) = (new, second);
        } else if new.value <= third.value || third.x == best.x || third.x == second.x {
            third = new;
        }
    }
    best
}

/// The step from `best` to the vertex of the parabola through three points, if they are distinct.
fn parabola_step(best: Point, second: Point, third: Point) -> Option<f64> {
    let r = (best.x - second.x) * (best.value - third.value);
    let q = (best.x - third.x) * (best.value - second.value);
    let numerator = (best.x - third.x) * q - (best.x - second.x) * r;
    let step = -numerator / (2.0 * (q - r));
    step.is_finite().then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn brent_finds_the_minimum_of_smooth_skewed_and_flat_functions() {
        let found = |function: &dyn Fn(f64) -> f64| {
            minimum(function, (-3.0, 3.0), Point::at(0.0, function)).x
        };
        assert!((found(&|x| (x - 1.25).powi(2)) - 1.25).abs() < 1e-7);
        // exp(x) - 2x has its minimum at ln 2.
        assert!((found(&|x| x.exp() - 2.0 * x) - 2f64.ln()).abs() < 1e-7);
        // A kink, where parabolas do not converge.
        assert!((found(&|x| (x + 2.0).abs()) + 2.0).abs() < 1e-7);
        // x^4 is flat: its values are equal within rounding for |x| < 1e-4.
        assert!((found(&|x| (x - 0.5).powi(4)) - 0.5).abs() < 1e-3);
        // At an end.
        assert!((found(&|x| x) + 3.0).abs() < 1e-7);
        assert!((found(&|x| -x) - 3.0).abs() < 1e-7);
    }

    #[test]
    fn parabolas_need_half_the_evaluations_of_golden_sections() {
        let evaluations = Cell::new(0);
        let function = |x: f64| {
            evaluations.set(evaluations.get() + 1);
            x.exp() - 2.0 * x
        };
        minimum(function, (-3.0, 3.0), Point::at(0.0, function));
        // Golden sections alone would divide 6 by 1.618 until it is below 4e-8: 40 times.
        assert!(evaluations.get() < 20, "{} evaluations", evaluations.get());
    }
}
