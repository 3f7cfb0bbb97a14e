//! The name somebody probably meant.

/// More names than this are not compared: a suggestion is not worth a wait.
const MAX_COMPARED: usize = 2_000;
/// Longer names are not compared.
const MAX_LENGTH: usize = 256;

/// The candidate with the fewest edits to `wanted`, if that is fewer than half of its letters; the
/// first of several.
pub(super) fn nearest<'a>(
    wanted: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.take(MAX_COMPARED) {
        let limit = best.map_or(wanted.len() / 2, |(distance, _)| distance);
        if let Some(distance) = edits(wanted.as_bytes(), candidate.as_bytes(), limit) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate.to_owned())
}

/// Insertions, deletions and replacements that turn `a` into `b`, if they are fewer than `limit`.
fn edits(a: &[u8], b: &[u8], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) >= limit || a.len().max(b.len()) > MAX_LENGTH {
        return None;
    }
    let mut row = [0; MAX_LENGTH + 1];
    let row = &mut row[..=b.len()];
    for (at, distance) in row.iter_mut().enumerate() {
        *distance = at;
    }
    for (above, letter) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        let mut least = row[0];
        for at in 0..b.len() {
            let replaced = diagonal + usize::from(*letter != b[at]);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(diagonal + 1).min(row[at] + 1);
            least = least.min(row[at + 1]);
        }
        // No later row falls below the least of this one.
        if least >= limit {
            return None;
        }
    }
    let distance = row[b.len()];
    (distance < limit).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_fewest_edits() {
        let names = ["fc.weight", "fc.bias", "layer1.0.conv1.weight"];
        let find = |wanted| nearest(wanted, names.into_iter());
        assert_eq!(find("head.weight").as_deref(), Some("fc.weight"));
        assert_eq!(find("layer1.0.conv2.weight").as_deref(), Some(names[2]));
        assert_eq!(find("zzz"), None);
    }

    #[test]
    fn counts_edits() {
        assert_eq!(edits(b"kitten", b"sitting", 9), Some(3));
        assert_eq!(edits(b"", b"abc", 9), Some(3));
        assert_eq!(edits(b"kitten", b"sitting", 3), None);
    }
}
