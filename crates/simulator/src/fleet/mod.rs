//! A simulated fleet: vehicles on roads, vessels on sea lanes and hikers in the mountains, whose reports arrive late or
//! twice as over unreliable networks. The same seed gives the same fleet.

mod delivery;
mod device;
mod fix;
mod geo_point;
mod hiker;
mod random;
mod smooth;
mod vehicle;
mod vessel;

pub use delivery::{Deliveries, Delivery};
pub use device::{Kind, SimulatedDevice, Track};
pub use fix::Fix;
pub use smooth::SmoothTrack;
