//! A network of a file, opened once for all of its evaluations.

use super::{Flags, images::Corruptions};
use crate::{
    cli::{Voice, checkpoint, flags::usual_workers, interrupt, test_pictures::Validation},
    network::{self, Opened},
};
use anyhow::{Result, anyhow};
use bayesadapter::{
    data::{Dataset, Preparation},
    evaluate::Evaluation,
    session::{self, EvaluationSettings, Judge, OwnThread, Port},
};
use burn::tensor::{Device, read_sync};
use std::{path::Path, sync::Arc};

/// A posterior file or an ordinary checkpoint, opened.
pub struct OpenNetwork<'a> {
    /// Where it is.
    pub file: &'a Path,
    /// What tables call it.
    pub label: String,
    /// The network.
    pub opened: Opened,
    /// What is done to images before the network sees them.
    pub preparation: Preparation,
    /// Threads that read images ahead.
    pub workers: usize,
}

impl<'a> OpenNetwork<'a> {
    /// Opens a file; an ordinary checkpoint gets the classes of the data that it is evaluated on.
    pub fn open(
        file: &'a Path,
        flags: &Flags,
        class_names: &[String],
        device: &Device,
    ) -> Result<Self> {
        let opened = match &flags.model {
            Some(model) if !checkpoint::is_posterior(file) => {
                checkpoint::open_checkpoint(file, model, class_names, device)?
            }
            _ => network::open(file, device)?,
        };
        let preparation = opened.preparation()?;
        Ok(Self {
            file,
            label: flags.label(file, &opened.name()),
            workers: flags
                .workers
                .unwrap_or_else(|| usual_workers(preparation.shape[1])),
            preparation,
            opened,
        })
    }

    /// How the network is evaluated on a test set, without OOD images.
    pub fn evaluator(
        &self,
        flags: &Flags,
        test: &Arc<dyn Dataset>,
        validation: &Validation,
    ) -> Judge {
        // A split that is asked for here is calibrated on; otherwise what the file has is what users of it get.
        let known = self.opened.header.calibration.clone();
        Judge {
            test: Arc::clone(test),
            test_is_corrupted: matches!(&flags.corruption, Some(Corruptions::One(_))),
            calibration: known.filter(|_| flags.validation.is_none()),
            validation: validation.clone(),
            out_of_distribution: None,
            preparation: self.preparation.clone(),
            settings: EvaluationSettings {
                draws: flags.draws,
                batch: flags.batch,
                ..EvaluationSettings::default()
            },
            skip_broken: flags.skip_broken,
            workers: self.workers,
            device: self.opened.device.clone(),
        }
    }

    /// Evaluates the network on a thread of its own, and tells how far it is; nothing if the user stopped it.
    pub fn evaluate(&self, evaluator: Judge, voice: &Voice) -> Result<Option<Evaluation>> {
        let (control, port) = session::connect();
        let interrupt = interrupt::stops(&control);
        // Burn's modules can be sent to a thread, but not be shared with one. A clone has the same weights.
        let (bayes, name) = (self.opened.bayes.clone(), self.opened.name());
        let evaluated = std::thread::scope(|scope| {
            let thread = scope.spawn(move || {
                let evaluation = evaluator.evaluate(&bayes, &name, &port, &OwnThread);
                read_sync(evaluation)
            });
            voice.follow(&control);
            thread.join()
        });
        drop(interrupt);
        let evaluated = evaluated
            .map_err(|_| anyhow!("the evaluation ended by a defect of this program"))??;
        Ok(evaluated.map(|evaluation| {
            // The event that told of it before does not know of other files.
            voice.json(&serde_json::json!({
                "event": "judged",
                "file": self.file,
                "method": self.label,
                "draws": evaluation.draws,
                "scores": evaluation.scores,
                "calibrated": evaluation.calibrated,
                "out_of_distribution": evaluation.out_of_distribution.as_ref().map(|ood| &ood.detection),
            }));
            Evaluation {
                method: self.label.clone(),
                ..evaluation
            }
        }))
    }

    /// Evaluates the network on this thread, and tells only the port how far it is; nothing if that was told to stop.
    pub fn evaluate_quietly(&self, evaluator: &Judge, port: &Port) -> Result<Option<Evaluation>> {
        let evaluation = evaluator.evaluate(&self.opened.bayes, &self.label, port, &OwnThread);
        Ok(read_sync(evaluation)?)
    }
}
