//! What the pages of this folder call.

use bayesadapter::selfcheck;
use bayesadapter_app::window;
use burn::tensor::Device;
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

unsafe extern "C" {
    /// Made by the linker: what crates want to be done before anything else. Without a call of our own, the linker
    /// would do it again at every call from JavaScript.
    fn __wasm_call_ctors();
}

/// Sends a panic to the browser's console, where the tests look for it.
#[wasm_bindgen(start)]
fn start() {
    // SAFETY: called once, before any other code of this module runs.
    unsafe { __wasm_call_ctors() };
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

    /// Whether a run saved something.
    pub fn has_saved() -> bool {
        window::has_saved()
    }

    /// Downloads what a run saved last: also when the module failed, whose memory can still be read.
    pub fn rescue() {
        window::rescue();
    }

    /// Why the module failed, if it did.
    pub fn failure(&self) -> Option<String> {
        self.0.failure()
    }
}

/// Does what the page says, in the thread of its runs.
#[wasm_bindgen]
pub fn obey(order: &[u8], bytes: Option<Vec<u8>>) {
    window::obey(order, bytes);
}

/// Runs every op in this tab on WebGPU and on the CPU; the name of the adapter and the comparison come back as JSON
/// ([`selfcheck::Row`]s). Fails where there is no WebGPU adapter.
#[wasm_bindgen]
pub async fn check_ops() -> Result<String, JsError> {
    let gpu = window::webgpu().await;
    let (adapter, gpu) = gpu.map_err(|error| JsError::new(&error))?;
    let rows = selfcheck::compare(&gpu, &Device::flex()).await?;
    Ok(serde_json::json!({ "adapter": adapter, "rows": rows }).to_string())
}
