//! Binary templates: a description of a payload's fields, written as JSON by the owner of a device.
//!
//! ```json
//! {"endian": "big", "fields": [
//!   {"field": "time", "offset": 0, "width": 4},
//!   {"field": "latitude", "offset": 4, "width": 3, "signed": true, "scale": 1.072883606e-5},
//!   {"field": "longitude", "offset": 7, "width": 3, "signed": true, "scale": 2.145767212e-5},
//!   {"field": "battery", "offset": 10, "width": 1, "mask": "0x7f", "scale": 0.1, "add": 2},
//!   {"field": "alarm", "value": "sos", "when": {"offset": 10, "mask": "0x80", "equals": 1}}
//! ]}
//! ```

mod apply;
mod field;
mod parse;
#[cfg(test)]
mod tests;

pub use field::{Condition, Endian, Field, Kind, Number, Template, Test};
