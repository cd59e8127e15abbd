//! Sends messages by the HTTP request of a preset.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use perigee_core::notifications::notification::{
    Channel, ChannelKind, Message, RequestPreset, SendOutcome, Sender,
};
use perigee_core::notifications::routing::Destination;
use reqwest::Client;
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::answer::interpret;
use super::request::{Ready, build};
use super::template::{PresetError, Values};
use crate::http_answer::{cause, read};

/// Characters of a title that are sent.
const TITLE_MAX: usize = 200;

/// Refuses URLs that may not be requested, with a phrase that follows "the URL".
pub type UrlCheck = Arc<dyn Fn(&Url) -> Result<(), String> + Send + Sync>;

/// The operator's settings of a preset.
#[derive(Clone, Debug, Default)]
pub struct PresetSettings {
    /// The server to send to instead of that of the preset; empty for that of the preset.
    pub server: String,
    /// Whether the server may be reached without TLS.
    pub allow_http: bool,
    /// The settings that the preset names.
    pub values: BTreeMap<String, SecretString>,
}

/// Sends the messages of one channel.
pub struct PresetSender {
    channel: Channel,
    kind: &'static ChannelKind,
    preset: &'static RequestPreset,
    server: String,
    values: BTreeMap<String, SecretString>,
    client: Client,
    check_url: UrlCheck,
}

impl PresetSender {
    /// A sender for this channel. The client must not follow redirects, and must connect only to addresses that may be
    /// requested.
    pub fn new(
        channel: Channel,
        settings: PresetSettings,
        client: Client,
        check_url: UrlCheck,
    ) -> Result<Self, PresetError> {
        let kind = channel.kind();
        let preset = kind.request.as_ref().ok_or(PresetError::NoPreset)?;
        if let Some(unknown) = settings.values.keys().find(|name| !preset.settings.contains_key(*name)) {
            return Err(PresetError::Unknown(unknown.clone()));
        }
        let mut values = settings.values;
        values.retain(|_, value| !value.expose_secret().is_empty());
        for (name, setting) in
            preset.settings.iter().filter(|(name, _)| !values.contains_key(*name)).collect::<Vec<_>>()
        {
            let default = setting.default.clone().ok_or_else(|| PresetError::Missing(name.clone()))?;
            values.insert(name.clone(), default.into());
        }
        let server = server(preset, &settings.server, settings.allow_http)?;
        let sender = Self { channel, kind, preset, server, values, client, check_url };
        // Shows mistakes in the preset and in the settings at the start rather than at the first alert.
        sender.request(kind.address.example(), "", "", "")?;
        Ok(sender)
    }

    fn request(&self, address: &str, title: &str, text: &str, id: &str) -> Result<Ready, PresetError> {
        let mut values: Values<'_> =
            self.values.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
        values.extend([("address", address), ("title", title), ("text", text), ("id", id)]);
        build(self.preset, &self.server, &values)
    }

    fn http_request(&self, message: &Message) -> Result<reqwest::Request, String> {
        Destination::parse(self.channel, &message.to).map_err(|error| format!("the address {error}"))?;
        let (title, text) = (cut(&message.subject, TITLE_MAX), cut(&message.text, self.preset.text_max));
        let request = self.request(&message.to, &title, &text, &message.id.to_string());
        let Ready { url, request } = request.map_err(|error| format!("the channel {error}"))?;
        (self.check_url)(&url).map_err(|refusal| format!("the URL {refusal}"))?;
        let (parts, body) = request.into_parts();
        let made = self.client.request(parts.method, url).headers(parts.headers).body(body).build();
        made.map_err(|error| error.without_url().to_string())
    }
}

#[async_trait]
impl Sender for PresetSender {
    async fn send(&self, message: &Message) -> SendOutcome {
        let request = match self.http_request(message) {
            Ok(request) => request,
            Err(reason) => return SendOutcome::Refused { reason },
        };
        let title = &self.kind.title;
        match self.client.execute(request).await {
            Ok(response) => interpret(title, &self.preset.answer, &read(response).await),
            // The URL may be a secret, so it is left out of the reason.
            Err(error) if error.is_connect() => SendOutcome::RetryLater {
                reason: format!("cannot connect to {title}: {}", cause(&error.without_url())),
                wait: None,
            },
            Err(error) => SendOutcome::Unclear {
                reason: format!(
                    "{title} did not answer, and may have accepted the message: {}",
                    cause(&error.without_url())
                ),
            },
        }
    }
}

/// The server to send to: that of the operator, or else that of the preset. Empty if addresses are URLs.
fn server(preset: &RequestPreset, own: &str, allow_http: bool) -> Result<String, PresetError> {
    let is_needed = preset.url.contains("{server}");
    if own.is_empty() {
        let is_missing = is_needed && preset.server.is_empty();
        return if is_missing { Err(PresetError::Server) } else { Ok(preset.server.clone()) };
    }
    let url = Url::parse(own).map_err(|_detail| PresetError::Server)?;
    let is_scheme_right = url.scheme() == "https" || (url.scheme() == "http" && allow_http);
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if is_scheme_right && is_plain && url.host_str().is_some_and(|host| !host.is_empty()) {
        Ok(own.trim_end_matches('/').to_owned())
    } else {
        Err(PresetError::Server)
    }
}

/// The text with at most this many characters.
fn cut(text: &str, characters: usize) -> String {
    let text = crate::plain::lines(text);
    match text.char_indices().nth(characters) {
        Some(_) => text.chars().take(characters.saturating_sub(1)).chain(['…']).collect(),
        None => text,
    }
}
