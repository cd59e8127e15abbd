//! The description of a provider's interface.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use perigee_tls::TrustError;
use secrecy::SecretString;

use super::placeholder::UnknownPlaceholder;

/// How the provider wants to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatewayMethod {
    /// GET: everything stands in the address.
    Get,
    /// POST.
    Post,
    /// PUT.
    Put,
}

/// What is sent. Each text in it is a template.
#[derive(Clone, Debug)]
pub enum GatewayBody {
    /// Nothing.
    None,
    /// The fields of a form.
    Form(BTreeMap<String, String>),
    /// A JSON document whose texts are templates.
    Json(serde_json::Value),
}

/// How the provider knows us.
#[derive(Clone, Debug)]
pub enum GatewayAuth {
    /// By something in the headers or the body, or not at all.
    None,
    /// By name and password.
    Basic {
        /// The name.
        user_name: String,
        /// The password.
        password: SecretString,
    },
    /// By a token.
    Bearer(SecretString),
}

/// Everything about a provider's interface.
#[derive(Clone, Debug)]
pub struct HttpGatewaySettings {
    /// How it wants to be asked.
    pub method: GatewayMethod,
    /// Its address; placeholders may stand in path and query.
    pub url: String,
    /// Whether `http:` is good enough.
    pub allow_http: bool,
    /// Headers; their values are templates.
    pub headers: BTreeMap<String, String>,
    /// What is sent.
    pub body: GatewayBody,
    /// How it knows us.
    pub auth: GatewayAuth,
    /// Whom messages are from: a number, or up to eleven letters where the provider allows them.
    pub sender: String,
    /// Where in a JSON answer stands what it calls the message (a JSON pointer).
    pub reference_pointer: Option<String>,
    /// Where in a JSON answer stands whether the message was taken, for providers that answer 200 to everything.
    pub success_pointer: Option<String>,
    /// What stands there when it was.
    pub success_values: Vec<String>,
    /// What stands there when it was not, but may be later.
    pub later_values: Vec<String>,
    /// Statuses that refuse the message, besides the usual ones.
    pub refused_statuses: Vec<u16>,
    /// Statuses after which it may be sent later, besides the usual ones.
    pub later_statuses: Vec<u16>,
    /// Authorities to trust (PEM) instead of the public ones.
    pub authorities: Option<PathBuf>,
    /// How long connecting may take.
    pub connect_time_out: Duration,
    /// How long the answer may take.
    pub time_out: Duration,
}

/// Why SMS cannot be sent with these settings.
#[derive(Debug, thiserror::Error)]
pub enum HttpGatewayError {
    /// The address is none.
    #[error("url must be an https: address, with placeholders in its path or query only")]
    Url,
    /// Without encryption.
    #[error("url must be an https: address; set allow_http = true if the network in between is your own")]
    NotEncrypted,
    /// A placeholder is not known.
    #[error(transparent)]
    Placeholder(#[from] UnknownPlaceholder),
    /// A header cannot be sent.
    #[error("\"{0}\" is no header that can be sent")]
    Header(String),
    /// Text or number is sent nowhere.
    #[error("{{{0}}} stands neither in the url nor in the body, so that the provider would not learn it")]
    Missing(&'static str),
    /// A pointer is none.
    #[error("\"{0}\" must be a JSON pointer such as /messages/0/id")]
    Pointer(String),
    /// What success looks like was left out.
    #[error("success_pointer needs success_values: what stands there when a message was taken")]
    SuccessValues,
    /// TLS cannot be set up.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The client cannot be built.
    #[error("cannot set up the HTTP client: {0}")]
    Client(String),
}
