//! A Bayesian network for other pages; `bayesadapter-api.js` makes it pleasant to use.

use bayesadapter::{
    data::{Picture, Preparation},
    evaluate::{CalibratedPrediction, Calibration},
    file::PosteriorFile,
    metrics::ConformalMethod,
    models::Network,
    posterior::{Bayes, Posterior},
    predict::{Draws, PredictOptions, Prediction},
};
use bayesadapter_app::window;
use burn::tensor::{Device, Tensor, TensorData};
use wasm_bindgen::prelude::*;

/// A posterior file, opened on a device.
#[wasm_bindgen]
pub struct LoadedPosterior {
    bayes: Bayes<Network>,
    device: Device,
    preparation: Preparation,
    class_names: Vec<String>,
    calibration: Option<Calibration>,
    is_point: bool,
}

#[wasm_bindgen]
impl LoadedPosterior {
    /// Opens the content of a posterior file on the CPU, or on WebGPU.
    pub async fn open(bytes: Vec<u8>, webgpu: bool) -> Result<LoadedPosterior, JsError> {
        let file = PosteriorFile::from_bytes(bytes)?;
        let is_point = matches!(file.posterior(), Posterior::Point(_));
        let header = file.header();
        let (Some(shape), Some(normalisation)) = (header.input_shape, &header.normalisation) else {
            return Err(JsError::new(
                "the file does not say what its pictures look like (shape and normalisation)",
            ));
        };
        let preparation = Preparation::new(shape, normalisation.clone());
        let class_names = header.class_names.clone();
        let calibration = header.calibration.clone();
        let device = match webgpu {
            true => {
                window::webgpu()
                    .await
                    .map_err(|error| JsError::new(&error))?
                    .1
            }
            false => Device::flex(),
        };
        Ok(Self {
            bayes: file.into_network(&device)?,
            device,
            preparation,
            class_names,
            calibration,
            is_point,
        })
    }

    /// Names of the classes, in the order of the probabilities.
    #[wasm_bindgen(getter)]
    pub fn classes(&self) -> Vec<String> {
        self.class_names.clone()
    }

    /// What the network says of an image of height x width x channels values, with the temperature of the file or
    /// without it.
    pub async fn predict(
        &self,
        channels: usize,
        height: usize,
        width: usize,
        pixels: Vec<u8>,
        draws: u32,
        with_temperature: bool,
    ) -> Result<Answer, JsError> {
        let picture = Picture::new(channels, height, width, pixels)?;
        let [channels, height, width] = self.preparation.shape;
        let values = self.preparation.prepare(&picture)?;
        let input = TensorData::new(values, [1, channels, height, width]);
        let input = Tensor::<4>::from_data(input, &self.device);
        let draws = match self.is_point {
            true => Draws::Mean,
            false => Draws::Fixed(draws),
        };
        let options = PredictOptions::new(draws).with_draws_kept();
        let prediction = self.bayes.predict_async(input, options).await?;
        let calibrated = CalibratedPrediction::new(
            prediction,
            self.calibration.as_ref(),
            ConformalMethod::Threshold,
            with_temperature,
        )?;
        let sets = calibrated.sets;
        Ok(Answer {
            prediction: calibrated.prediction,
            set: sets.and_then(|sets| sets.classes.into_iter().next()),
        })
    }
}

/// What a network says of one image.
#[wasm_bindgen]
pub struct Answer {
    prediction: Prediction,
    set: Option<Vec<u32>>,
}

#[wasm_bindgen]
impl Answer {
    /// Of every class, averaged over the draws.
    #[wasm_bindgen(getter)]
    pub fn probabilities(&self) -> Vec<f32> {
        self.prediction.probabilities().to_vec()
    }

    /// Mutual information, in nats.
    #[wasm_bindgen(getter)]
    pub fn mi(&self) -> f64 {
        self.prediction
            .mutual_information()
            .first()
            .copied()
            .unwrap_or_default()
    }

    /// In nats.
    #[wasm_bindgen(getter)]
    pub fn entropy(&self) -> f64 {
        self.prediction
            .entropy()
            .first()
            .copied()
            .unwrap_or_default()
    }

    /// Numbers of the classes in the prediction set, from the most probable on, if the file has a calibration.
    #[wasm_bindgen(getter)]
    pub fn prediction_set(&self) -> Option<Vec<u32>> {
        self.set.clone()
    }

    /// Of every draw and class, draw by draw.
    #[wasm_bindgen(getter)]
    pub fn draws(&self) -> Vec<f32> {
        self.prediction
            .draw_probabilities
            .clone()
            .unwrap_or_default()
    }
}
