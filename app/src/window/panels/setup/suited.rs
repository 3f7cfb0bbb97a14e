//! Mini-batch and epochs that suit the number of training images, until the user chooses others.

use bayesadapter::session::TrainingSettings;

/// Which of them are still to follow the data.
pub enum SuitedTraining {
    /// Those that are as they were last set here.
    Last { batch: usize, epochs: u32 },
    /// None: all settings came from a file.
    Fixed,
}

impl Default for SuitedTraining {
    fn default() -> Self {
        let TrainingSettings { batch, epochs, .. } = TrainingSettings::default();
        Self::Last { batch, epochs }
    }
}

impl SuitedTraining {
    /// Sets what the user left alone to what suits `examples` training images.
    pub fn follow(&mut self, training: &mut TrainingSettings, examples: usize) {
        let Self::Last { batch, epochs } = self else {
            return;
        };
        if training.batch == *batch {
            *batch = TrainingSettings::usual_batch(examples);
            training.batch = *batch;
        }
        if training.epochs == *epochs {
            let examples_per_step = training.batch.saturating_mul(training.accumulate);
            *epochs = TrainingSettings::usual_epochs(examples, examples_per_step);
            training.epochs = *epochs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_left_alone_follows_the_data() {
        let (mut training, mut suited) = (TrainingSettings::default(), SuitedTraining::default());
        suited.follow(&mut training, 164);
        assert_eq!((training.batch, training.epochs), (32, 67));
        suited.follow(&mut training, 50_000);
        assert_eq!((training.batch, training.epochs), (128, 12));
        training.epochs = 3;
        suited.follow(&mut training, 164);
        assert_eq!((training.batch, training.epochs), (32, 3));
        let mut fixed = SuitedTraining::Fixed;
        fixed.follow(&mut training, 50_000);
        assert_eq!((training.batch, training.epochs), (32, 3));
    }
}
