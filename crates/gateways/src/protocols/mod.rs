//! The protocols, a folder each.

pub mod calamp;
pub mod gps103;
pub mod gt06;
pub mod h02;
pub mod iridium;
pub mod jt808;
pub mod meitrack;
pub mod queclink;
pub mod ruptela;
pub mod suntech;
pub mod teltonika;
pub mod tk103;
pub mod wialon;
