//! The page's way into the library. Natively there is nothing here.

#[cfg(target_family = "wasm")]
mod api;
#[cfg(target_family = "wasm")]
mod entry;
