//! Names for the tensors of a pickle: the path through its dictionaries and lists.

use super::error::{CheckpointProblem, Outcome};
use super::pickle::{Pickle, TensorRef, Value};

/// Deeper than any training script nests its dictionaries.
const MAX_DEPTH: usize = 16;

/// Every tensor under the root with its path, joined by dots, in the order of the file.
///
/// A pickle can contain one dictionary many times over, and so describe more tensors than it has
/// bytes; work and names are therefore bounded by its length.
pub(super) fn flatten(pickle: &Pickle<'_>) -> Outcome<Vec<(String, TensorRef)>> {
    let mut walk = Walk {
        pickle,
        path: String::new(),
        found: Vec::new(),
        visits: pickle.length,
        name_bytes: pickle.length.saturating_mul(4),
    };
    walk.visit(pickle.root(), 0)?;
    Ok(walk.found)
}

struct Walk<'a, 'b> {
    pickle: &'b Pickle<'a>,
    path: String,
    found: Vec<(String, TensorRef)>,
    /// What may still be spent.
    visits: usize,
    name_bytes: usize,
}

impl Walk<'_, '_> {
    fn visit(&mut self, value: Value, depth: usize) -> Outcome<()> {
        let pickle = self.pickle;
        match value {
            Value::Tensor(place) => {
                let Some(tensor) = pickle.tensor(place) else {
                    return Ok(());
                };
                // A file that is one tensor has no name for it.
                let name = if self.path.is_empty() {
                    "tensor"
                } else {
                    &self.path
                };
                self.name_bytes = spend(self.name_bytes, name.len(), pickle)?;
                self.found.push((name.to_owned(), tensor));
            }
            Value::Dict(place) => {
                for (key, value) in pickle.dict(place) {
                    let name = match *key {
                        Value::Text(span) => pickle.text(span).map(str::to_owned),
                        Value::Int(number) => Some(number.to_string()),
                        _ => None,
                    };
                    if let Some(name) = name {
                        self.enter(&name, *value, depth)?;
                    }
                }
            }
            Value::List(place) => self.items(pickle.list(place), depth)?,
            Value::Tuple(span) => self.items(pickle.tuple(span), depth)?,
            _ => {}
        }
        Ok(())
    }

    fn items(&mut self, items: &[Value], depth: usize) -> Outcome<()> {
        for (index, value) in items.iter().enumerate() {
            self.enter(&index.to_string(), *value, depth)?;
        }
        Ok(())
    }

    fn enter(&mut self, name: &str, value: Value, depth: usize) -> Outcome<()> {
        self.visits = spend(self.visits, 1, self.pickle)?;
        let is_leaf = !matches!(
            value,
            Value::Tensor(_) | Value::Dict(_) | Value::List(_) | Value::Tuple(_)
        );
        if is_leaf {
            return Ok(());
        }
        if depth == MAX_DEPTH {
            return Err(CheckpointProblem::Unsupported {
                found: format!("`{}` is nested more than {MAX_DEPTH} deep", self.path),
                advice: "save the weights alone: torch.save(model.state_dict(), ..)",
            });
        }
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        self.visit(value, depth + 1)?;
        self.path.truncate(length);
        Ok(())
    }
}

fn spend(left: usize, amount: usize, pickle: &Pickle<'_>) -> Outcome<usize> {
    left.checked_sub(amount)
        .ok_or_else(|| CheckpointProblem::Unsupported {
            found: format!(
                "its pickle of {} bytes describes more tensors than it has room for",
                pickle.length
            ),
            advice: "save the weights alone: torch.save(model.state_dict(), ..)",
        })
}
