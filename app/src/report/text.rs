//! Words and numbers as a report writes them.

/// With what HTML and SVG would read as markup replaced, and without what they cannot hold.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(' '),
            other if other.is_control() => {}
            other => out.push(other),
        }
    }
    out
}

/// A share in percent; no line ends before its sign.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{:.decimals$}\u{a0}%", 100.0 * share)
}

/// A share as one would say it: whole percent, tenths near the ends, and 0 or 100 % only for none and all.
pub fn spoken_percent(share: f64) -> String {
    let whole = (100.0 * share).round();
    let near_an_end = !(1.0..=99.0).contains(&whole) && share != 0.0 && share != 1.0;
    match (1000.0 * share).round() {
        _ if !near_an_end => percent(share, 0),
        0.0 => format!("less than {}", percent(0.001, 1)),
        1000.0 => format!("more than {}", percent(0.999, 1)),
        _ => percent(share, 1),
    }
}

/// A whole number with its thousands apart.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A name for a file or an anchor: lower-case letters, digits and hyphens.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character.to_ascii_lowercase() {
            letter if letter.is_ascii_alphanumeric() => out.push(letter),
            _ if out.ends_with('-') || out.is_empty() => {}
            _ => out.push('-'),
        }
    }
    match out.trim_end_matches('-') {
        "" => "unnamed".to_owned(),
        name => name.to_owned(),
    }
}

/// A field of a table that may hold commas.
pub fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(escaped("<b>&\"'\u{0}\n"), "&lt;b&gt;&amp;&quot;&#39; ");
    }

    #[test]
    fn numbers_are_written_as_people_write_them() {
        assert_eq!(percent(0.9185, 2), "91.85\u{a0}%");
        assert_eq!(count(7), "7");
        assert_eq!(count(1_234_567), "1,234,567");
        let spoken = |share| spoken_percent(share);
        assert_eq!(spoken(0.553), "55\u{a0}%");
        assert_eq!(spoken(0.999), "99.9\u{a0}%");
        assert_eq!(spoken(0.999_9), "more than 99.9\u{a0}%");
        assert_eq!(spoken(1.0), "100\u{a0}%");
        assert_eq!(spoken(0.000_1), "less than 0.1\u{a0}%");
        assert_eq!(spoken(0.004), "0.4\u{a0}%");
    }

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(slug("Deep ensemble (5)"), "deep-ensemble-5");
        assert_eq!(slug("../<b>"), "b");
        assert_eq!(slug("深い"), "unnamed");
    }
}
