//! Groups of devices.

pub mod group;
