//! The links of a device: by which of them messages can be sent, and why not by the others.

use std::collections::BTreeSet;

use perigee_core::access::actor::Scope;
use perigee_core::devices::command::{CommandKind, NewCommand};
use perigee_core::devices::conversation::{Carrier, TextKind};
use perigee_core::devices::device::Device;
use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::time::Timestamp;
use perigee_gateways::{
    Command as GatewayCommand, DOWNLINKS, Downlink, EncodeError, Options, PARTS_MAX, Protocol, TextLimit,
    cannot_send, encode_command, find_feed, find_protocol, supported_commands,
};
use serde_json::json;

use super::view::LinkView;
use crate::http::prelude::*;
use crate::http::routes::devices::commands::read::{settings_of, target};

/// Maximum number of bytes of a text that is sent as a command.
const COMMAND_BYTES_MAX: usize = 500;

/// A link of a device.
pub(in crate::http::routes) struct Link {
    /// The feed or the protocol.
    name: String,
    means: Means,
}

/// How messages are sent by a link.
enum Means {
    /// As commands of this protocol, if it has them.
    Tracker { protocol: &'static Protocol, shows_text: bool, asks_location: bool },
    /// By the provider of a gateway.
    Provider { downlink: &'static Downlink, gateway: Box<Gateway>, address: String },
    /// Not at all, for this reason.
    None(String),
}

/// The links of a device, the one that it used last first.
pub(super) async fn links_of(app: &App, caller: &Caller, device: &Device) -> ApiResult<Vec<Link>> {
    Ok(links_in(app, caller.scope(), caller.now(), device).await?)
}

/// The links of a device in a scope at an instant; see [`links_of`].
pub(in crate::http::routes) async fn links_in(
    app: &App,
    scope: Scope,
    now: Timestamp,
    device: &Device,
) -> Result<Vec<Link>, StoreError> {
    let mut links = Vec::new();
    for downlink in DOWNLINKS {
        match address_at(device, downlink) {
            At::Address(address) => {
                let gateways = app.store.gateways_of_feed(scope, downlink.feed).await?;
                links.push(by_provider(device, downlink, address, gateways));
            }
            At::NoAddress => links.push(Link {
                name: downlink.link.to_owned(),
                means: Means::None(downlink.address.advice().to_owned()),
            }),
            At::NotThere => {}
        }
    }
    if let Some(name) = device.protocol.as_deref()
        && !links.iter().any(|link| link.name == name)
    {
        links.push(by_protocol(app, device, name, now));
    }
    links.sort_by_key(|link| (!link.can_send(), device.protocol.as_deref() != Some(link.name.as_str())));
    Ok(links)
}

/// Where a device is at a provider.
enum At {
    /// By this identifier.
    Address(String),
    /// It reports by the provider, but has no identifier of the form that sending needs.
    NoAddress,
    /// Nothing says that the provider knows it.
    NotThere,
}

/// The identifier of a device at a provider: one whose link names the feed or the link, or else any if it reports by it.
fn address_at(device: &Device, downlink: &Downlink) -> At {
    let settings = &device.settings;
    let is_provider = |link: &str| {
        let link = link.to_ascii_lowercase();
        link.contains(downlink.feed) || link.contains(downlink.link)
    };
    let is_named = |link: &Option<String>| link.as_deref().is_some_and(is_provider);
    let mut named = settings.identifiers.iter().filter(|one| is_named(&one.link)).peekable();
    let reports_by_it = device.protocol.as_deref() == Some(downlink.link);
    if named.peek().is_none() && !reports_by_it {
        return At::NotThere;
    }
    let all = settings.identifier.iter().chain(settings.identifiers.iter().map(|one| &one.identifier));
    let mut candidates = named.map(|one| &one.identifier).chain(all.filter(|_| reports_by_it));
    match candidates.find(|identifier| downlink.address.is_form_of(identifier)) {
        Some(address) => At::Address(address.clone()),
        None => At::NoAddress,
    }
}

fn by_provider(
    device: &Device,
    downlink: &'static Downlink,
    address: String,
    mut gateways: Vec<Gateway>,
) -> Link {
    let name = downlink.link.to_owned();
    let ready = |gateway: &Gateway| {
        let options = serde_json::from_str(&gateway.settings.options).unwrap_or_default();
        (downlink.ready)(&Options::new(options))
    };
    // A gateway of the device itself is preferred to one for many devices.
    gateways.sort_by_key(|gateway| (ready(gateway).is_err(), gateway.settings.device != Some(device.id)));
    let Some(gateway) = gateways
        .into_iter()
        .find(|gateway| gateway.settings.device.is_none() || gateway.settings.device == Some(device.id))
    else {
        let title = find_feed(downlink.feed).map_or(downlink.feed, |feed| feed.title);
        return Link {
            name,
            means: Means::None(format!("The account has no gateway of {title} for this device.")),
        };
    };
    match ready(&gateway) {
        Ok(()) => Link { name, means: Means::Provider { downlink, gateway: Box::new(gateway), address } },
        Err(missing) => Link { name, means: Means::None(missing.to_owned()) },
    }
}

fn by_protocol(app: &App, device: &Device, name: &str, now: Timestamp) -> Link {
    let means = match find_protocol(name) {
        Some(protocol) => {
            let settings = settings_of(app, device, protocol);
            let kinds = supported_commands(protocol, &target(device, &settings, now));
            let has = |kind| kinds.contains(&kind);
            let (shows_text, asks_location) = (has(CommandKind::Message), has(CommandKind::PositionSingle));
            Means::Tracker { protocol, shows_text, asks_location }
        }
        None => Means::None(
            cannot_send(name)
                .unwrap_or("The device has no identifier under which the provider knows it.")
                .to_owned(),
        ),
    };
    Link { name: name.to_owned(), means }
}

impl Link {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn can_send(&self) -> bool {
        match &self.means {
            Means::Tracker { shows_text, .. } => *shows_text,
            Means::Provider { .. } => true,
            Means::None(_) => false,
        }
    }

    /// Whether a message of this kind can be sent.
    pub(in crate::http::routes) fn carries(&self, kind: TextKind) -> bool {
        match (kind, &self.means) {
            (TextKind::Text, Means::Tracker { shows_text, .. }) => *shows_text,
            (TextKind::LocationRequest, Means::Tracker { asks_location, .. }) => *asks_location,
            (_, Means::Tracker { .. } | Means::None(_)) => false,
            (_, Means::Provider { downlink, .. }) => downlink.carries(kind),
        }
    }

    /// Why a message of this kind cannot be sent, as a sentence.
    pub(super) fn reason(&self, kind: TextKind) -> String {
        match (kind, &self.means) {
            (_, Means::None(reason)) => reason.clone(),
            (TextKind::Text, _) => format!("The protocol {} has no command that shows a text.", self.name),
            (TextKind::LocationRequest, _) => {
                format!("A device cannot be asked for its position by {}.", self.name)
            }
            (TextKind::TrackingInterval, _) => {
                format!("The interval of a device cannot be changed by {}.", self.name)
            }
            (TextKind::EmergencyAcknowledge | TextKind::EmergencyMessage, _) => {
                format!("{} has no messages for emergencies.", self.name)
            }
        }
    }

    /// The longest text of one message.
    pub(super) fn limit(&self) -> TextLimit {
        match &self.means {
            Means::Provider { downlink, .. } => downlink.limit,
            Means::Tracker { .. } | Means::None(_) => TextLimit::Bytes(COMMAND_BYTES_MAX),
        }
    }

    /// Why this text cannot be sent as one message, as a phrase that follows the name of the member.
    pub(in crate::http::routes) fn refuses(
        &self,
        app: &App,
        device: &Device,
        text: &str,
        now: Timestamp,
    ) -> Option<String> {
        match &self.means {
            Means::Provider { .. } => self.limit().refuses(text),
            Means::Tracker { protocol, .. } => self.limit().refuses(text).or_else(|| {
                let problem = encode(app, device, protocol, text, now).err()?;
                Some(format!("cannot be encoded for {}: {problem}", protocol.name))
            }),
            Means::None(reason) => Some(format!("cannot be sent: {reason}")),
        }
    }

    /// The characters of a text that the network cannot carry, each once. Providers carry all characters.
    pub(super) fn unsupported(&self, app: &App, device: &Device, text: &str, now: Timestamp) -> Vec<char> {
        let Means::Tracker { protocol, .. } = &self.means else { return Vec::new() };
        if encode(app, device, protocol, "ab", now).is_err()
            || encode(app, device, protocol, text, now).is_ok()
        {
            return Vec::new();
        }
        let letters: BTreeSet<char> = text.chars().collect();
        let is_refused = |letter: &char| encode(app, device, protocol, &format!("a{letter}b"), now).is_err();
        letters.into_iter().filter(is_refused).collect()
    }

    /// How a message gets to the device.
    pub(in crate::http::routes) fn carrier(
        &self,
        kind: TextKind,
        text: &str,
        deadline: Timestamp,
    ) -> Option<Carrier> {
        match &self.means {
            Means::Tracker { .. } => {
                let (kind, values) = match kind {
                    TextKind::Text => (CommandKind::Message, json!({"message": text})),
                    TextKind::LocationRequest => (CommandKind::PositionSingle, json!({})),
                    TextKind::TrackingInterval
                    | TextKind::EmergencyAcknowledge
                    | TextKind::EmergencyMessage => return None,
                };
                Some(Carrier::Command(NewCommand { kind, values: values.to_string(), deadline }))
            }
            Means::Provider { downlink, gateway, address } => Some(Carrier::Gateway {
                gateway: gateway.id,
                feed: downlink.link.to_owned(),
                address: address.clone(),
            }),
            Means::None(_) => None,
        }
    }

    /// The link as the API shows it.
    pub(super) fn view(&self) -> LinkView {
        let (max_characters, max_bytes) = match self.limit() {
            TextLimit::Characters(most) => (Some(most), None),
            TextLimit::Bytes(most) => (None, Some(most)),
        };
        let can_send = self.can_send();
        let carried = TextKind::ALL.iter().copied().filter(|kind| self.carries(*kind));
        LinkView {
            link: self.name.clone(),
            can_send,
            can_request_location: self.carries(TextKind::LocationRequest),
            types: carried.map(TextKind::name).collect(),
            reason: (!can_send).then(|| self.reason(TextKind::Text)),
            max_characters: max_characters.filter(|_| can_send),
            max_bytes: max_bytes.filter(|_| can_send),
            max_parts: can_send.then_some(PARTS_MAX),
            billed: matches!(self.means, Means::Provider { .. }),
        }
    }
}

/// Encodes a text as a command of a tracker.
fn encode(
    app: &App,
    device: &Device,
    protocol: &Protocol,
    text: &str,
    now: Timestamp,
) -> Result<Vec<u8>, EncodeError> {
    let settings = settings_of(app, device, protocol);
    let values = json!({"message": text}).as_object().cloned().unwrap_or_default();
    let command = GatewayCommand { kind: CommandKind::Message.name().to_owned(), values };
    encode_command(protocol, &command, &target(device, &settings, now))
}
