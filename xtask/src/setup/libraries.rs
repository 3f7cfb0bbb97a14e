//! Shared libraries of the system.

use crate::process::answer;
use std::path::Path;

/// Whether a library such as `libvulkan.so.1` can be loaded.
pub fn is_there(name: &str) -> bool {
    // The linker's cache knows every library folder. Systems without such a cache (musl) keep their
    // libraries in a standard folder.
    let cached = ["ldconfig", "/sbin/ldconfig"]
        .iter()
        .find_map(|program| answer(program, &["-p"]))
        .is_some_and(|libraries| libraries.contains(name));
    cached
        || ["/usr/lib", "/usr/local/lib"]
            .iter()
            .any(|folder| Path::new(folder).join(name).exists())
}
