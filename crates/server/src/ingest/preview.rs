//! Decodes messages without storing anything, for people who set up a tracker, a template or a mapping.

use perigee_core::account_gateway::Gateway;
use perigee_core::error::StoreError;
use perigee_core::gateway::RawMessage;
use perigee_core::id::DeviceId;
use perigee_core::time::Timestamp;
use perigee_gateways::{
    Context, Feed, FeedContext, FeedDecoded, FeedRequest, LineDecoder, LineDefaults, Options, Protocol,
    decoded_json, feed_json,
};
use serde_json::{Value, json};

use super::decoding::DeviceDecoding;
use super::path::Ingest;
use super::reading::with_devices;
use super::stored_request::StoredRequest;

/// Messages that are shown, and reports of each.
const SHOWN_MAX: usize = 200;

/// Frames that a person pasted, one in a line.
#[derive(Clone, Debug)]
pub struct Pasted {
    /// Hexadecimal digits, or JSON objects as `perigee decode` reads them.
    pub text: String,
    /// Protocol, model and options of all lines.
    pub defaults: LineDefaults,
}

/// Decodes pasted frames as `perigee decode` does. What follows the first 200 lines is left out.
pub fn preview_frames(pasted: Pasted, now: Timestamp) -> Vec<Value> {
    let mut lines = LineDecoder::new(pasted.defaults);
    pasted.text.lines().filter_map(|line| lines.decode(line, now)).take(SHOWN_MAX).collect()
}

/// A request of a feed that is decoded and not stored.
#[derive(Clone, Debug)]
pub struct PreviewRequest {
    /// How it is read.
    pub feed: &'static Feed,
    /// Settings of the gateway.
    pub options: Options,
    /// Its bytes.
    pub bytes: PreviewBytes,
    /// When it came.
    pub at: Timestamp,
}

/// The bytes of a request.
#[derive(Clone, Debug)]
pub enum PreviewBytes {
    /// A body that a person pasted.
    Body(String),
    /// A raw message.
    Stored(Vec<u8>),
}

impl PreviewRequest {
    /// Decodes it. The error says why a stored request cannot be read back.
    pub fn decode(&self, options: &Options) -> Result<FeedDecoded, &'static str> {
        let context = FeedContext { now: self.at, options };
        match &self.bytes {
            PreviewBytes::Body(text) => {
                Ok((self.feed.decode)(&FeedRequest::of_body(text.as_bytes()), &context))
            }
            PreviewBytes::Stored(bytes) => {
                let stored = StoredRequest::parse(bytes).ok_or("the request is not stored in full")?;
                Ok((self.feed.decode)(&stored.request(), &context))
            }
        }
    }

    /// What a decoded request says, with the devices that would get its messages.
    pub fn shown(&self, decoded: &FeedDecoded, devices: &[Option<DeviceId>]) -> Vec<Value> {
        let mut messages = feed_json(self.feed, decoded, SHOWN_MAX);
        for (message, device) in messages.iter_mut().zip(devices) {
            message["deviceId"] = json!(device.map(|device| device.to_string()));
        }
        messages
    }
}

/// An answer that says why a message cannot be decoded.
pub fn preview_error(source: &str, error: &str) -> Vec<Value> {
    vec![json!({"protocol": source, "identifiers": [], "reports": [], "replies": [], "error": error})]
}

/// Decodes a stored frame of a tracker by the settings of its device.
pub fn preview_frame(
    protocol: &'static Protocol,
    message: &RawMessage,
    settings: &DeviceDecoding,
) -> Vec<Value> {
    let context = Context {
        known: true,
        identifier: message.identifier.as_deref(),
        model: settings.model.as_deref(),
        options: &settings.options,
        datagram: false,
        now: message.received_at,
    };
    vec![decoded_json(protocol, &(protocol.decoder)().decode(&message.bytes, &context))]
}

impl Ingest {
    /// The devices that would get the messages of a request, as many as are shown, and the options with those of these
    /// devices; `None` if they have none.
    pub async fn preview_devices(
        &self,
        gateway: &Gateway,
        options: &Options,
        decoded: &FeedDecoded,
    ) -> Result<(Vec<Option<DeviceId>>, Option<Options>), StoreError> {
        let messages = decoded.messages.get(..SHOWN_MAX).unwrap_or(&decoded.messages);
        let reporters = self.reporters(gateway, messages).await?;
        let options = with_devices(gateway, options, messages, &reporters);
        Ok((reporters.into_iter().map(|reporter| reporter.map(|found| found.device)).collect(), options))
    }
}
