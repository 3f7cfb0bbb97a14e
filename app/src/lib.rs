//! What the program, the page and the tests share.

pub mod report;
