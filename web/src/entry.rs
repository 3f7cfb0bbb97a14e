//! What JavaScript calls.

use bayesadapter::selfcheck;
use burn::tensor::Device;
use wasm_bindgen::prelude::*;

/// Sends a panic to the browser's console, where the tests look for it.
#[wasm_bindgen(start)]
fn start() {
    console_error_panic_hook::set_once();
}

/// Runs every op in this tab on WebGPU and on the CPU; the comparison comes back as JSON
/// ([`selfcheck::Row`]s). Fails where there is no WebGPU adapter.
#[wasm_bindgen]
pub async fn check_ops() -> Result<String, JsError> {
    let gpu = Device::wgpu_options().init_async().await?;
    let rows = selfcheck::compare(&gpu, &Device::flex()).await?;
    Ok(serde_json::to_string(&rows)?)
}
