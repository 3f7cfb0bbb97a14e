//! The one call that makes a network Bayesian.

use super::{
    Bayes, Conversion, ConversionAccount, ConvertError, Factors, LeftAlone, LogStd,
    LowRankEnsemble, MeanField, Posterior, Select, select,
};
use crate::path::{PER_EXAMPLE, Path, REPARAMETERIZATION};
use burn::{
    module::{Module, ModuleVisitor, Param, Reparameterizer},
    tensor::{DType, Tensor},
};
use std::collections::{HashMap, HashSet};

/// Makes any Burn module Bayesian.
pub trait IntoBayes: Module {
    /// Attaches a posterior to the parameters that it selects. The means start at the values that the
    /// parameters have: at the mean the result computes what this network computes, to the last bit.
    ///
    /// ```
    /// use bayesadapter::posterior::{IntoBayes, MeanField};
    /// use bayesadapter::nn::LinearConfig;
    /// use burn::tensor::Device;
    ///
    /// let network = LinearConfig::new(64, 10).init(&Device::flex());
    /// let bayes = network.into_bayes(MeanField::fine_tune(1_797))?;
    /// assert_eq!(bayes.account().parameters_after, 2 * 650);
    /// # Ok::<(), bayesadapter::posterior::ConvertError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Settings that make no sense, a selection of nothing or of parameters that are not f32, and a network that is
    /// converted already.
    fn into_bayes(self, posterior: impl Into<Posterior>) -> Result<Bayes<Self>, ConvertError> {
        convert(self, posterior.into())
    }
}

impl<M: Module> IntoBayes for M {}

fn convert<M: Module>(network: M, posterior: Posterior) -> Result<Bayes<M>, ConvertError> {
    match &posterior {
        Posterior::MeanField(posterior) => posterior.checked()?,
        Posterior::LowRankEnsemble(posterior) => posterior.checked()?,
        Posterior::Point(posterior) => posterior.checked()?,
    }
    let plan = Plan::of(&network, &posterior)?;
    let network = match &posterior {
        Posterior::MeanField(posterior) => network.apply_reparameterization(AttachLogStd {
            plan: &plan,
            posterior,
        }),
        Posterior::LowRankEnsemble(posterior) => network.apply_reparameterization(AttachFactors {
            plan: &plan,
            posterior,
        }),
        Posterior::Point(_) => network,
    };
    Ok(Bayes::new(network, posterior, plan.account))
}

/// What a conversion would do, without doing it.
pub(crate) fn account<M: Module>(
    network: &M,
    posterior: &Posterior,
) -> Result<ConversionAccount, ConvertError> {
    Plan::of(network, posterior).map(|plan| plan.account)
}

struct AttachLogStd<'a> {
    plan: &'a Plan,
    posterior: &'a MeanField,
}

impl Reparameterizer for AttachLogStd<'_> {
    type Reparam = LogStd;

    fn reparameterize<const D: usize>(
        &mut self,
        path: &str,
        param: Param<Tensor<D>>,
    ) -> (Param<Tensor<D>>, Option<LogStd>) {
        let attach = |&number: &u32| self.posterior.attach(number, param.base());
        let state = self.plan.numbers.get(path).map(attach);
        (param, state)
    }
}

struct AttachFactors<'a> {
    plan: &'a Plan,
    posterior: &'a LowRankEnsemble,
}

impl Reparameterizer for AttachFactors<'_> {
    type Reparam = Factors;

    fn reparameterize<const D: usize>(
        &mut self,
        path: &str,
        param: Param<Tensor<D>>,
    ) -> (Param<Tensor<D>>, Option<Factors>) {
        let number = self.plan.numbers.get(path);
        let state = number.and_then(|&number| {
            self.posterior
                .attach(number, &param.lazy_shape(), &param.lazy_device())
        });
        (param, state)
    }
}

/// What happens to each parameter, decided before anything is changed.
struct Plan {
    /// Numbers of the parameters that get a posterior. A parameter keeps its number, and with it its
    /// noise, whatever else is selected.
    numbers: HashMap<String, u32>,
    account: ConversionAccount,
}

impl Plan {
    fn of<M: Module>(network: &M, posterior: &Posterior) -> Result<Self, ConvertError> {
        let mut listing = Listing::default();
        network.visit(&mut listing);
        if let Some(path) = listing.converted {
            return Err(ConvertError::Converted { path });
        }
        let matrix = |listed: &&Listed| listed.trained && listed.shape.len() >= 2;
        let last_matrix = listing.parameters.iter().rfind(matrix);
        let last_layer = last_matrix.map(|listed| select::layer(&listed.path));
        let mut plan = Self {
            numbers: HashMap::new(),
            account: ConversionAccount {
                unmatched: posterior.select().unmatched(&listing.parameters),
                ..Default::default()
            },
        };
        for (number, listed) in listing.parameters.iter().enumerate() {
            let per_example = listing.per_example.contains(select::layer(&listed.path));
            plan.decide(number as u32, listed, posterior, last_layer, per_example);
        }
        if plan.numbers.is_empty() && !matches!(posterior, Posterior::Point(_)) {
            return Err(nothing(posterior.select(), &listing.parameters));
        }
        let other = |listed: &&Listed| {
            listed.dtype != DType::F32 && plan.numbers.contains_key(&listed.path)
        };
        if let Some(listed) = listing.parameters.iter().find(other) {
            return Err(ConvertError::DType {
                path: listed.path.clone(),
                found: listed.dtype,
            });
        }
        Ok(plan)
    }

    fn decide(
        &mut self,
        number: u32,
        listed: &Listed,
        posterior: &Posterior,
        last_layer: Option<&str>,
        per_example: bool,
    ) {
        let Listed {
            path,
            shape,
            trained,
            ..
        } = listed;
        let elements: usize = shape.iter().product();
        if *trained {
            self.account.parameters_before += elements;
            let after = self.account.parameters_after.saturating_add(elements);
            self.account.parameters_after = after;
        }
        let reason = if !trained {
            LeftAlone::NotTrained
        } else if elements == 0 {
            LeftAlone::Empty
        } else if !posterior.select().chooses(listed, last_layer) {
            LeftAlone::NotSelected
        } else if let Some(added) = posterior.added(shape) {
            let after = self.account.parameters_after.saturating_add(added);
            self.account.parameters_after = after;
            self.account.converted.push(Conversion {
                path: path.clone(),
                shape: shape.clone(),
                added,
                estimators: posterior.estimators(shape, per_example),
            });
            self.numbers.insert(path.clone(), number);
            return;
        } else if matches!(posterior, Posterior::Point(_)) {
            LeftAlone::Point
        } else {
            LeftAlone::SharedVector
        };
        self.account.left_alone.push((path.clone(), reason));
    }
}

fn nothing(select: &Select, parameters: &[Listed]) -> ConvertError {
    const SHOWN: usize = 12;
    let mut paths: Vec<&str> = parameters.iter().map(|one| one.path.as_str()).collect();
    let more = paths.len() > SHOWN;
    paths.truncate(SHOWN);
    ConvertError::Nothing {
        reason: format!("{select:?} chooses none that is trained and can have this posterior"),
        paths: paths.join(", ") + if more { ", ..." } else { "" },
    }
}

/// A parameter of a network.
pub(super) struct Listed {
    pub path: String,
    /// The path without the names of the variants of enums.
    pub short_path: String,
    pub shape: Vec<usize>,
    pub dtype: DType,
    pub trained: bool,
}

/// Lists the float parameters of a module in its own order.
#[derive(Default)]
struct Listing {
    path: Path,
    parameters: Vec<Listed>,
    /// Paths of the layers that can give every example weights of its own.
    per_example: HashSet<String>,
    converted: Option<String>,
}

impl ModuleVisitor for Listing {
    fn enter_module(&mut self, name: &str, container: &str) {
        match container {
            REPARAMETERIZATION => self.converted = Some(self.path.name()),
            // The path ends with the field of the layer that tells of it.
            PER_EXAMPLE => {
                let layer = select::layer(&self.path.name()).to_owned();
                self.per_example.insert(layer);
            }
            _ => {}
        }
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.leave();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        // This makes the parameter. Before, the shape may be that of the record, with its axes in another order.
        let trained = is_trained(param);
        self.parameters.push(Listed {
            path: self.path.name(),
            short_path: self.path.without_variants(),
            shape: param.lazy_shape().to_vec(),
            // To look at weights that are not made yet would make them.
            dtype: match param.is_initialized() {
                true => param.base().dtype(),
                false => DType::F32,
            },
            trained,
        });
    }
}

/// Whether an optimiser would change the parameter: not so for running statistics and frozen ones. A
/// network in evaluation mode remembers it, and tells when it is asked to train again.
pub(super) fn is_trained<const D: usize>(param: &Param<Tensor<D>>) -> bool {
    let value = param.base();
    if value.device().is_autodiff() {
        return value.is_require_grad();
    }
    Module::train(param.clone()).base().is_require_grad()
}
