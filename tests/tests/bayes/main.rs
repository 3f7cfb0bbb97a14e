//! Conversion, draws, estimators and the complexity loss of whole networks.

mod account;
mod complexity;
mod conversion;
mod estimators;
mod imports;
mod layers;
mod lstm;
mod subject;
mod training;
