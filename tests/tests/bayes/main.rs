//! Conversion, draws, estimators and the complexity loss of whole networks.

mod complexity;
mod conversion;
mod estimators;
mod layers;
mod subject;
mod training;
