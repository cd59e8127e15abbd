//! SMS by the HTTP API of a provider. Settings describe the request and the meaning of its answers.

mod body;
mod placeholder;
mod sender;
mod settings;
mod verdict;

pub use placeholder::UnknownPlaceholder;
pub use sender::HttpSender;
pub use settings::{GatewayAuth, GatewayBody, GatewayMethod, HttpGatewayError, HttpGatewaySettings};
