//! Data sets, batches and corruptions. Every file that a test reads it has written itself.

mod batches;
mod broken;
mod class_folders;
mod corruption;
mod faces;
mod fixtures;
mod layouts;
mod ood;
mod preparation;
mod published;
mod splits;
