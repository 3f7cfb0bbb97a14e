//! The flags of the posterior.

use super::set;
use crate::cli::choices::{PosteriorFlag, PriorFlag};
use bayesadapter::{posterior::Select, session::PosteriorSettings};
use clap::Args;

/// What is attached to the weights.
#[derive(Args, Clone, Default)]
pub struct PosteriorFlags {
    /// Posterior over the weights: pse (parameter-sharing ensemble), mfg (mean-field Gaussian), or map for
    /// deterministic fine-tuning [default: pse].
    #[arg(long, value_enum, help_heading = "Posterior")]
    pub posterior: Option<PosteriorFlag>,
    /// Members of a PSE ensemble [default: 20, as in the paper].
    #[arg(long, value_name = "C", help_heading = "Posterior")]
    pub components: Option<usize>,
    /// Rank of the PSE factors [default: 1: in the paper more rank gains nothing].
    #[arg(long, value_name = "R", help_heading = "Posterior")]
    pub rank: Option<usize>,
    /// Standard deviation of the weights at the start, as a fraction of the weights: for PSE that of the product of the
    /// factors, for MFG a fraction of each layer's rms [default: what suits the network: the more overconfident it is on
    /// the validation images, the more, for PSE up to 0.3; 0.2 without such images].
    #[arg(long, value_name = "X", help_heading = "Posterior")]
    pub initial_std: Option<f32>,
    /// Instead, for MFG: range of the logarithms of the standard deviations at the start, as -6,-5 in the paper
    /// [default: none].
    #[arg(
        long,
        value_name = "LOW,HIGH",
        value_parser = log_range,
        allow_hyphen_values = true,
        conflicts_with = "initial_std",
        help_heading = "Posterior"
    )]
    pub initial_log_std: Option<[f32; 2]>,
    /// Which weights become Bayesian: all, last, or path patterns such as 'layer4.*,fc.*' [default: all, as in the
    /// paper; fewer are cheaper].
    #[arg(long, value_name = "WHICH", help_heading = "Posterior")]
    pub layers: Option<String>,
    /// Centre of the MFG prior: zero, or the pre-trained weights (MOPED) [default: zero, as weight decay has it].
    #[arg(long, value_enum, help_heading = "Posterior")]
    pub prior: Option<PriorFlag>,
}

impl PosteriorFlags {
    /// Puts what is given into the settings.
    pub fn apply(&self, settings: &mut PosteriorSettings) {
        set(&mut settings.method, &self.posterior.map(Into::into));
        set(&mut settings.components, &self.components);
        set(&mut settings.rank, &self.rank);
        set(&mut settings.prior, &self.prior.map(Into::into));
        if self.initial_std.is_some() || self.initial_log_std.is_some() {
            settings.initial_std = self.initial_std;
            settings.initial_log_std = self.initial_log_std;
        }
        if let Some(layers) = &self.layers {
            settings.layers = match layers.as_str() {
                "all" => Select::All,
                "last" => Select::LastLayer,
                patterns => Select::paths(patterns.split(',')),
            };
        }
    }
}

/// Two numbers with a comma between them.
fn log_range(text: &str) -> Result<[f32; 2], String> {
    let numbers: Result<Vec<f32>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[low, high]) => Ok([low, high]),
        _ => Err(format!(
            "\"{text}\" is not a range; two numbers are needed, such as -6,-5"
        )),
    }
}
