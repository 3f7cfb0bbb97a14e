//! Which layers become Bayesian, as a tree.

use super::row::heading;
use crate::window::survey::Parameter;
use bayesadapter::posterior::Select;
use egui::{Checkbox, Ui, collapsing_header::CollapsingState};

/// The layers of a network, and which of their parameters are chosen.
#[derive(Default)]
pub struct Layers {
    paths: Vec<String>,
    chosen: Vec<bool>,
    /// Path of the last layer that has a matrix of weights.
    last: Option<String>,
    roots: Vec<Node>,
}

/// A layer, or layers that belong together.
#[derive(Debug, PartialEq)]
struct Node {
    name: String,
    /// What the paths of its parameters begin with.
    path: String,
    /// Positions of its parameters, those of its children included.
    parameters: Vec<usize>,
    children: Vec<Self>,
}

impl Layers {
    pub fn fill(&mut self, parameters: &[Parameter]) {
        self.paths = parameters.iter().map(|one| one.path.clone()).collect();
        self.chosen = parameters.iter().map(|one| one.chosen).collect();
        let last = parameters.iter().rfind(|one| one.matrix);
        self.last = last.and_then(|one| layer(&one.path)).map(str::to_owned);
        self.roots.clear();
        for (at, path) in self.paths.iter().enumerate() {
            let mut nodes = &mut self.roots;
            // The last part names the parameter within its layer.
            let ends = path.match_indices('.').map(|(end, _)| end);
            for end in ends {
                let prefix = &path[..end];
                let known = nodes.iter().position(|node| node.path == prefix);
                let place = known.unwrap_or_else(|| {
                    nodes.push(Node {
                        name: prefix.rsplit('.').next().unwrap_or(prefix).to_owned(),
                        path: prefix.to_owned(),
                        parameters: Vec::new(),
                        children: Vec::new(),
                    });
                    nodes.len() - 1
                });
                let node = &mut nodes[place];
                node.parameters.push(at);
                nodes = &mut node.children;
            }
        }
    }

    pub fn ui(&mut self, ui: &mut Ui, select: &mut Select) {
        heading(ui, "Bayesian layers");
        ui.horizontal(|ui| {
            let by_choice = matches!(select, Select::Paths(_) | Select::Where(_));
            let all = ui.radio(*select == Select::All, "All");
            let explained = "Every weight of the network gets a posterior.";
            if all.on_hover_text(explained).clicked() {
                *select = Select::All;
                self.chosen.fill(true);
            }
            let last = ui.radio(*select == Select::LastLayer, "The last");
            let explained = "Only the layer that gives the answer: cheap, and knows less of what it does not know.";
            if last.on_hover_text(explained).clicked() {
                *select = Select::LastLayer;
                self.choose_last();
            }
            let choose = ui.radio(by_choice, "By choice");
            let explained = "The layers that are ticked below; the others keep one value per weight.";
            if choose.on_hover_text(explained).clicked() && !by_choice {
                *select = self.select();
            }
        });
        let mut changed = false;
        for node in &self.roots {
            changed |= node.ui(ui, &mut self.chosen, true);
        }
        if changed {
            *select = self.select();
        }
    }

    /// Whether the network is known, and nothing of it chosen.
    pub fn none_is_chosen(&self) -> bool {
        !self.chosen.is_empty() && !self.chosen.contains(&true)
    }

    fn choose_last(&mut self) {
        let paths = self.paths.iter();
        let last = self.last.as_deref();
        self.chosen = paths.map(|path| layer(path) == last).collect();
    }

    /// The shortest patterns that choose what is chosen.
    fn select(&self) -> Select {
        let mut patterns = Vec::new();
        for node in &self.roots {
            node.patterns(&self.paths, &self.chosen, &mut patterns);
        }
        Select::Paths(patterns)
    }
}

fn layer(path: &str) -> Option<&str> {
    path.rsplit_once('.').map(|(layer, _)| layer)
}

impl Node {
    /// Whether all, or at least some, of its parameters are chosen.
    fn state(&self, chosen: &[bool]) -> (bool, bool) {
        let is = |&at: &usize| chosen.get(at) == Some(&true);
        let mut parameters = self.parameters.iter();
        (self.parameters.iter().all(is), parameters.any(is))
    }

    /// Draws the node; returns whether something was changed.
    fn ui(&self, ui: &mut Ui, chosen: &mut [bool], open: bool) -> bool {
        let check = |ui: &mut Ui, chosen: &mut [bool]| {
            let (mut all, some) = self.state(chosen);
            let part = some && !all;
            let check = Checkbox::new(&mut all, &self.name).indeterminate(part);
            let changed = ui.add(check).on_hover_text(&self.path).changed();
            if changed {
                for &at in &self.parameters {
                    chosen[at] = all;
                }
            }
            changed
        };
        if self.children.is_empty() {
            // In line with those that can be opened.
            return ui
                .horizontal(|ui| {
                    ui.add_space(ui.spacing().indent);
                    check(ui, chosen)
                })
                .inner;
        }
        let id = ui.make_persistent_id(&self.path);
        let state = CollapsingState::load_with_default_open(ui.ctx(), id, open);
        let header = state.show_header(ui, |ui| check(ui, chosen));
        let (_, header, body) = header.body(|ui| {
            let mut changed = false;
            for child in &self.children {
                changed |= child.ui(ui, chosen, false);
            }
            changed
        });
        header.inner || body.is_some_and(|body| body.inner)
    }

    fn patterns(&self, paths: &[String], chosen: &[bool], patterns: &mut Vec<String>) {
        match self.state(chosen) {
            (_, false) => {}
            (true, _) => patterns.push(format!("{}.*", self.path)),
            (false, true) => {
                for child in &self.children {
                    child.patterns(paths, chosen, patterns);
                }
                // Parameters of its own, which no child has.
                let own =
                    |at: &&usize| !self.children.iter().any(|one| one.parameters.contains(at));
                let own = self.parameters.iter().filter(own);
                let own = own.filter(|&&at| chosen.get(at) == Some(&true));
                patterns.extend(own.filter_map(|&at| paths.get(at).cloned()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(chosen: [bool; 4]) -> Layers {
        let paths = [
            "Net.conv.weight",
            "Net.block.a.weight",
            "Net.block.a.bias",
            "Net.fc.weight",
        ];
        let parameters = paths.iter().zip(chosen).map(|(path, chosen)| Parameter {
            path: (*path).to_owned(),
            matrix: path.ends_with("weight"),
            chosen,
        });
        let mut layers = Layers::default();
        layers.fill(&parameters.collect::<Vec<_>>());
        layers
    }

    #[test]
    fn layers_become_few_patterns() {
        let patterns = |chosen| match layers(chosen).select() {
            Select::Paths(patterns) => patterns,
            _ => Vec::new(),
        };
        assert_eq!(patterns([true; 4]), ["Net.*"]);
        assert_eq!(patterns([false, true, true, false]), ["Net.block.*"]);
        assert_eq!(
            patterns([true, true, false, false]),
            ["Net.conv.*", "Net.block.a.weight"]
        );
        assert!(patterns([false; 4]).is_empty());
    }

    #[test]
    fn the_last_layer_is_that_of_the_last_weight() {
        let mut layers = layers([true; 4]);
        layers.choose_last();
        assert_eq!(layers.chosen, [false, false, false, true]);
    }
}
