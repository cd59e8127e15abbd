//! Makes one request to a provider and interprets the result.

use async_trait::async_trait;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use perigee_core::notifications::notification::{Message, SendOutcome, Sender};
use perigee_core::notifications::phone::PhoneNumber;
use perigee_tls::{Trust, client_config};
use reqwest::Client;
use secrecy::ExposeSecret as _;
use url::Url;

use super::body::Body;
use super::placeholder::{Template, Values};
use super::settings::{GatewayAuth, GatewayMethod, HttpGatewayError, HttpGatewaySettings};
use super::verdict::interpret;
use crate::http_answer::{cause, read};
use crate::plain::one_line;

/// Sends SMS by the HTTP API of a provider.
pub struct HttpSender {
    settings: HttpGatewaySettings,
    client: Client,
    url: Template,
    headers: Vec<(HeaderName, Template)>,
    body: Body,
    authorization: Option<HeaderValue>,
}

impl HttpSender {
    /// Makes a sender with these settings. Opens no connection yet.
    pub fn new(settings: HttpGatewaySettings) -> Result<Self, HttpGatewayError> {
        let url = Template::parse(&settings.url)?;
        check_url(&url, settings.allow_http)?;
        let mut headers = Vec::new();
        for (name, source) in &settings.headers {
            let unusable = |_detail| HttpGatewayError::Header(name.clone());
            headers.push((HeaderName::try_from(name).map_err(unusable)?, Template::parse(source)?));
        }
        let body = Body::parse(&settings.body)?;
        let mut sent = body.templates();
        sent.push(&url);
        if !sent.iter().any(|template| template.has_text()) {
            return Err(HttpGatewayError::Missing("text"));
        }
        if !sent.iter().any(|template| template.has_number()) {
            return Err(HttpGatewayError::Missing("number"));
        }
        for pointer in [&settings.reference_pointer, &settings.success_pointer].into_iter().flatten() {
            if !pointer.starts_with('/') {
                return Err(HttpGatewayError::Pointer(pointer.clone()));
            }
        }
        if settings.success_pointer.is_some() && settings.success_values.is_empty() {
            return Err(HttpGatewayError::SuccessValues);
        }
        let authorization = authorization(&settings.auth)?;
        let client = client(&settings)?;
        Ok(Self { settings, client, url, headers, body, authorization })
    }

    fn request(&self, values: &Values<'_>) -> Result<reqwest::Request, String> {
        let escaped = |value: &str| utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
        let url = Url::parse(&self.url.fill(values, escaped)).map_err(|error| error.to_string())?;
        let method = match self.settings.method {
            GatewayMethod::Get => http::Method::GET,
            GatewayMethod::Post => http::Method::POST,
            GatewayMethod::Put => http::Method::PUT,
        };
        let mut headers = HeaderMap::new();
        for (name, template) in &self.headers {
            let text = template.fill(values, one_line);
            let value = HeaderValue::from_str(&text)
                .map_err(|_detail| format!("the header {name} cannot be sent"))?;
            headers.insert(name.clone(), value);
        }
        if let Some(value) = &self.authorization {
            headers.insert(AUTHORIZATION, value.clone());
        }
        let mut request = self.client.request(method, url);
        if let Some((kind, body)) = self.body.fill(values) {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
            request = request.body(body);
        }
        request.headers(headers).build().map_err(|error| error.without_url().to_string())
    }
}

#[async_trait]
impl Sender for HttpSender {
    async fn send(&self, message: &Message) -> SendOutcome {
        let number: PhoneNumber = match message.to.parse() {
            Ok(number) => number,
            Err(error) => return SendOutcome::Refused { reason: format!("the recipient {error}") },
        };
        let id = message.id.to_string();
        let values = Values {
            number: number.as_str(),
            digits: number.digits(),
            text: &message.text,
            id: &id,
            sender: &self.settings.sender,
        };
        let request = match self.request(&values) {
            Ok(request) => request,
            Err(reason) => return SendOutcome::Refused { reason },
        };
        match self.client.execute(request).await {
            Ok(response) => interpret(&self.settings, &read(response).await),
            // The URL may contain the number, the text or a key, so it is left out of the reason.
            Err(error) if error.is_connect() => SendOutcome::RetryLater {
                reason: format!("cannot connect to the SMS gateway: {}", cause(&error.without_url())),
                wait: None,
            },
            Err(error) => SendOutcome::Unclear {
                reason: format!(
                    "the SMS gateway did not answer, and may have accepted the message: {}",
                    cause(&error.without_url())
                ),
            },
        }
    }
}

fn client(settings: &HttpGatewaySettings) -> Result<Client, HttpGatewayError> {
    let trust = settings.authorities.clone().map_or(Trust::Public, Trust::File);
    Client::builder()
        .tls_backend_preconfigured(client_config(&trust)?)
        .redirect(reqwest::redirect::Policy::none())
        // A proxy from the environment would make the same settings behave differently elsewhere.
        .no_proxy()
        .connect_timeout(settings.connect_time_out)
        .timeout(settings.time_out)
        .pool_idle_timeout(std::time::Duration::from_secs(30))
        .user_agent(concat!("Perigee/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| HttpGatewayError::Client(error.to_string()))
}

/// Refuses placeholders in the scheme or host: values must not decide where a message goes.
fn check_url(template: &Template, allow_http: bool) -> Result<(), HttpGatewayError> {
    let beginning = template.beginning();
    let url = Url::parse(beginning).map_err(|_detail| HttpGatewayError::Url)?;
    let host_is_whole = beginning
        .split_once("://")
        .is_some_and(|(_, rest)| rest.contains(['/', '?']) || !template.has_placeholders());
    match url.scheme() {
        _ if url.host_str().is_none_or(str::is_empty) || !host_is_whole => Err(HttpGatewayError::Url),
        "https" => Ok(()),
        "http" if allow_http => Ok(()),
        "http" => Err(HttpGatewayError::NotEncrypted),
        _ => Err(HttpGatewayError::Url),
    }
}

fn authorization(auth: &GatewayAuth) -> Result<Option<HeaderValue>, HttpGatewayError> {
    use base64::Engine as _;
    let text = match auth {
        GatewayAuth::None => return Ok(None),
        GatewayAuth::Basic { user_name, password } => {
            let pair = format!("{user_name}:{}", password.expose_secret());
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
        }
        GatewayAuth::Bearer(token) => format!("Bearer {}", token.expose_secret()),
    };
    let unusable = |_detail| HttpGatewayError::Header("Authorization".to_owned());
    let mut value = HeaderValue::from_str(&text).map_err(unusable)?;
    value.set_sensitive(true);
    Ok(Some(value))
}
