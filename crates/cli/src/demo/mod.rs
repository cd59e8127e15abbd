//! The content of the demo: a simulated fleet with history, rules and alerts, and a sender that sends nothing.

mod content;
mod fleet;
mod live;
mod sink;

pub(crate) use content::create_content;
pub(crate) use fleet::DemoFleet;
pub(crate) use live::run_live;
pub(crate) use sink::Sink;
