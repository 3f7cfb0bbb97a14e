//! Which tensor belongs to which parameter.

use super::account::{Applied, LoadAccount, Missing, WrongShape};
use super::names::{Naming, is_counter, own_name};
use super::nearest::nearest;
use super::prefix;
use super::{Checkpoint, Format, StoredTensor};
use std::collections::{BTreeMap, BTreeSet};

/// Suggestions for more parameters than this would not be read.
const MAX_SUGGESTIONS: usize = 100;

/// What one naming expects for a parameter.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// Name without any prefix.
    pub(super) name: String,
    /// Shape in the file.
    pub(super) shape: Vec<usize>,
    /// Whether a matrix has to be transposed on its way from the file into the parameter.
    pub(super) transpose: bool,
    /// The axis that counts classes, if this is the last layer.
    pub(super) class_axis: usize,
}

/// A parameter that wants a tensor.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// Path in the module.
    pub(super) parameter: String,
    pub(super) torch: Slot,
    pub(super) burn: Slot,
    /// Path of the linear layer it belongs to.
    pub(super) linear_layer: Option<String>,
    /// State that was attached to a parameter, and that only some files have.
    pub(super) is_attached: bool,
}

impl Target {
    pub(super) fn slot(&self, naming: Naming) -> &Slot {
        match naming {
            Naming::Torch => &self.torch,
            Naming::Burn => &self.burn,
        }
    }
}

/// The tensors of a checkpoint by their own names.
pub(super) struct Tensors<'a> {
    pub(super) by_name: BTreeMap<String, (&'a str, &'a StoredTensor)>,
}

impl<'a> Tensors<'a> {
    pub(super) fn new(checkpoint: &'a Checkpoint) -> Self {
        let named = checkpoint
            .iter()
            .map(|(name, tensor)| (own_name(name), (name, tensor)));
        Self {
            by_name: named.collect(),
        }
    }

    pub(super) fn find(&self, prefix: &str, slot: &Slot) -> Option<(&'a str, &'a StoredTensor)> {
        self.by_name.get(&format!("{prefix}{}", slot.name)).copied()
    }
}

/// Whether a tensor of this shape fits; PyTorch has scalars where Burn has vectors of one.
pub(super) fn fits(slot: &Slot, found: &[usize]) -> bool {
    let is_one = |shape: &[usize]| shape.len() < 2 && shape.iter().all(|&size| size == 1);
    slot.shape == found || (is_one(&slot.shape) && is_one(found))
}

/// The namings that a file may use, the likeliest first.
pub(super) fn namings(checkpoint: &Checkpoint) -> &'static [Naming] {
    let is_from_burn = match checkpoint.format() {
        Format::PytorchZip | Format::PytorchLegacy => return &[Naming::Torch],
        Format::Safetensors => checkpoint
            .metadata()
            .get("producer")
            .is_some_and(|producer| producer == "burn"),
        Format::Burnpack => true,
    };
    if is_from_burn {
        &[Naming::Burn, Naming::Torch]
    } else {
        &[Naming::Torch, Naming::Burn]
    }
}

/// The result of matching.
pub(super) struct Matched {
    pub(super) account: LoadAccount,
    /// Classes of the network and of the file, if that is all that differs in the last layer.
    pub(super) classes: Option<[usize; 2]>,
}

/// What would happen to each parameter and each tensor. `given_prefix` and `given_naming` override
/// what is found.
pub(super) fn account(
    checkpoint: &Checkpoint,
    targets: &[Target],
    given_prefix: Option<&str>,
    given_naming: Option<Naming>,
) -> Matched {
    let tensors = Tensors::new(checkpoint);
    let given = given_naming.map(|naming| [naming]);
    let candidates = given.as_ref().map_or(namings(checkpoint), |one| &one[..]);
    let choice = prefix::choose(&tensors, targets, candidates, given_prefix);
    let mut account = LoadAccount {
        format: checkpoint.format(),
        naming: choice.naming,
        stripped: choice.prefix,
        alternatives: choice.alternatives,
        applied: Vec::new(),
        missing: Vec::new(),
        unused: Vec::new(),
        wrong_shape: Vec::new(),
        replaced_head: Vec::new(),
        ignored: Vec::new(),
    };
    let absent = assign(&tensors, targets, &mut account);
    sort_leftovers(checkpoint, &mut account);
    account.missing = suggest(checkpoint, &absent, &account);
    let classes = class_counts(targets, &account);
    Matched { account, classes }
}

/// Fills `applied` and `wrong_shape`; returns the targets that are missing.
fn assign<'t>(
    tensors: &Tensors<'_>,
    targets: &'t [Target],
    account: &mut LoadAccount,
) -> Vec<&'t Target> {
    let mut absent = Vec::new();
    let mut has_attached = false;
    for target in targets {
        let slot = target.slot(account.naming);
        let Some((tensor, stored)) = tensors.find(&account.stripped, slot) else {
            absent.push(target);
            continue;
        };
        has_attached |= target.is_attached;
        let parameter = target.parameter.clone();
        let tensor = tensor.to_owned();
        if fits(slot, stored.shape()) {
            account.applied.push(Applied { parameter, tensor });
        } else {
            account.wrong_shape.push(WrongShape {
                parameter,
                tensor,
                expected: slot.shape.clone(),
                found: stored.shape().to_vec(),
            });
        }
    }
    // A plain network's file lacks all attached state, which is no fault of it.
    absent.retain(|target| has_attached || !target.is_attached);
    absent
}

/// Everything in the file that no parameter has taken.
fn sort_leftovers(checkpoint: &Checkpoint, account: &mut LoadAccount) {
    let applied = account.applied.iter().map(|applied| &applied.tensor);
    let wrong = account.wrong_shape.iter().map(|wrong| &wrong.tensor);
    let taken: BTreeSet<&str> = applied.chain(wrong).map(String::as_str).collect();
    let left = checkpoint
        .iter()
        .map(|(name, _)| name)
        .filter(|name| !taken.contains(name))
        .map(str::to_owned);
    let (ignored, unused) = left.partition(|name| is_counter(name));
    account.ignored = ignored;
    account.unused = unused;
}

/// The most similar unused name for each missing one; of a tensor that would fit, if there is any.
fn suggest(checkpoint: &Checkpoint, absent: &[&Target], account: &LoadAccount) -> Vec<Missing> {
    let unused = || account.unused.iter().map(String::as_str);
    let missing = absent.iter().enumerate().map(|(index, target)| {
        let slot = target.slot(account.naming);
        let tensor = format!("{}{}", account.stripped, slot.name);
        let would_fit = |name: &&str| {
            let stored = checkpoint.get(name);
            stored.is_some_and(|stored| fits(slot, stored.shape()))
        };
        let nearest = (index < MAX_SUGGESTIONS).then(|| {
            nearest(&tensor, unused().filter(would_fit)).or_else(|| nearest(&tensor, unused()))
        });
        Missing {
            parameter: target.parameter.clone(),
            tensor,
            nearest: nearest.flatten(),
        }
    });
    missing.collect()
}

/// Classes of the network and of the file, if every wrong shape belongs to the last linear layer and
/// differs in nothing else.
fn class_counts(targets: &[Target], account: &LoadAccount) -> Option<[usize; 2]> {
    let head = targets
        .iter()
        .rev()
        .find_map(|target| target.linear_layer.as_ref())?;
    let mut counts = None;
    for wrong in &account.wrong_shape {
        let target = targets
            .iter()
            .find(|target| target.parameter == wrong.parameter)?;
        if target.linear_layer.as_ref() != Some(head) || wrong.expected.len() != wrong.found.len() {
            return None;
        }
        let axis = target.slot(account.naming).class_axis;
        let others_agree = (0..wrong.found.len())
            .all(|other| other == axis || wrong.expected[other] == wrong.found[other]);
        let these = [*wrong.expected.get(axis)?, *wrong.found.get(axis)?];
        if !others_agree || *counts.get_or_insert(these) != these {
            return None;
        }
    }
    counts
}
