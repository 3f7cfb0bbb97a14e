//! Which parameters get a posterior.

use super::convert::Listed;
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// A test of a parameter by its path and shape.
type Predicate = Arc<dyn Fn(&str, &[usize]) -> bool + Send + Sync>;

/// Which parameters get a posterior. Running statistics and frozen parameters never do.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Select {
    /// All of them.
    #[default]
    All,
    /// Those of the layer with a matrix of weights that the network declares last, whatever the order in which it
    /// calls them.
    LastLayer,
    /// Those whose path matches one of the patterns, in which `*` stands for any text:
    /// `"layer4.*"`, `"*.weight"`, `"fc.bias"`. Names of the variants of an enum, such as
    /// [`Network`](crate::models::Network), may be left out. The account tells of patterns that match nothing.
    Paths(Vec<String>),
    /// Those for which a function of path and shape says so. Not kept in files, which store the paths
    /// that it chose.
    #[serde(skip)]
    Where(Predicate),
}

impl Select {
    /// Those whose path matches one of the patterns; see [`Select::Paths`].
    pub fn paths(patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::Paths(patterns.into_iter().map(Into::into).collect())
    }

    /// Those for which `choose(path, shape)` holds.
    pub fn matching(choose: impl Fn(&str, &[usize]) -> bool + Send + Sync + 'static) -> Self {
        Self::Where(Arc::new(choose))
    }

    /// Patterns that match no parameter.
    pub(super) fn unmatched(&self, parameters: &[Listed]) -> Vec<String> {
        let Self::Paths(patterns) = self else {
            return Vec::new();
        };
        let idle = |pattern: &&String| !parameters.iter().any(|listed| names(pattern, listed));
        patterns.iter().filter(idle).cloned().collect()
    }

    /// Whether the parameter is chosen. `last_layer` is the path of the last layer.
    pub(super) fn chooses(&self, listed: &Listed, last_layer: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::LastLayer => last_layer == Some(layer(&listed.path)),
            Self::Paths(patterns) => patterns.iter().any(|pattern| names(pattern, listed)),
            Self::Where(choose) => choose(&listed.path, &listed.shape),
        }
    }
}

/// Whether a pattern is one for this parameter.
fn names(pattern: &str, listed: &Listed) -> bool {
    matches(pattern, &listed.path) || matches(pattern, &listed.short_path)
}

/// Path of the layer that a parameter belongs to.
pub(crate) fn layer(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(layer, _)| layer)
}

/// Whether `text` matches `pattern`, `*` being any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

impl fmt::Debug for Select {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("All"),
            Self::LastLayer => f.write_str("LastLayer"),
            Self::Paths(patterns) => f.debug_tuple("Paths").field(patterns).finish(),
            Self::Where(_) => f.write_str("Where(..)"),
        }
    }
}

impl PartialEq for Select {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, Self::All) | (Self::LastLayer, Self::LastLayer) => true,
            (Self::Paths(a), Self::Paths(b)) => a == b,
            (Self::Where(a), Self::Where(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_paths() {
        for (pattern, path, expected) in [
            ("fc.weight", "fc.weight", true),
            ("fc", "fc.weight", false),
            ("fc.*", "fc.weight", true),
            ("*.weight", "layer1.0.conv1.weight", true),
            ("*.weight", "layer1.0.conv1.bias", false),
            ("layer*.conv*.weight", "layer1.0.conv1.weight", true),
            ("layer*.conv2.weight", "layer1.0.conv1.weight", false),
            ("*", "anything", true),
            ("a*a", "a", false),
            ("", "fc", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn last_layer_is_the_layer_with_its_bias() {
        let last = Some("fc");
        assert!(Select::LastLayer.chooses(&listed("fc.bias", "fc.bias"), last));
        assert!(!Select::LastLayer.chooses(&listed("conv.weight", "conv.weight"), last));
    }

    #[test]
    fn variants_of_enums_may_be_left_out() {
        let listed = listed("ResNet.fc.bias", "fc.bias");
        for pattern in ["fc.*", "ResNet.fc.bias", "ResNet.*", "*.bias"] {
            assert!(Select::paths([pattern]).chooses(&listed, None), "{pattern}");
        }
        assert!(!Select::paths(["ResNet.bias"]).chooses(&listed, None));
    }

    fn listed(path: &str, short_path: &str) -> Listed {
        Listed {
            path: path.to_owned(),
            short_path: short_path.to_owned(),
            shape: vec![10],
            dtype: burn::tensor::DType::F32,
            trained: true,
        }
    }
}
