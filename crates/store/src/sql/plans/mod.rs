//! Plans of voyages, shifts and hikes: their settings, check-ins derived from committed texts and locations, the steps after a
//! missed check-in, and travellers' links.

mod act;
mod api;
mod bound;
mod change;
mod effects;
mod evaluate;
mod evidence;
mod links;
mod nudges;
mod read;
mod row;

pub(in crate::sql) use evaluate::{device_heard, devices_heard};
