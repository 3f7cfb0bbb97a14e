//! Where in a module a visitor is.

/// What Burn calls the container of state that is attached to a parameter.
pub(crate) const REPARAMETERIZATION: &str = "Reparameterization";

/// What the layers that can give every example weights of its own call a container of nothing.
pub(crate) const PER_EXAMPLE: &str = "PerExample";

/// What the containers of an enum's variants begin with.
const ENUM: &str = "Enum:";

/// One step on the way to a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) name: String,
    /// What the step is taken in, such as `Struct:Linear` or `Vec`.
    pub(crate) container: String,
}

impl Step {
    /// Whether this is the variant of an enum: a step of Burn's paths, and unknown to PyTorch.
    pub(crate) fn is_variant(&self) -> bool {
        self.container.starts_with(ENUM)
    }
}

/// The steps from a module to the parameter that is visited.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path(Vec<Step>);

impl Path {
    pub(crate) fn enter(&mut self, name: &str, container: &str) {
        self.0.push(Step {
            name: name.to_owned(),
            container: container.to_owned(),
        });
    }

    pub(crate) fn leave(&mut self) {
        self.0.pop();
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The module's own path, which is also Burn's name for a tensor.
    pub(crate) fn name(&self) -> String {
        joined(self.0.iter())
    }

    /// The path without the variants of enums.
    pub(crate) fn without_variants(&self) -> String {
        joined(self.0.iter().filter(|step| !step.is_variant()))
    }

    /// Whether the parameter is state that was attached to another, such as a spread.
    pub(crate) fn is_attached(&self) -> bool {
        let mut steps = self.0.iter();
        steps.any(|step| step.container == REPARAMETERIZATION)
    }
}

fn joined<'a>(steps: impl Iterator<Item = &'a Step>) -> String {
    let names: Vec<&str> = steps.map(|step| step.name.as_str()).collect();
    names.join(".")
}
