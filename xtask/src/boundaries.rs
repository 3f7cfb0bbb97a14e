//! The arrows between the crates: `shaders <- core <- app <- web`; `tests` looks at all of them and
//! nobody looks at `tests`.

use crate::workspace::{DependencyKind, Package, Workspace};
use anyhow::{Result, bail};

/// What one crate may and may not depend on.
struct Rule {
    name: &'static str,
    /// Crates of this workspace it may use.
    members: &'static [&'static str],
    /// Other crates it may use, if that is a closed list.
    only: Option<&'static [&'static str]>,
    /// Crates it must not use. A trailing `*` stands for any ending.
    never: &'static [&'static str],
}

const RULES: &[Rule] = &[
    Rule {
        // Plain data and arithmetic: it must serve any GPU library and any thread model.
        name: "bayesadapter-shaders",
        members: &[],
        only: None,
        never: &["burn*", "cubecl*", "wgpu*", "naga*", "rayon*"],
    },
    Rule {
        // A library: no window, no command line, no printing, typed errors.
        name: "bayesadapter",
        members: &["bayesadapter-shaders"],
        only: None,
        never: &["egui*", "eframe", "clap*", "indicatif", "anyhow"],
    },
    Rule {
        // Shows what the library computes.
        name: "bayesadapter-app",
        members: &["bayesadapter"],
        only: None,
        never: &["naga*", "cubecl*", "wgpu-hal"],
    },
    Rule {
        // The page: what is not about browsers belongs into the crates below.
        name: "bayesadapter-web",
        members: &["bayesadapter", "bayesadapter-app"],
        only: Some(&[
            "burn",
            "console_error_panic_hook",
            "getrandom",
            "serde_json",
            "wasm-bindgen",
            "wasm-bindgen-futures",
            "web-sys",
        ]),
        never: &[],
    },
    Rule {
        name: "bayesadapter-tests",
        members: &[
            "bayesadapter",
            "bayesadapter-app",
            "bayesadapter-shaders",
            "bayesadapter-web",
        ],
        only: None,
        never: &[],
    },
    Rule {
        // It must build before anything else does.
        name: "xtask",
        members: &[],
        only: None,
        never: &["burn*", "cubecl*", "wgpu*", "eframe", "egui*"],
    },
];

/// Fails with every dependency that points the wrong way. Development dependencies may bring in
/// any outside crate, but no other member.
pub fn check(workspace: &Workspace) -> Result<()> {
    let names: Vec<&str> = workspace.members().map(|m| m.name.as_str()).collect();
    let faults: Vec<String> = workspace
        .members()
        .flat_map(|member| faults(member, &names))
        .collect();
    if !faults.is_empty() {
        bail!(
            "{}\nThe rules and their reasons are in xtask/src/boundaries.rs.",
            faults.join("\n")
        );
    }
    println!("{} crates keep to their boundaries", names.len());
    Ok(())
}

fn faults(member: &Package, members: &[&str]) -> Vec<String> {
    let Some(rule) = RULES.iter().find(|rule| rule.name == member.name) else {
        return vec![format!(
            "{} is a new crate: say in xtask/src/boundaries.rs what it may depend on",
            member.name
        )];
    };
    member
        .dependencies
        .iter()
        .filter(|dependency| {
            let is_dev = dependency.kind == Some(DependencyKind::Dev);
            !rule.allows(&dependency.name, is_dev, members)
        })
        .map(|dependency| format!("{} must not depend on {}", rule.name, dependency.name))
        .collect()
}

impl Rule {
    fn allows(&self, dependency: &str, is_dev: bool, members: &[&str]) -> bool {
        if members.contains(&dependency) {
            return self.members.contains(&dependency);
        }
        if is_dev {
            return true;
        }
        let refused = self
            .never
            .iter()
            .any(|pattern| matches(pattern, dependency));
        let listed = self.only.is_none_or(|only| only.contains(&dependency));
        !refused && listed
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMBERS: [&str; 3] = ["bayesadapter", "bayesadapter-shaders", "bayesadapter-tests"];

    fn allows(name: &str, dependency: &str, is_dev: bool) -> bool {
        let rule = RULES.iter().find(|rule| rule.name == name);
        rule.is_some_and(|rule| rule.allows(dependency, is_dev, &MEMBERS))
    }

    #[test]
    fn arrows_point_one_way() {
        assert!(allows("bayesadapter", "bayesadapter-shaders", false));
        assert!(!allows("bayesadapter-shaders", "bayesadapter", false));
        assert!(!allows("bayesadapter", "bayesadapter-tests", true));
    }

    #[test]
    fn outside_crates() {
        assert!(allows("bayesadapter-shaders", "bytemuck", false));
        assert!(!allows("bayesadapter-shaders", "burn-wgpu", false));
        assert!(!allows("bayesadapter-shaders", "naga", false));
        assert!(allows("bayesadapter-shaders", "naga", true));
        assert!(allows("bayesadapter-web", "wasm-bindgen", false));
        assert!(!allows("bayesadapter-web", "rayon", false));
    }
}
