//! Unrolls the loops that a shader marks with `// unroll`.
//!
//! Kernels that live in registers index arrays by loop counters, and an array is only kept in
//! registers where every index is a constant. GPU compilers unroll such loops; the compiler of
//! Mesa's software adapter stops at small ones, and is then several times slower.

use super::Const;
use std::fmt::Write;

const MARK: &str = "// unroll\n";

/// The text with every marked loop of the form `for (var i = 0u; i < N; i += 1u) { .. }` written
/// out, `N` being a number or a constant of the prelude. Other loops stay.
pub(super) fn unroll(text: &str, consts: &[(&'static str, Const)]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        out.push_str(&rest[..at]);
        let after = &rest[at + MARK.len()..];
        match Loop::parse(after, consts) {
            Some(found) => {
                found.write(&mut out, consts);
                rest = &after[found.length..];
            }
            None => rest = after,
        }
    }
    out.push_str(rest);
    out
}

struct Loop<'a> {
    counter: &'a str,
    count: u32,
    body: &'a str,
    /// Bytes from the start of the loop to behind its closing brace.
    length: usize,
}

impl<'a> Loop<'a> {
    fn parse(text: &'a str, consts: &[(&'static str, Const)]) -> Option<Self> {
        let open = text.find('{')?;
        let header = text[..open].trim().strip_prefix("for (var ")?;
        let (counter, header) = header.split_once(" = 0u; ")?;
        let (bound, _) = header.split_once(';')?;
        let bound = bound.split_once(" < ")?.1.trim();
        let count = match bound
            .strip_suffix('u')
            .and_then(|number| number.parse().ok())
        {
            Some(number) => number,
            None => consts.iter().find_map(|&(name, value)| match value {
                Const::U32(value) if name == bound => Some(value),
                _ => None,
            })?,
        };
        let body_length = matching_brace(&text[open + 1..])?;
        Some(Self {
            counter,
            count,
            body: &text[open + 1..open + 1 + body_length],
            length: open + 1 + body_length + 1,
        })
    }

    fn write(&self, out: &mut String, consts: &[(&'static str, Const)]) {
        for value in 0..self.count {
            out.push('{');
            let body = substitute(self.body, self.counter, value);
            out.push_str(&unroll(&body, consts));
            out.push_str("}\n");
        }
    }
}

/// Bytes before the brace that closes the one just opened.
fn matching_brace(text: &str) -> Option<usize> {
    let mut depth = 1;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The text with every whole word `name` replaced by a number.
fn substitute(text: &str, name: &str, value: u32) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for character in text.chars().chain(std::iter::once('\n')) {
        if character.is_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        if word == name {
            // Writing to a String cannot fail.
            let _ = write!(out, "{value}u");
        } else {
            out.push_str(&word);
        }
        word.clear();
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_loops_are_written_out() {
        let text = "a\n// unroll\nfor (var i = 0u; i < N; i += 1u) { f(i, ii); // unroll\nfor (var j = 0u; j < 1u; j += 1u) { g(i, j); } }\nb";
        let out = unroll(text, &[("N", Const::U32(2))]);
        let words: String = out.split_whitespace().collect();
        assert_eq!(words, "a{f(0u,ii);{g(0u,0u);}}{f(1u,ii);{g(1u,0u);}}b");
    }

    #[test]
    fn other_loops_stay() {
        let text = "// unroll\nfor (var i = 3u; i < N; i += 1u) { f(i); }";
        assert!(unroll(text, &[("N", Const::U32(2))]).starts_with("for (var i = 3u;"));
    }
}
