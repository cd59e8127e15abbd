//! The demo: a temporary database, a simulated fleet, alerts, and senders that send nothing.

mod cast;
mod live;
mod scene;
mod sink;

pub(crate) use cast::Cast;
pub(crate) use live::run_live;
pub(crate) use scene::set_scene;
pub(crate) use sink::Sink;
