//! What the pages of this folder call.

use bayesadapter::selfcheck;
use bayesadapter_app::window;
use burn::tensor::Device;
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

/// Sends a panic to the browser's console, where the tests look for it.
#[wasm_bindgen(start)]
fn start() {
    console_error_panic_hook::set_once();
}

/// The window on a canvas.
#[wasm_bindgen]
pub struct Page(window::Page);

#[wasm_bindgen]
impl Page {
    /// Gives the window a file of the demo's runs, before it is drawn.
    pub fn give(path: &str, bytes: Vec<u8>) {
        window::give(path, bytes);
    }

    /// Draws the window with the demo's network.
    pub async fn open(canvas: HtmlCanvasElement) -> Result<Page, JsValue> {
        window::open(canvas).await.map(Self)
    }

    /// What the window shows and does, as JSON.
    pub fn status(&self) -> Option<String> {
        self.0.status()
    }

    /// The widgets of the last frame with their places, as JSON. The first call only asks for them.
    pub fn outline(&self) -> Option<String> {
        self.0.outline()
    }

    /// The newest file that a run left, if one did: for the case that the module failed.
    pub fn saved(&self) -> Option<Vec<u8>> {
        self.0.saved().map(|saved| saved.bytes)
    }

    /// Why the module failed, if it did.
    pub fn failure(&self) -> Option<String> {
        self.0.failure()
    }
}

/// Runs every op in this tab on WebGPU and on the CPU; the comparison comes back as JSON
/// ([`selfcheck::Row`]s). Fails where there is no WebGPU adapter.
#[wasm_bindgen]
pub async fn check_ops() -> Result<String, JsError> {
    let gpu = Device::wgpu_options().init_async().await?;
    let rows = selfcheck::compare(&gpu, &Device::flex()).await?;
    Ok(serde_json::to_string(&rows)?)
}
