//! The links of a device: by which of them messages can be sent, and why not by the others.

use perigee_core::access::actor::Scope;
use perigee_core::devices::command::{CommandKind, NewCommand};
use perigee_core::devices::conversation::{Carrier, TextKind};
use perigee_core::devices::device::Device;
use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::time::Timestamp;
use perigee_gateways::{
    Command as GatewayCommand, DOWNLINKS, Downlink, Options, Protocol, cannot_send, encode_command,
    find_feed, find_protocol, supported_commands,
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
        if let Some(address) = address_at(device, downlink.feed) {
            let gateways = app.store.gateways_of_feed(scope, downlink.feed).await?;
            links.push(by_provider(device, downlink, address, gateways));
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

/// The identifier of a device at the provider of this feed: the one whose link names the feed, or else its IMEI if it
/// reports by the feed.
fn address_at(device: &Device, feed: &str) -> Option<String> {
    let settings = &device.settings;
    let names = |link: &str| link.to_ascii_lowercase().contains(feed);
    let of_link = settings.identifiers.iter().find(|one| one.link.as_deref().is_some_and(names));
    if let Some(one) = of_link {
        return Some(one.identifier.clone());
    }
    let is_imei = |text: &&String| text.len() == 15 && text.bytes().all(|byte| byte.is_ascii_digit());
    let reports_by_it = device.protocol.as_deref() == Some(feed);
    let all = settings.identifier.iter().chain(settings.identifiers.iter().map(|one| &one.identifier));
    all.filter(|_| reports_by_it).find(is_imei).cloned()
}

fn by_provider(
    device: &Device,
    downlink: &'static Downlink,
    address: String,
    mut gateways: Vec<Gateway>,
) -> Link {
    let name = downlink.feed.to_owned();
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
            (TextKind::Text, _) => self.can_send(),
            (TextKind::LocationRequest, Means::Tracker { asks_location, .. }) => *asks_location,
            (TextKind::LocationRequest, Means::Provider { downlink, .. }) => downlink.asks_location,
            (TextKind::LocationRequest, Means::None(_)) => false,
        }
    }

    /// Why a message of this kind cannot be sent, as a sentence.
    pub(super) fn reason(&self, kind: TextKind) -> String {
        match (kind, &self.means) {
            (_, Means::None(reason)) => reason.clone(),
            (_, Means::Tracker { protocol, .. })
                if cannot_send(protocol.name).is_some() && protocol.name == "iridium" =>
            {
                cannot_send(protocol.name).unwrap_or_default().to_owned()
            }
            (TextKind::Text, _) => format!("The protocol {} has no command that shows a text.", self.name),
            (TextKind::LocationRequest, _) => {
                format!("A device cannot be asked for its position by {}.", self.name)
            }
        }
    }

    /// Why this text cannot be sent, as a phrase that follows the name of the member.
    pub(in crate::http::routes) fn refuses(
        &self,
        app: &App,
        device: &Device,
        text: &str,
        now: Timestamp,
    ) -> Option<String> {
        match &self.means {
            Means::Provider { downlink, .. } => downlink.refuses(text),
            Means::Tracker { .. } if text.len() > COMMAND_BYTES_MAX => Some(format!(
                "has {} bytes in UTF-8; the link carries at most {COMMAND_BYTES_MAX}",
                text.len()
            )),
            Means::Tracker { protocol, .. } => {
                let settings = settings_of(app, device, protocol);
                let values = json!({"message": text}).as_object().cloned().unwrap_or_default();
                let command = GatewayCommand { kind: CommandKind::Message.name().to_owned(), values };
                let problem = encode_command(protocol, &command, &target(device, &settings, now)).err()?;
                Some(format!("cannot be encoded for {}: {problem}", protocol.name))
            }
            Means::None(reason) => Some(format!("cannot be sent: {reason}")),
        }
    }

    /// How a message gets to the device.
    pub(in crate::http::routes) fn carrier(
        self,
        kind: TextKind,
        text: &str,
        deadline: Timestamp,
    ) -> Option<Carrier> {
        match self.means {
            Means::Tracker { .. } => {
                let (kind, values) = match kind {
                    TextKind::Text => (CommandKind::Message, json!({"message": text})),
                    TextKind::LocationRequest => (CommandKind::PositionSingle, json!({})),
                };
                Some(Carrier::Command(NewCommand { kind, values: values.to_string(), deadline }))
            }
            Means::Provider { downlink, gateway, address } => {
                Some(Carrier::Gateway { gateway: gateway.id, feed: downlink.feed.to_owned(), address })
            }
            Means::None(_) => None,
        }
    }

    /// The link as the API shows it.
    pub(super) fn view(&self) -> LinkView {
        let (max_characters, max_bytes) = match &self.means {
            Means::Tracker { .. } => (None, Some(COMMAND_BYTES_MAX)),
            Means::Provider { downlink, .. } => (downlink.characters_max, downlink.bytes_max),
            Means::None(_) => (None, None),
        };
        let can_send = self.can_send();
        LinkView {
            link: self.name.clone(),
            can_send,
            can_request_location: self.carries(TextKind::LocationRequest),
            reason: (!can_send).then(|| self.reason(TextKind::Text)),
            max_characters: max_characters.filter(|_| can_send),
            max_bytes: max_bytes.filter(|_| can_send),
            billed: matches!(self.means, Means::Provider { .. }),
        }
    }
}
