//! From the path of a parameter in Burn to its name in a PyTorch state dict.
//!
//! Both are segments joined by dots. Fields are called as PyTorch's wherever Rust allows it, so only
//! numeric and shared names need a rule.

/// Replaces whole segments, one rule after the other, each at its first place.
pub(super) fn rename(path: &str, rules: &[(&str, &str)]) -> String {
    let fenced = rules.iter().fold(format!(".{path}."), |path, (from, to)| {
        path.replacen(&format!(".{from}."), &format!(".{to}."), 1)
    });
    fenced.trim_matches('.').to_owned()
}

/// Splits `<list>.<index>.<rest>` of one list of modules.
pub(super) fn indexed<'a>(path: &'a str, list: &str) -> Option<(usize, &'a str)> {
    let (index, rest) = path
        .strip_prefix(list)?
        .strip_prefix('.')?
        .split_once('.')?;
    Some((index.parse().ok()?, rest))
}

/// Leaves out the variant that Burn puts before the fields of an enum: the only segment of a path
/// that starts with a capital.
pub(super) fn without_variant(path: &str) -> &str {
    match path.split_once('.') {
        Some((variant, rest)) if variant.starts_with(|c: char| c.is_ascii_uppercase()) => rest,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_whole_segments_only() {
        let rules = [("stem.conv", "features.0.0"), ("conv", "c")];
        assert_eq!(rename("stem.conv.weight", &rules), "features.0.0.weight");
        assert_eq!(rename("stem.conv2.weight", &rules), "stem.conv2.weight");
        assert_eq!(rename("a.conv", &rules), "a.c");
    }

    #[test]
    fn splits_an_index() {
        assert_eq!(
            indexed("blocks.12.bn.gamma", "blocks"),
            Some((12, "bn.gamma"))
        );
        assert_eq!(indexed("blocks2.1.bn", "blocks"), None);
        assert_eq!(indexed("blocks.first.bn", "blocks"), None);
    }

    #[test]
    fn leaves_out_the_variant() {
        assert_eq!(without_variant("Mlp.output.bias"), "output.bias");
        assert_eq!(without_variant("output.bias"), "output.bias");
    }
}
