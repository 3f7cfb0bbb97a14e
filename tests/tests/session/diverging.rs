//! Numbers that run away: what is to blame, and where the run goes back to.

use super::{refusing::put_aside, *};
use bayesadapter::session::RunFolder;
use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::Tensor,
};

/// Multiplies the matrices of a network, each with a factor of its own.
struct Scaling<I>(I);

impl<I: Iterator<Item = f32>> ModuleMapper for Scaling<I> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if D != 2 {
            return param;
        }
        let factor = self.0.next().unwrap();
        param.map(|value| {
            let scaled = value.without_autodiff().mul_scalar(factor);
            scaled.autodiff().require_grad()
        })
    }
}

/// A run of a perceptron of three layers, whose matrices are multiplied with these factors at the start.
fn perceptron(mut settings: RunSettings, factors: [f32; 3]) -> Job {
    settings.model.architecture = "mlp".to_owned();
    let mut job = job(settings);
    job.network = job.network.map(&mut Scaling(factors.into_iter()));
    job
}

/// Settings with all digits in one batch, and so one step.
fn one_step(lr: f64) -> RunSettings {
    let mut settings = settings(Method::Map);
    settings.training.batch = 2_000;
    settings.training.epochs = 1;
    settings.training.rates.lr = lr;
    settings
}

#[test]
fn the_layer_is_named_with_which_it_began() {
    // The loss is finite, and so are all gradients but that of the second layer: what goes into it times what comes back
    // is too large for a float. Two steps later every parameter is ruined.
    let job = perceptron(settings(Method::Map), [1e25, 1e-30, 1e25]);
    let error = ending(job, None, Memory::default()).0.unwrap_err();
    let SessionError::NotFinite {
        what, step, back, ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(what, "Mlp.hidden.1.weight", "{error}");
    assert_eq!((*step, *back), (1, 0), "{error}");
}

#[test]
fn a_bad_start_names_the_parameter_that_is_bad_or_else_the_loss() {
    for (factors, expected) in [
        ([1.0, f32::INFINITY, 1.0], "Mlp.hidden.1.weight"),
        // All weights are finite, and too large together.
        ([1e25, 1.0, 1e25], "the loss"),
    ] {
        let job = perceptron(settings(Method::Map), factors);
        let error = ending(job, None, Memory::default()).0.unwrap_err();
        assert!(
            matches!(&error, SessionError::BadStart { what, step: 0 } if what == expected),
            "{error}"
        );
    }
}

/// No loss tells what the last step has done.
#[test]
fn what_the_last_step_ruins_is_found_and_the_run_can_go_on() {
    for (rate, factors, begins) in [
        (3e38, [1.0, 1.0, 1e3], "Mlp.hidden."),
        // The weights stay finite, and what they give does not.
        (1e30, [1.0; 3], "a probability"),
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("run");
        let folder = RunFolder::create(&path, &one_step(rate), "").unwrap();
        let job = perceptron(one_step(rate), factors);
        let error = ending(job, None, folder).0.unwrap_err();
        assert!(
            matches!(&error, SessionError::NotFinite { what, step: 1, back: 0, .. }
                if what.starts_with(begins)),
            "{error}"
        );
        let (folder, _) = RunFolder::open(&path).unwrap();
        assert!(!folder.posterior_path().exists());
        let state = RunFolder::state(&folder).unwrap().0.unwrap();
        assert_eq!(state.position.step, 0);
        let tame = perceptron(one_step(1e-6), factors);
        let (ended, _) = ending(tame, Some(state), folder);
        assert_eq!(ended.unwrap(), Ending::Finished);
        assert!(path.join("posterior.safetensors").exists());
    }
}

#[test]
fn a_place_that_refuses_does_not_hide_what_happened() {
    let job = perceptron(settings(Method::Map), [1e25, 1e-30, 1e25]);
    let (ended, warnings) = ending(job, None, Memory::refusing(&["state"]));
    let error = ended.unwrap_err();
    assert!(
        matches!(&error, SessionError::NotFinite { what, .. } if what == "Mlp.hidden.1.weight"),
        "{error}"
    );
    let told = |part: &str| warnings.iter().find(|warning| warning.contains(part));
    assert!(told("could not be removed").is_some(), "{warnings:?}");
    // The good state is where there was room.
    let bytes = put_aside(told("instead").unwrap());
    assert_eq!(TrainState::from_bytes(&bytes).unwrap().position.step, 0);
}
