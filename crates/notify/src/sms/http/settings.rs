//! Settings of a provider's HTTP API.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use perigee_tls::TrustError;
use secrecy::SecretString;

use super::placeholder::UnknownPlaceholder;

/// The HTTP method of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatewayMethod {
    /// GET, with everything in the URL.
    Get,
    /// POST, with a body or without.
    Post,
    /// PUT, with a body or without.
    Put,
}

/// The body of the request. Each string in it is a template.
#[derive(Clone, Debug)]
pub enum GatewayBody {
    /// No body, for GET requests.
    None,
    /// A form, as names and values.
    Form(BTreeMap<String, String>),
    /// A JSON document whose texts are templates.
    Json(serde_json::Value),
}

/// How requests are authenticated.
#[derive(Clone, Debug)]
pub enum GatewayAuth {
    /// By a custom header or the body, or not at all.
    None,
    /// HTTP Basic, with user name and password.
    Basic {
        /// The user name at the provider.
        user_name: String,
        /// The password at the provider.
        password: SecretString,
    },
    /// Sent as `Authorization: Bearer`.
    Bearer(SecretString),
}

/// Settings of a provider's HTTP API.
#[derive(Clone, Debug)]
pub struct HttpGatewaySettings {
    /// The HTTP method of the request.
    pub method: GatewayMethod,
    /// URL of the request; placeholders are allowed in path and query.
    pub url: String,
    /// Whether an unencrypted `http:` URL is allowed.
    pub allow_http: bool,
    /// Headers; their values are templates.
    pub headers: BTreeMap<String, String>,
    /// The body of the request.
    pub body: GatewayBody,
    /// How requests are authenticated.
    pub auth: GatewayAuth,
    /// Sender of messages: a number, or up to eleven letters if the provider allows them.
    pub sender: String,
    /// JSON pointer to the provider's id of the message.
    pub reference_pointer: Option<String>,
    /// JSON pointer to the result, for providers that answer 200 to everything.
    pub success_pointer: Option<String>,
    /// Values there that mean accepted.
    pub success_values: Vec<String>,
    /// Values there that mean: try again later.
    pub later_values: Vec<String>,
    /// Further statuses that mean: refused for good.
    pub refused_statuses: Vec<u16>,
    /// Further statuses that mean: try again later.
    pub later_statuses: Vec<u16>,
    /// Authorities to trust (PEM) instead of the public ones.
    pub authorities: Option<PathBuf>,
    /// Time limit for connecting.
    pub connect_time_out: Duration,
    /// Time limit for the answer.
    pub time_out: Duration,
}

/// Why SMS cannot be sent with these settings.
#[derive(Debug, thiserror::Error)]
pub enum HttpGatewayError {
    /// The URL is not valid.
    #[error("url must be an https: address, with placeholders in its path or query only")]
    Url,
    /// The URL is not encrypted, and that is not allowed.
    #[error("url must be an https: address; set allow_http = true if the network in between is your own")]
    NotEncrypted,
    /// A placeholder is not known.
    #[error(transparent)]
    Placeholder(#[from] UnknownPlaceholder),
    /// A header name or value is not valid.
    #[error("the header \"{0}\" cannot be sent")]
    Header(String),
    /// The text or the number is not part of the request.
    #[error("{{{0}}} is neither in the url nor in the body; add it, so that the provider receives it")]
    Missing(&'static str),
    /// A JSON pointer is not valid.
    #[error("\"{0}\" must be a JSON pointer such as /messages/0/id")]
    Pointer(String),
    /// `success_pointer` is set without `success_values`.
    #[error("success_pointer requires success_values, the values there that mean that the SMS was accepted")]
    SuccessValues,
    /// TLS cannot be set up.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The client cannot be built.
    #[error("cannot set up the HTTP client: {0}")]
    Client(String),
}
