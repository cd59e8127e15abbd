//! A fleet that exists only in arithmetic: vehicles on roads, vessels on sea lanes, hikers in the mountains, and
//! the imperfect networks through which their fixes arrive. Everything follows from the seed.

mod delivery;
mod device;
mod fix;
mod hiker;
mod place;
mod random;
mod smooth;
mod vehicle;
mod vessel;

pub use delivery::{Deliveries, Delivery};
pub use device::{Kind, SimulatedDevice, Track};
pub use fix::Fix;
pub use smooth::Smooth;
