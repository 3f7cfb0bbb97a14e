//! A display for the window's test, which needs no screen.

use super::libraries;
use crate::process::find;

/// Libraries that a window loads when it opens, and the packages that have them.
const LIBRARIES: [(&str, &str); 6] = [
    ("libX11.so.6", "libx11-6"),
    ("libX11-xcb.so.1", "libx11-xcb1"),
    ("libXcursor.so.1", "libxcursor1"),
    ("libXi.so.6", "libxi6"),
    ("libXrandr.so.2", "libxrandr2"),
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
];

/// Nothing where the window's test does not run.
pub fn missing_packages() -> Vec<&'static str> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let missing = LIBRARIES
        .iter()
        .filter(|(name, _)| !libraries::is_there(name));
    let server = find(&["Xvfb"]).is_none().then_some("xvfb");
    missing.map(|(_, package)| *package).chain(server).collect()
}
