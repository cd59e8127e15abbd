//! `[sms]`: the provider, the length of messages and the allowed countries.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use perigee_notify::sms::http::{
    GatewayAuth, GatewayBody, GatewayMethod, HttpGatewayError, HttpGatewaySettings, HttpSender,
};
use perigee_notify::sms::smpp::{LongTexts, SmppSettings};
use perigee_notify::sms::{AllowedCountries, Fitting};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::check::refuse;
use super::email::seconds;
use super::secret::{given, secret};
use super::{ConfigError, redact};

/// How SMS are sent.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sms {
    /// The kind of gateway.
    pub gateway: SmsGateway,
    /// Sender shown to recipients.
    pub sender: String,
    /// Segments of one message at most.
    pub max_segments: usize,
    /// Whether letters are replaced by plain ones when that saves segments.
    pub plain_letters: bool,
    /// Countries or prefixes of numbers that messages may be sent to; all if empty.
    pub countries: Vec<String>,
    /// Seconds to wait for an answer.
    pub timeout_seconds: u64,
    /// Authorities (PEM) to trust instead of the public ones.
    pub ca_file: PathBuf,
    /// Method of the request to the provider.
    pub http_method: HttpMethod,
    /// URL of the provider.
    #[serde(serialize_with = "redact::address")]
    pub http_url: String,
    /// Whether that URL may be without TLS.
    pub http_allow_plain: bool,
    /// Headers of the request, with placeholders.
    #[serde(serialize_with = "redact::values")]
    pub http_headers: BTreeMap<String, String>,
    /// Form fields of the request, with placeholders.
    #[serde(serialize_with = "redact::values")]
    pub http_form: BTreeMap<String, String>,
    /// JSON body of the request, with placeholders.
    #[serde(serialize_with = "redact::json")]
    pub http_json: String,
    /// User name of basic authentication.
    pub http_user_name: String,
    /// Password of basic authentication.
    #[serde(serialize_with = "redact::secret")]
    pub http_password: SecretString,
    /// File with that password, instead of `http_password`.
    pub http_password_file: PathBuf,
    /// Token of bearer authentication.
    #[serde(serialize_with = "redact::secret")]
    pub http_token: SecretString,
    /// File with that token, instead of `http_token`.
    pub http_token_file: PathBuf,
    /// JSON pointer to the provider's id of the message in its answer.
    pub http_reference_pointer: String,
    /// JSON pointer to the outcome in the provider's answer.
    pub http_success_pointer: String,
    /// Values of the outcome that mean accepted.
    pub http_success_values: Vec<String>,
    /// Values of the outcome that mean try again later.
    pub http_later_values: Vec<String>,
    /// HTTP statuses, besides the usual ones, that mean refused.
    pub http_refused_statuses: Vec<u16>,
    /// HTTP statuses, besides the usual ones, that mean try again later.
    pub http_later_statuses: Vec<u16>,
    /// Host of the message centre.
    pub smpp_host: String,
    /// Port of the message centre.
    pub smpp_port: u16,
    /// Whether the connection uses TLS.
    pub smpp_tls: bool,
    /// `system_id` of the bind.
    pub smpp_system_id: String,
    /// Password of the bind.
    #[serde(serialize_with = "redact::secret")]
    pub smpp_password: SecretString,
    /// File with that password, instead of `smpp_password`.
    pub smpp_password_file: PathBuf,
    /// `system_type` of the bind.
    pub smpp_system_type: String,
    /// How texts of several segments are sent.
    pub smpp_long_texts: SmppLongTexts,
    /// Messages that may wait for their answer at the same time.
    pub smpp_window: usize,
    /// Messages sent per second at most.
    pub smpp_per_second: u32,
    /// Seconds between two `enquire_link` requests.
    pub smpp_enquire_seconds: u64,
}

/// The kind of SMS gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SmsGateway {
    /// No SMS are sent.
    #[serde(rename = "")]
    None,
    /// By a provider's HTTP interface.
    Http,
    /// By SMPP to a message centre.
    Smpp,
}

/// Method of the request to a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    /// Placeholders in the URL only.
    Get,
    /// With a form or JSON body.
    Post,
    /// With a form or JSON body, for providers that ask for it.
    Put,
}

/// How texts of several segments are sent to a message centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SmppLongTexts {
    /// Split into segments by this service.
    Segments,
    /// Sent whole in `message_payload`; the centre splits them.
    Payload,
}

impl Sms {
    /// Maximum number of segments of a message, whose counter in the protocol has one byte.
    const SEGMENTS_MAX: usize = 255;

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if !(1..=Self::SEGMENTS_MAX).contains(&self.max_segments) {
            return refuse("sms.max_segments", "must be between 1 and 255");
        }
        self.allowed()?;
        match self.gateway {
            SmsGateway::None => Ok(()),
            SmsGateway::Http => self.http_sender().map(drop),
            SmsGateway::Smpp => self.smpp_settings().map(drop),
        }
    }

    /// How long texts are shortened or split.
    pub fn fitting(&self) -> Fitting {
        Fitting { segments: self.max_segments, plain_letters: self.plain_letters }
    }

    /// The numbers that SMS may be sent to.
    pub fn allowed(&self) -> Result<AllowedCountries, ConfigError> {
        AllowedCountries::parse(&self.countries).or_else(|error| refuse("sms.countries", error.to_string()))
    }

    /// The sender by HTTP.
    pub fn http_sender(&self) -> Result<HttpSender, ConfigError> {
        HttpSender::new(self.http_settings()?).or_else(|error| {
            let key = match error {
                HttpGatewayError::Header(_) => "sms.http_headers",
                HttpGatewayError::Pointer(_) | HttpGatewayError::SuccessValues => "sms.http_success_pointer",
                HttpGatewayError::Trust(_) => "sms.ca_file",
                _ => "sms.http_url",
            };
            refuse(key, error.to_string())
        })
    }

    fn http_settings(&self) -> Result<HttpGatewaySettings, ConfigError> {
        Ok(HttpGatewaySettings {
            method: match self.http_method {
                HttpMethod::Get => GatewayMethod::Get,
                HttpMethod::Post => GatewayMethod::Post,
                HttpMethod::Put => GatewayMethod::Put,
            },
            url: self.http_url.clone(),
            allow_http: self.http_allow_plain,
            headers: self.http_headers.clone(),
            body: self.http_body()?,
            auth: self.http_auth()?,
            sender: self.sender.clone(),
            reference_pointer: given(&self.http_reference_pointer),
            success_pointer: given(&self.http_success_pointer),
            success_values: self.http_success_values.clone(),
            later_values: self.http_later_values.clone(),
            refused_statuses: self.http_refused_statuses.clone(),
            later_statuses: self.http_later_statuses.clone(),
            authorities: self.authorities(),
            // Shorter than the whole time limit: after a failed connect it is certain that nothing was sent.
            connect_time_out: Duration::from_secs(10).min(self.time_out()? / 2),
            time_out: self.time_out()?,
        })
    }

    fn http_body(&self) -> Result<GatewayBody, ConfigError> {
        match (self.http_form.is_empty(), self.http_json.is_empty()) {
            (true, true) => Ok(GatewayBody::None),
            (false, true) => Ok(GatewayBody::Form(self.http_form.clone())),
            (true, false) => match serde_json::from_str(&self.http_json) {
                Ok(document) => Ok(GatewayBody::Json(document)),
                Err(error) => refuse("sms.http_json", format!("must be a JSON document: {error}")),
            },
            (false, false) => refuse("sms.http_json", "set http_form or http_json, not both"),
        }
    }

    fn http_auth(&self) -> Result<GatewayAuth, ConfigError> {
        let password = secret(&self.http_password, &self.http_password_file, "sms.http_password_file")?;
        let token = secret(&self.http_token, &self.http_token_file, "sms.http_token_file")?;
        match (given(&self.http_user_name), password, token) {
            (None, None, None) => Ok(GatewayAuth::None),
            (Some(user_name), Some(password), None) => Ok(GatewayAuth::Basic { user_name, password }),
            (None, None, Some(token)) => Ok(GatewayAuth::Bearer(token)),
            _ => refuse("sms.http_user_name", "set a user name and a password, or a token, or none of them"),
        }
    }

    /// Settings of the SMPP session.
    pub fn smpp_settings(&self) -> Result<SmppSettings, ConfigError> {
        let password = secret(&self.smpp_password, &self.smpp_password_file, "sms.smpp_password_file")?;
        let settings = SmppSettings {
            host: self.smpp_host.clone(),
            port: self.smpp_port,
            tls: self.smpp_tls,
            authorities: self.authorities(),
            system_id: self.smpp_system_id.clone(),
            password: password.unwrap_or_default(),
            system_type: self.smpp_system_type.clone(),
            sender: self.sender.clone(),
            long_texts: match self.smpp_long_texts {
                SmppLongTexts::Segments => LongTexts::Segments,
                SmppLongTexts::Payload => LongTexts::Payload,
            },
            window: self.smpp_window,
            per_second: self.smpp_per_second,
            enquire_every: seconds("sms.smpp_enquire_seconds", self.smpp_enquire_seconds, 600)?,
            time_out: self.time_out()?,
        };
        settings.validate().or_else(|error| refuse("sms.gateway", format!("smpp: {error}")))?;
        Ok(settings)
    }

    fn authorities(&self) -> Option<PathBuf> {
        (!self.ca_file.as_os_str().is_empty()).then(|| self.ca_file.clone())
    }

    fn time_out(&self) -> Result<Duration, ConfigError> {
        seconds("sms.timeout_seconds", self.timeout_seconds, 60)
    }
}
