//! Decodes messages without storing anything, for users who set up a tracker, a template or a mapping.

use std::sync::Arc;

use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::gateways::gateway::RawMessage;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::time::Timestamp;
use perigee_gateways::{
    Context, Feed, FeedDecoded, FeedMessage, LineDecoder, LineDefaults, Protocol, decoded_json, feed_json,
};
use serde_json::{Value, json};

use super::decoding::DeviceDecoding;
use super::error::IngestError;
use super::feed_body::{FeedBody, FeedSettings, untrusted};
use super::reading::{Reader, with_devices};

/// Maximum number of messages that are shown, and of reports of each.
const SHOWN_MAX: usize = 200;
/// Bytes of memory that decoding frames takes, in addition to [`FRAME_FACTOR`] times their size.
const FRAME_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of memory for each byte of a frame.
const FRAME_FACTOR: usize = 16;
/// Bytes of memory for each byte of a request: the decoded content, and the same as JSON.
const REQUEST_FACTOR: usize = 3;

/// Frames that a user pasted, one per line.
#[derive(Clone, Debug)]
pub struct Pasted {
    /// Hexadecimal digits, or JSON objects as `perigee decode` reads them.
    pub text: String,
    /// Protocol, model and options of all lines.
    pub defaults: LineDefaults,
}

fn frame_memory(length: usize) -> usize {
    length.saturating_mul(FRAME_FACTOR).saturating_add(FRAME_BYTES)
}

/// A request of a feed that is decoded but not stored.
#[derive(Clone, Debug)]
pub struct PreviewRequest {
    /// Its decoding context, and the time of receipt.
    pub settings: FeedSettings,
    /// As pasted or as stored.
    pub bytes: PreviewBytes,
    /// Whether the devices of its messages are looked up, and their settings used.
    pub with_devices: bool,
}

/// The bytes of a request.
#[derive(Clone, Debug)]
pub enum PreviewBytes {
    /// A body that a user pasted.
    Body(String),
    /// A raw message in its stored form.
    Stored(Vec<u8>),
}

/// The preview of a request, with the names of the devices.
#[derive(Debug)]
struct Shown {
    messages: Vec<Value>,
    /// The messages that are shown, with only their identifiers.
    named: Vec<FeedMessage>,
}

impl Shown {
    fn of(feed: &Feed, decoded: &FeedDecoded) -> Self {
        let name = |message: &FeedMessage| FeedMessage {
            identifiers: message.identifiers.clone(),
            ..FeedMessage::default()
        };
        Self {
            messages: feed_json(feed, decoded, SHOWN_MAX),
            named: decoded.messages.iter().take(SHOWN_MAX).map(name).collect(),
        }
    }

    /// The messages with their devices.
    fn with(mut self, devices: &[Option<DeviceId>]) -> Vec<Value> {
        for (message, device) in self.messages.iter_mut().zip(devices) {
            message["deviceId"] = json!(device.map(|device| device.to_string()));
        }
        self.messages
    }
}

/// An answer with the reason why a message cannot be decoded.
pub fn preview_error(source: &str, error: &str) -> Vec<Value> {
    vec![json!({"protocol": source, "identifiers": [], "reports": [], "replies": [], "error": error})]
}

impl Reader {
    /// Decodes pasted frames as `perigee decode` does, charged to an account. Only the first 200 lines are decoded.
    pub async fn preview_frames(
        &self,
        account: AccountId,
        pasted: Pasted,
        now: Timestamp,
    ) -> Result<Vec<Value>, IngestError> {
        let Pasted { text, defaults } = pasted;
        let text = untrusted(&self.budget, account, text.into_bytes())?;
        let decode = move |text: &[u8]| {
            let mut lines = LineDecoder::new(defaults);
            let text = std::str::from_utf8(text).unwrap_or_default();
            text.lines().filter_map(|line| lines.decode(line, now)).take(SHOWN_MAX).collect()
        };
        Ok(text.read(&self.budget, frame_memory(text.len()), decode).await?)
    }

    /// Decodes a stored frame of a tracker with the settings of its device.
    pub async fn preview_frame(
        &self,
        protocol: &'static Protocol,
        message: RawMessage,
        settings: DeviceDecoding,
    ) -> Result<Vec<Value>, IngestError> {
        let RawMessage { account, bytes, received_at, identifier, .. } = message;
        let frame = untrusted(&self.budget, account, bytes)?;
        let decode = move |frame: &[u8]| {
            let context = Context {
                known: true,
                identifier: identifier.as_deref(),
                model: settings.model.as_deref(),
                options: &settings.options,
                datagram: false,
                now: received_at,
            };
            vec![decoded_json(protocol, &(protocol.decoder)().decode(frame, &context))]
        };
        Ok(frame.read(&self.budget, frame_memory(frame.len()), decode).await?)
    }

    /// Decodes a request as its gateway would, charged to the gateway's account; with the settings of its devices, if
    /// they are looked up.
    pub async fn preview_request(
        &self,
        gateway: &Gateway,
        request: PreviewRequest,
    ) -> Result<Vec<Value>, IngestError> {
        let PreviewRequest { settings, bytes, with_devices: looks_for_devices } = request;
        let account = gateway.account;
        let body = match bytes {
            PreviewBytes::Body(text) => Some(FeedBody::of_bytes(&self.budget, account, text.into_bytes())?),
            PreviewBytes::Stored(bytes) => FeedBody::of_stored(&self.budget, account, &bytes)?,
        };
        let Some(body) = body else {
            return Ok(preview_error(settings.feed.name, "the stored request is incomplete"));
        };
        let shown = self.preview(&body, &settings).await?;
        if !looks_for_devices {
            return Ok(shown.messages);
        }
        let reporters = self.reporters(gateway, &shown.named).await?;
        let own = with_devices(gateway, &settings.options, &shown.named, &reporters);
        let devices: Vec<Option<DeviceId>> =
            reporters.iter().map(|reporter| reporter.as_ref().map(|found| found.device)).collect();
        let Some(own) = own else { return Ok(shown.with(&devices)) };
        // Freed before the next allocation of the same size.
        drop(shown);
        let settings = FeedSettings { options: Arc::new(own), ..settings };
        Ok(self.preview(&body, &settings).await?.with(&devices))
    }

    async fn preview(&self, request: &FeedBody, settings: &FeedSettings) -> Result<Shown, IngestError> {
        let memory = request.memory().saturating_mul(REQUEST_FACTOR);
        Ok(request.decode_to(&self.budget, settings, memory, Shown::of).await?)
    }
}
