//! What became of every tensor and every parameter.

use super::{Format, Naming};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How many names of each kind the summary shows.
const SHOWN: usize = 4;

/// What a load did, or would have done where it was refused.
///
/// `Display` gives a summary of a few lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LoadAccount {
    /// Kind of file the tensors came from.
    pub format: Format,
    /// Whose names and layouts the file uses.
    pub naming: Naming,
    /// What stood in front of every name and was taken off, such as `state_dict.module.`.
    pub stripped: String,
    /// Other prefixes under which the file has as many of the parameters, such as `ema.`: choose one
    /// with [`LoadOptions::prefix`](super::LoadOptions::prefix).
    pub alternatives: Vec<String>,
    /// Parameters that got a tensor.
    pub applied: Vec<Applied>,
    /// Parameters the file has nothing for. They keep their values.
    pub missing: Vec<Missing>,
    /// Tensors that no parameter asked for.
    pub unused: Vec<String>,
    /// Parameters whose tensor has another shape. They keep their values.
    pub wrong_shape: Vec<WrongShape>,
    /// Parameters of the last linear layer that differ in the number of classes, and keep their fresh
    /// values because [`LoadOptions::replace_head`](super::LoadOptions::replace_head) is set.
    pub replaced_head: Vec<WrongShape>,
    /// Tensors that have no meaning here: PyTorch's counters `num_batches_tracked`.
    pub ignored: Vec<String>,
}

/// A parameter and the tensor it got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// Path of the parameter in the module.
    pub parameter: String,
    /// Name of the tensor in the checkpoint.
    pub tensor: String,
}

/// A parameter the file has nothing for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Missing {
    /// Path of the parameter in the module.
    pub parameter: String,
    /// The name that was looked for.
    pub tensor: String,
    /// The most similar name among the unused tensors.
    pub nearest: Option<String>,
}

/// A parameter and a tensor of another shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrongShape {
    /// Path of the parameter in the module.
    pub parameter: String,
    /// Name of the tensor in the checkpoint.
    pub tensor: String,
    /// The shape that the file would need to have, in its own layout.
    pub expected: Vec<usize>,
    /// The shape it has.
    pub found: Vec<usize>,
}

impl LoadAccount {
    /// Whether every parameter got a tensor, or was meant not to.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.wrong_shape.is_empty()
    }
}

impl fmt::Display for LoadAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} parameters fit", self.format, self.applied.len())?;
        if !self.stripped.is_empty() {
            write!(f, ", found under `{}`", self.stripped)?;
        }
        if !self.alternatives.is_empty() {
            let others = self.alternatives.join("`, `");
            write!(f, " (also there: `{others}`; choose with `prefix`)")?;
        }
        let missing = self.missing.iter().map(|missing| match &missing.nearest {
            Some(nearest) => format!("{} (nearest: {nearest})", missing.tensor),
            None => missing.tensor.clone(),
        });
        line(f, "missing", missing)?;
        line(
            f,
            "wrong shape",
            self.wrong_shape.iter().map(WrongShape::told),
        )?;
        line(
            f,
            "head kept fresh",
            self.replaced_head.iter().map(WrongShape::told),
        )?;
        line(f, "unused", self.unused.iter().cloned())?;
        if !self.ignored.is_empty() {
            let ignored = self.ignored.len();
            write!(f, "\n  ignored: {ignored} counters (num_batches_tracked)")?;
        }
        Ok(())
    }
}

impl WrongShape {
    fn told(&self) -> String {
        let Self {
            tensor,
            expected,
            found,
            ..
        } = self;
        format!("{tensor} is {found:?} where {expected:?} is needed")
    }
}

/// "  kind: n (a, b, .. and m more)", or nothing if there is none.
fn line(
    f: &mut fmt::Formatter<'_>,
    kind: &str,
    names: impl ExactSizeIterator<Item = String>,
) -> fmt::Result {
    let count = names.len();
    if count == 0 {
        return Ok(());
    }
    let shown: Vec<String> = names.take(SHOWN).collect();
    write!(f, "\n  {kind}: {count} ({}", shown.join(", "))?;
    if count > SHOWN {
        write!(f, ", and {} more", count - SHOWN)?;
    }
    f.write_str(")")
}
