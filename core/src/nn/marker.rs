//! How a layer tells those who walk through a network that it knows of posteriors.

use crate::path::PER_EXAMPLE;
use burn::{
    module::{
        Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor,
    },
    tensor::Device,
};

/// The field by which layers of this library differ from Burn's of the same names: it says that every example can
/// have weights of its own in them. It holds nothing, and is in no record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerExample;

impl Module for PerExample {
    /// Enters and leaves a module without parameters, which is all that a visitor sees of a field like this.
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.enter_module("", PER_EXAMPLE);
        visitor.exit_module("", PER_EXAMPLE);
    }

    fn map<M: ModuleMapper>(self, _mapper: &mut M) -> Self {
        self
    }

    fn to_device(self, _device: &Device) -> Self {
        self
    }

    fn fork(self, _device: &Device) -> Self {
        self
    }

    fn collect_devices(&self, devices: Devices) -> Devices {
        devices
    }

    fn materialize(self) -> Self {
        self
    }

    fn valid(&self) -> Self {
        *self
    }

    fn train(self) -> Self {
        self
    }
}

impl ModuleDisplayDefault for PerExample {
    fn content(&self, content: Content) -> Option<Content> {
        content.add_formatted(&"yes").optional()
    }
}

impl ModuleDisplay for PerExample {}
