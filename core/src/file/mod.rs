//! One file for a posterior, which opens on every device and in the browser.
//!
//! It is a safetensors file: any reader of that format finds the tensors under their paths. Its metadata
//! hold a versioned [`Header`] with all that is needed to predict, and a checksum of everything.

mod error;
mod frozen;
mod header;
mod read;
mod tensors;

pub use crate::disk::write_atomically;
pub use error::FileError;
pub use header::{Header, OLDEST_VERSION, VERSION};
pub use read::PosteriorFile;

use crate::posterior::Bayes;
use burn::module::Module;
use safetensors::{Dtype, tensor::TensorView};

/// Key of the header in the metadata of the file: a line with the checksum of everything, then JSON. One
/// key, since the metadata have no order, and the same posterior should give the same bytes.
const HEADER: &str = "bayesadapter";

impl<M: Module> Bayes<M> {
    /// The file that holds this posterior. `header` tells what the network cannot: how its inputs are
    /// made and what its outputs mean.
    ///
    /// ```
    /// use bayesadapter::{file::{Header, PosteriorFile}, models::Architecture};
    /// use bayesadapter::posterior::{IntoBayes, LowRankEnsemble};
    /// use burn::tensor::Device;
    ///
    /// let device = Device::flex();
    /// let architecture: Architecture = "digits-cnn".parse()?;
    /// let bayes = architecture.init(&device)?.into_bayes(LowRankEnsemble::fine_tune(1_797))?;
    /// let bytes = bayes.to_file(&Header::of(architecture))?;
    /// let again = PosteriorFile::from_bytes(bytes)?.into_network(&device)?;
    /// assert_eq!(again.account(), bayes.account());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A device that fails, and a header that cannot be written.
    #[cfg(not(target_family = "wasm"))]
    pub fn to_file(&self, header: &Header) -> Result<Vec<u8>, FileError> {
        pollster::block_on(self.to_file_async(header))
    }

    /// As `to_file`, for places that must not block: a browser's page.
    ///
    /// # Errors
    ///
    /// As `to_file`.
    pub async fn to_file_async(&self, header: &Header) -> Result<Vec<u8>, FileError> {
        // `valid()` takes up the last update of running statistics, which a record would miss.
        let tensors = tensors::collect(&self.network().valid()).await?;
        let header = header.to_json(self)?;
        let checksum = tensors::checksum(&header, &tensors);
        let metadata = [(HEADER.to_owned(), format!("{checksum}\n{header}"))];
        let views = tensors.iter().map(|(path, tensor)| {
            let bytes = bytemuck::cast_slice(&tensor.values);
            let view = TensorView::new(Dtype::F32, tensor.shape.clone(), bytes);
            Ok((path.as_str(), view.map_err(FileError::of_format)?))
        });
        let views: Vec<(&str, TensorView<'_>)> = views.collect::<Result<_, FileError>>()?;
        safetensors::serialize(views, Some(metadata.into_iter().collect()))
            .map_err(FileError::of_format)
    }

    /// A checksum of all tensors with their paths and shapes, the same on every device.
    pub(crate) async fn checksum(&self) -> Result<String, FileError> {
        let tensors = tensors::collect(&self.network().valid()).await?;
        Ok(tensors::checksum("", &tensors))
    }
}
