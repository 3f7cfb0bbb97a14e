//! A network with posteriors.

use super::{Complexity, ConversionAccount, Inventory, Posterior, complexity};
use crate::{
    ops::OpError,
    pass::{Estimator, Pass, PassError},
};
use burn::{
    module::{Module, ModuleMapper},
    optim::GradientsParams,
    tensor::Device,
};
use std::sync::Arc;

/// A network with posteriors on its parameters. It is a Burn module: records, devices, `valid()` and
/// optimisers work as for any other.
///
/// ```
/// use bayesadapter::{nn::LinearConfig, pass::{Estimator, Pass}, posterior::{IntoBayes, MeanField}};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let network = LinearConfig::new(3, 2).init(&device);
/// let bayes = network.into_bayes(MeanField::fine_tune(100))?;
/// let x = Tensor::<2>::ones([4, 3], &device);
/// let y = bayes.run(Pass::train(Estimator::Exemplar, 0), |network| network.forward(x))?;
/// assert_eq!(y.dims(), [4, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Module, Debug)]
pub struct Bayes<M: Module> {
    network: M,
    #[module(skip)]
    posterior: Arc<Posterior>,
    #[module(skip)]
    account: Arc<ConversionAccount>,
}

impl<M: Module> Bayes<M> {
    pub(super) fn new(network: M, posterior: Posterior, account: ConversionAccount) -> Self {
        Self {
            network,
            posterior: Arc::new(posterior),
            account: Arc::new(account),
        }
    }

    /// The network. Outside of a [`Pass`] it is at its mean.
    pub fn network(&self) -> &M {
        &self.network
    }

    /// What was converted.
    pub fn account(&self) -> &ConversionAccount {
        &self.account
    }

    /// The posterior's settings.
    pub fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    /// Every parameter with what its posterior adds.
    pub fn inventory(&self) -> Inventory {
        Inventory::of(&self.network)
    }

    /// Runs `forward` on the network as `pass` says.
    ///
    /// # Errors
    ///
    /// An estimator that the posterior does not have, and what [`Pass::run`] returns.
    pub fn run<T>(&self, pass: Pass, forward: impl FnOnce(&M) -> T) -> Result<T, PassError> {
        self.checked(&pass)?;
        pass.run(|| forward(&self.network))
    }

    /// Which estimator each converted parameter gets when `estimator` is asked for, found out by
    /// running `forward`: layers of [`nn`](crate::nn) do what they are asked, stock layers of Burn
    /// share one draw among the rows, and normalisation layers draw for every example. The
    /// [account](Self::account) tells the same before any pass, if parameters are used by their own layers alone.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn estimators<T>(
        &self,
        estimator: Estimator,
        forward: impl FnOnce(&M) -> T,
    ) -> Result<Vec<(String, Estimator)>, PassError> {
        // Evaluation, so that running statistics stay as they are.
        let pass = Pass::train(estimator, 0).with_mode(crate::pass::Mode::Evaluate);
        self.checked(&pass)?;
        let (_, trace) = pass.trace(|| forward(&self.network))?;
        let paths = self.inventory().entries;
        let named = trace.uses.into_iter().filter_map(|one| {
            let path = paths.get(one.parameter as usize)?.path.clone();
            Some((path, one.estimator))
        });
        Ok(named.collect())
    }

    pub(crate) fn checked(&self, pass: &Pass) -> Result<(), PassError> {
        let crate::pass::Draw::Step { estimator, .. } = pass.draw else {
            return Ok(());
        };
        let wrong = matches!(estimator, Estimator::Local | Estimator::Flipout);
        if wrong && matches!(*self.posterior, Posterior::LowRankEnsemble(_)) {
            let first = self.account.converted.first();
            return Err(PassError::Estimator {
                estimator,
                posterior: "low-rank ensemble",
                path: first.map(|one| one.path.clone()).unwrap_or_default(),
                instead: "the exemplar or the vanilla estimator",
            });
        }
        Ok(())
    }

    /// The network at the posterior mean: a plain module, which shares nothing that training would change.
    pub fn at_mean(&self) -> Result<M, PassError> {
        Pass::mean().run(|| self.apart().materialize())
    }

    /// Draw `k` of the network: a plain module, the same on every device, which shares nothing that training would
    /// change.
    pub fn draw(&self, k: u32) -> Result<M, PassError> {
        Pass::draw(k).run(|| self.apart().materialize())
    }

    /// The network with running statistics of its own. Clones share them, and would follow each other's training;
    /// those that `valid` makes do not.
    pub(crate) fn apart(&self) -> M {
        let in_training = self.network.devices().iter().any(Device::is_autodiff);
        let apart = self.network.valid();
        match in_training {
            true => apart.train(),
            false => apart,
        }
    }

    /// `KL(q || prior) / n`, for reports. For ensembles `lambda / 2C * sum_c |w[c]|^2`.
    ///
    /// # Errors
    ///
    /// A layer too large for the device, and a device that fails.
    #[cfg(not(target_family = "wasm"))]
    pub fn complexity_loss(&self) -> Result<f64, PassError> {
        pollster::block_on(self.complexity_loss_async())
    }

    /// As `complexity_loss`, for places that must not block: a browser's page.
    ///
    /// # Errors
    ///
    /// As `complexity_loss`.
    pub async fn complexity_loss_async(&self) -> Result<f64, PassError> {
        Ok(self.complexity_async().await?.total)
    }

    /// As `complexity_loss`, of all parameters, and of matrices and kernels alone.
    ///
    /// # Errors
    ///
    /// As `complexity_loss`.
    pub async fn complexity_async(&self) -> Result<Complexity, PassError> {
        complexity::loss(&self.inventory(), self.posterior.prior()).await
    }

    /// Adds the gradient of the complexity loss to the gradients of the negative log-likelihood (its
    /// mean over the mini-batch), as weight decay is added. Do this between the backward pass and the
    /// optimiser's step, and use an optimiser without weight decay.
    ///
    /// # Errors
    ///
    /// A layer too large for the device.
    pub fn with_complexity(
        &self,
        mut gradients: GradientsParams,
    ) -> Result<GradientsParams, OpError> {
        let prior = self.posterior.prior();
        complexity::add_gradients(&self.inventory(), prior, &mut gradients)?;
        Ok(gradients)
    }

    /// The same posterior with the parameters of the network mapped.
    pub(crate) fn with_network_mapped(self, mapper: &mut impl ModuleMapper) -> Self {
        Self {
            network: self.network.map(mapper),
            ..self
        }
    }
}
