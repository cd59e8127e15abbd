//! The content of the demo: a simulated fleet with history, rules and alerts, and a sender that sends nothing.

mod content;
mod fleet;
mod live;
mod server;
mod sink;

pub use content::create_content;
pub use fleet::DemoFleet;
pub use live::run_live;
pub use server::DemoServer;
pub use sink::Sink;
