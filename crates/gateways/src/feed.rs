//! Feeds: messages of satellite networks and phones that are received by HTTP, or fetched by a poller.
//!
//! A feed is a few pure functions. The caller checks the secret of the route, calls [`Feed::check`] and
//! [`Feed::decode`], stores the raw request with its content, and then answers with [`Feed::reply`]. A stored request
//! may be decoded again at any time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use perigee_core::locations::location::DuplicateRule;
use perigee_core::time::Timestamp;
use serde_json::Value as Json;

use crate::alarm::AlarmTable;
use crate::decode_budget::DecodeBudget;
use crate::decoded::{DecodeError, Options};
use crate::feed_option::FeedOption;
use crate::report::Report;
use crate::{feeds, secret};

/// An HTTP request of a provider or a phone; for a polled feed, the body of the answer.
#[derive(Clone, Copy, Debug)]
pub struct FeedRequest<'a> {
    /// The HTTP method in capitals, such as `POST`.
    pub method: &'a str,
    /// As sent, percent-encoded and without the question mark.
    pub query: &'a str,
    /// Names in lower case.
    pub headers: &'a [(&'a str, &'a str)],
    /// At most [`Feed::max_body`] bytes; the caller refuses longer ones.
    pub body: &'a [u8],
}

impl<'a> FeedRequest<'a> {
    /// A request that has only a body, such as the answer to a poller.
    pub const fn of_body(body: &'a [u8]) -> Self {
        Self { method: "POST", query: "", headers: &[], body }
    }

    /// The value of a header, whose name is given in lower case.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// Facts about a request besides its bytes.
#[derive(Clone, Copy, Debug)]
pub struct FeedContext<'a> {
    /// The current time; for a message that is decoded again, the time at which it was received.
    pub now: Timestamp,
    /// Settings of the feed. The member `devices` may have settings of single devices by identifier, which take
    /// precedence: a caller that finds a model or a template of a device adds them there and decodes again.
    pub options: &'a Options,
    /// The budget for decoding. The caller has reserved the memory.
    pub budget: &'a DecodeBudget,
}

impl<'a> FeedContext<'a> {
    /// The setting of the device with one of these identifiers, or else of the feed.
    pub fn setting(&self, identifiers: &[String], name: &str) -> Option<&'a Json> {
        let devices = self.options.get("devices").and_then(Json::as_object);
        let own = |identifier: &String| devices?.get(identifier)?.get(name);
        identifiers.iter().find_map(own).or_else(|| self.options.get(name))
    }

    /// Whether the device with one of these identifiers is of this model, in any letter case.
    pub fn is_model(&self, identifiers: &[String], model: &str) -> bool {
        self.setting(identifiers, "model")
            .and_then(Json::as_str)
            .is_some_and(|set| set.eq_ignore_ascii_case(model))
    }
}

/// Step of an emergency. All steps from one device belong to one alert that has a beginning and an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SosStep {
    /// Someone asked for help.
    Declare,
    /// The person, or the rescue centre, confirmed it.
    Confirm,
    /// A further message while the emergency goes on, such as a position with an emergency flag.
    Repeat,
    /// The emergency is over.
    Cancel,
}

/// The content of a request about one device. A request may have several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeedMessage {
    /// Deduplication key of the provider: the same message sent again has the same key. None if the provider has none.
    pub key: Option<String>,
    /// Identifiers of the device; several are alternatives, tried in order. Empty if the route or its secret identifies
    /// the device.
    pub identifiers: Vec<String>,
    /// The reports, in order.
    pub reports: Vec<Report>,
    /// Set when the message is part of an emergency.
    pub sos: Option<SosStep>,
    /// Text that a person wrote, or the words of a preset message.
    pub text: Option<String>,
    /// The meaning of a preset message that came without its words.
    pub preset: Option<&'static str>,
    /// A test by the provider or the device: it is shown, but creates neither an alert nor a location.
    pub test: bool,
    /// Why this message could not be decoded completely. Other messages of the request are not affected.
    pub error: Option<DecodeError>,
}

impl FeedMessage {
    /// The text for the conversation with the device: what a person wrote, or else the meaning of a preset message.
    pub fn words(&self) -> Option<&str> {
        let text = self.text.as_deref().filter(|text| !text.trim().is_empty());
        text.or(self.preset).filter(|_| !self.test)
    }
}

/// The decoded content of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeedDecoded {
    /// In the order of the body.
    pub messages: Vec<FeedMessage>,
    /// The cursor for a poller to continue from, in the notation of the provider: a time or an ID. None if the provider
    /// did not send one.
    pub next: Option<String>,
    /// Why the body could not be decoded, or not to its end.
    pub error: Option<DecodeError>,
}

impl FeedDecoded {
    /// A request with one message.
    pub fn one(message: FeedMessage) -> Self {
        Self { messages: vec![message], ..Self::default() }
    }

    /// The messages of a request, in order, decoded one by one as far as the budget allows.
    pub fn all(messages: impl IntoIterator<Item = FeedMessage>, budget: &DecodeBudget) -> Self {
        let mut decoded = Self::default();
        for message in messages {
            if let Err(error) = decoded.push(message, budget) {
                decoded.error = Some(error);
                break;
            }
        }
        decoded
    }

    /// Adds a message. Fails if the request has too many messages, or the budget is used up.
    pub(crate) fn push(&mut self, message: FeedMessage, budget: &DecodeBudget) -> Result<(), DecodeError> {
        if self.messages.len() >= DecodeBudget::MESSAGES_MAX {
            return Err(DecodeError::TooLarge);
        }
        budget.take_message(&message)?;
        self.messages.push(message);
        Ok(())
    }
}

impl From<Result<FeedDecoded, DecodeError>> for FeedDecoded {
    fn from(result: Result<FeedDecoded, DecodeError>) -> Self {
        result.unwrap_or_else(|error| Self { error: Some(error), ..Self::default() })
    }
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedOutcome {
    /// The raw message is stored durably.
    Stored,
    /// The raw message could not be stored; the provider must send it again.
    Failed,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedReply {
    /// HTTP status. Some providers treat every status but 200 as a failure.
    pub status: u16,
    /// The media type that the provider expects.
    pub content_type: &'static str,
    /// Empty for most providers.
    pub body: Vec<u8>,
}

impl FeedReply {
    /// 200 without a body if stored, otherwise 503, after which every provider here retries.
    pub fn plain(_request: &FeedRequest<'_>, _context: &FeedContext<'_>, outcome: &FeedOutcome) -> Self {
        Self::of(outcome, "text/plain", "")
    }

    /// 200 with this body if stored, otherwise 503 without one.
    pub fn of(outcome: &FeedOutcome, content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        match outcome {
            FeedOutcome::Stored => Self { status: 200, content_type, body: body.into() },
            FeedOutcome::Failed => Self { status: 503, content_type: "text/plain", body: Vec::new() },
        }
    }
}

/// The reason for which a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A part that the options of the gateway require is missing.
    #[error("the request has no {0}")]
    Missing(&'static str),
    /// A part that the options of the gateway require is wrong.
    #[error("the {0} is wrong")]
    Wrong(&'static str),
    /// User and password by HTTP Basic are missing or wrong, as the text says.
    #[error("the user and password (HTTP Basic) are {0}")]
    Basic(&'static str),
    /// An option of the gateway is not usable; a user has to correct it.
    #[error("the option \"{0}\" of the gateway is invalid")]
    Setting(&'static str),
}

/// How messages arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The provider or the phone sends a request: the feed has a route.
    Push,
    /// A poller fetches them: `decode` reads the body of the answer.
    Poll,
    /// Not at all: its gateways only send messages to devices.
    None,
}

/// A feed: the interface by which a provider or a phone app sends messages.
#[derive(Clone, Copy, Debug)]
pub struct Feed {
    /// The name in settings and in the path of the route.
    pub name: &'static str,
    /// The name for people, as the provider writes it.
    pub title: &'static str,
    /// How messages arrive.
    pub delivery: Delivery,
    /// Maximum size of a body, in bytes.
    pub max_body: usize,
    /// The settings that its gateways can have, in groups that feeds share.
    pub options: &'static [&'static [FeedOption]],
    /// Decodes a request. Pure: the same request with the same context gives the same messages.
    pub decode: fn(&FeedRequest<'_>, &FeedContext<'_>) -> FeedDecoded,
    /// Writes the answer, once the raw message is stored or could not be.
    pub reply: fn(&FeedRequest<'_>, &FeedContext<'_>, &FeedOutcome) -> FeedReply,
    /// Verifies the authentication of a request beyond the secret in the route: a signature, or a token header.
    pub check: fn(&FeedRequest<'_>, &FeedContext<'_>) -> Result<(), Refused>,
    /// The alarm codes, by the field that contains them. Those of presets are in their mappings.
    pub alarms: &'static [AlarmTable],
}

impl Feed {
    /// When locations of the feed count as duplicates. Some providers deliver the same fix by several feeds, with
    /// different readings.
    pub fn duplicate_rule(&self) -> DuplicateRule {
        let providers = ["garmin", "spot"];
        let is_of = |provider: &str| {
            self.name.strip_prefix(provider).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        if providers.into_iter().any(is_of) { DuplicateRule::Fix } else { DuplicateRule::Content }
    }
}

/// Checks HTTP Basic with the settings `user` and `password`, if both are set.
pub fn basic_check(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> Result<(), Refused> {
    let (Some(user), Some(password)) = (context.options.text("user"), context.options.text("password"))
    else {
        return Ok(());
    };
    let sent = request.header("authorization").ok_or(Refused::Basic("missing"))?;
    let expected = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
    if secret::same(sent.trim(), &expected) { Ok(()) } else { Err(Refused::Basic("wrong")) }
}

/// The check of a feed that has no signature of its own.
pub const fn no_check(_request: &FeedRequest<'_>, _context: &FeedContext<'_>) -> Result<(), Refused> {
    Ok(())
}

/// Every feed, one line each.
pub const FEEDS: &[Feed] = &[
    feeds::garmin::OUTBOUND,
    feeds::garmin::HISTORY,
    feeds::garmin::MAPSHARE,
    feeds::cloudloop::FEED,
    feeds::rockblock::FEED,
    feeds::globalstar::FEED,
    feeds::spot::PUSH,
    feeds::spot::POLL,
    feeds::zoleo::FEED,
    feeds::osmand::FEED,
    feeds::owntracks::FEED,
    feeds::overland::FEED,
    feeds::mapped::GPSLOGGER,
    feeds::mapped::SOMEWEAR,
    feeds::mapped::BULLITT,
    feeds::mapped::TTN,
    feeds::mapped::CHIRPSTACK,
    feeds::mapped::MYRIOTA,
    feeds::mapped::FLESPI,
    feeds::sigfox::FEED,
    feeds::orbcomm::FEED,
    feeds::mapped::FEED,
];

/// Interfaces of providers whose gateways only send messages to devices; a listener receives those of the devices.
pub const SENDERS: &[Feed] = &[feeds::directip::FEED];

/// The feed of this name.
pub fn find_feed(name: &str) -> Option<&'static Feed> {
    FEEDS.iter().chain(SENDERS).find(|feed| feed.name == name)
}
