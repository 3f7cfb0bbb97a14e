//! What the window asks of the browser; the other half is in `browser.js`.

use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/window/page/browser.js")]
extern "C" {
    #[wasm_bindgen(js_name = breathe)]
    async fn give_way() -> JsValue;

    /// A moment without work.
    pub async fn rest();

    #[wasm_bindgen(js_name = adapter)]
    async fn find_adapter() -> JsValue;

    #[wasm_bindgen(js_name = choose)]
    async fn choose_files(folder: bool) -> JsValue;

    #[wasm_bindgen(js_name = droppedFolder)]
    async fn next_folder() -> JsValue;

    #[wasm_bindgen(js_name = png)]
    async fn draw(svg: &str, scale: f32) -> JsValue;

    /// A folder that was dropped, or a file beside one.
    pub type Dropped;

    #[wasm_bindgen(method, getter)]
    pub fn name(this: &Dropped) -> String;

    #[wasm_bindgen(method, getter, js_name = files)]
    fn all_files(this: &Dropped) -> JsValue;

    /// A list of files.
    type Files;

    #[wasm_bindgen(method)]
    fn pop(this: &Files) -> JsValue;

    /// A WebGPU adapter.
    pub type Adapter;

    #[wasm_bindgen(method, getter)]
    pub fn name(this: &Adapter) -> String;

    /// Whether it is a GPU in software.
    #[wasm_bindgen(method, getter)]
    pub fn software(this: &Adapter) -> bool;

    /// A file that the user chose, or the browser made; the names of a folder's files begin with that of the folder.
    pub type Picked;

    #[wasm_bindgen(method, getter)]
    pub fn name(this: &Picked) -> String;

    /// Nothing if the file cannot be read.
    #[wasm_bindgen(method, getter)]
    pub fn bytes(this: &Picked) -> Option<Vec<u8>>;

    /// Gives the user a file.
    pub fn download(name: &str, bytes: &[u8]);

    /// A thread that has this module too.
    pub type Thread;

    #[wasm_bindgen(constructor, catch)]
    fn new(module: &JsValue) -> Result<Thread, JsValue>;

    #[wasm_bindgen(method)]
    pub fn say(this: &Thread, order: &[u8], bytes: Option<&[u8]>);

    #[wasm_bindgen(method, js_name = hear)]
    async fn next(this: &Thread) -> JsValue;

    #[wasm_bindgen(method)]
    pub fn end(this: &Thread);

    /// What a thread said; nothing if it failed.
    pub type Heard;

    #[wasm_bindgen(method, getter)]
    pub fn word(this: &Heard) -> Option<Vec<u8>>;

    #[wasm_bindgen(method, getter)]
    pub fn bytes(this: &Heard) -> Option<Vec<u8>>;

    /// From inside of a thread.
    pub fn say(word: &[u8], bytes: Option<&[u8]>);
}

/// A thread, if the browser can start one.
pub fn thread() -> Option<Thread> {
    Thread::new(&wasm_bindgen::module()).ok()
}

impl Thread {
    /// What it says next.
    pub async fn hear(&self) -> Heard {
        self.next().await.unchecked_into()
    }
}

/// Lets the browser draw and answer its user; takes as long as the tab is hidden, and returns the seconds of that.
pub async fn breathe() -> f64 {
    give_way().await.as_f64().unwrap_or_default()
}

/// The adapter that the browser would give, if it has one.
pub async fn adapter() -> Option<Adapter> {
    defined(find_adapter().await)
}

/// Lets the user choose a file, or all files of a folder.
pub async fn choose(folder: bool) -> Vec<Picked> {
    list(choose_files(folder).await)
}

/// The next folder that is dropped on the page, or file that is dropped beside one.
pub async fn dropped_folder() -> Dropped {
    next_folder().await.unchecked_into()
}

impl Dropped {
    /// All files of it.
    pub fn files(&self) -> Vec<Picked> {
        list(self.all_files())
    }
}

fn list(files: JsValue) -> Vec<Picked> {
    let files: Files = files.unchecked_into();
    std::iter::from_fn(|| defined(files.pop())).collect()
}

/// A chart as a PNG file, if the browser can draw it.
pub async fn png(svg: &str, scale: f32) -> Option<Vec<u8>> {
    defined::<Picked>(draw(svg, scale).await).and_then(|file| file.bytes())
}

fn defined<T: JsCast>(value: JsValue) -> Option<T> {
    (!value.is_undefined()).then(|| value.unchecked_into())
}
