//! Commands to devices.

pub mod input;
pub mod read;
pub mod view;
pub mod write;
