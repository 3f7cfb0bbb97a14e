//! Runs on every device.

use super::*;
use bayesadapter::data::few_digits;
use bayesadapter_tests::devices;

#[test]
fn every_device_repeats_a_run_bit_for_bit_and_goes_on_with_one() {
    for (name, device) in devices() {
        for method in [Method::Map, Method::Mfg, Method::Pse] {
            let mut settings = settings(method);
            settings.model.architecture = "mlp".to_owned();
            // Five steps.
            settings.training.batch = 100;
            settings.training.epochs = 1;
            settings.training.checkpoint_steps = 2;
            let job = || {
                let (train, test) = (few_digits(Split::Train), digits(Split::Test));
                let (train, test) = (Arc::new(train), Arc::new(test));
                let splits = Splits::new(train, test);
                Job::new(settings.clone(), None, splits, None, &device).unwrap()
            };
            let whole = complete_job(job(), None);
            let whole = whole.kept();
            let twice = complete_job(job(), None);
            assert!(twice.kept().posterior == whole.posterior, "{name} {method}");
            let steps: Vec<usize> = whole.states.iter().map(|(at, _)| at.step).collect();
            assert_eq!(steps, [2, 4, 5]);
            for (position, bytes) in &whole.states {
                let state = TrainState::from_bytes(bytes).unwrap();
                let again = complete_job(job(), Some(state));
                assert!(
                    again.kept().posterior == whole.posterior,
                    "{name} {method} from {position:?}"
                );
            }
        }
    }
}
