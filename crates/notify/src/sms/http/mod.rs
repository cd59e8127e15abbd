//! SMS by the HTTP interface of a provider, described by a template: where to post, what, and what its answers mean.

mod body;
mod placeholder;
mod sender;
mod settings;
mod verdict;

pub use placeholder::UnknownPlaceholder;
pub use sender::HttpGateway;
pub use settings::{GatewayAuth, GatewayBody, GatewayMethod, HttpGatewayError, HttpGatewaySettings};
