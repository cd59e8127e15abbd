//! A service to look at: a temporary store, a fleet that lives, alerts that happen, and nobody else who hears of it.

mod cast;
mod live;
mod scene;
mod sink;

pub(crate) use cast::Cast;
pub(crate) use live::run_live;
pub(crate) use scene::set_scene;
pub(crate) use sink::Sink;
