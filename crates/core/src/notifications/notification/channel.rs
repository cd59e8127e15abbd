//! The channels of messages. Each is an entry of `channels.toml`; what differs between channels is a property there.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::channel_kind::{ChannelKind, read_kinds};

/// The channels that this program knows, in the order of responses.
static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::of(read_kinds()));
/// The properties of a channel that is not registered. Every channel that is made here is registered.
static UNREGISTERED: LazyLock<ChannelKind> = LazyLock::new(ChannelKind::unregistered);

struct Registry {
    kinds: Vec<ChannelKind>,
    channels: Vec<Channel>,
}

impl Registry {
    fn of(kinds: Vec<ChannelKind>) -> Self {
        let channels = (0..=u8::MAX).take(kinds.len()).map(Channel).collect();
        Self { kinds, channels }
    }
}

/// How a message reaches a person: the number of an entry of `channels.toml`, never stored; the store has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct Channel(u8);

impl Channel {
    /// E-mail, sent by SMTP. Recipients can unsubscribe, and may have to confirm.
    pub const EMAIL: Self = Self(0);
    /// SMS, sent by an HTTP gateway or SMPP, and counted in segments.
    pub const SMS: Self = Self(1);
    /// Web Push, sent to the browsers that users subscribed. Routings name the user, not the address.
    pub const PUSH: Self = Self(2);

    /// The channels with sections, limits and members of the API of their own.
    pub const BUILT_IN: [Self; 3] = [Self::EMAIL, Self::SMS, Self::PUSH];

    /// Whether it is none of [`Self::BUILT_IN`]: all that is known of it is its entry.
    pub fn is_other(self) -> bool {
        !Self::BUILT_IN.contains(&self)
    }

    /// Every channel, in the order of responses.
    pub fn all() -> &'static [Self] {
        &REGISTRY.channels
    }

    /// Its properties.
    pub fn kind(self) -> &'static ChannelKind {
        REGISTRY.kinds.get(self.index()).unwrap_or(&UNREGISTERED)
    }

    /// Its name in the API and in the store.
    pub fn name(self) -> &'static str {
        &self.kind().name
    }

    /// Its place in [`Channel::all`].
    pub fn index(self) -> usize {
        self.0.into()
    }

    /// Whether two addresses of this channel reach the same person. Only those of e-mail ignore the letter case.
    pub fn is_same_address(self, one: &str, other: &str) -> bool {
        if self == Self::EMAIL { one.eq_ignore_ascii_case(other) } else { one == other }
    }
}

impl std::str::FromStr for Channel {
    type Err = UnknownChannel;

    fn from_str(text: &str) -> Result<Self, UnknownChannel> {
        Self::all().iter().copied().find(|channel| channel.name() == text).ok_or(UnknownChannel)
    }
}

impl TryFrom<String> for Channel {
    type Error = UnknownChannel;

    fn try_from(text: String) -> Result<Self, UnknownChannel> {
        text.parse()
    }
}

impl From<Channel> for &'static str {
    fn from(channel: Channel) -> Self {
        channel.name()
    }
}

/// The error for a text that is not a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a channel")]
pub struct UnknownChannel;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_a_channel_with_a_name_of_its_own() {
        assert_eq!((Channel::EMAIL.name(), Channel::SMS.name()), ("email", "sms"));
        for channel in Channel::all() {
            assert_eq!(channel.name().parse(), Ok(*channel));
            let json = serde_json::to_string(channel).unwrap();
            assert_eq!(serde_json::from_str::<Channel>(&json).unwrap(), *channel);
        }
        assert!("fax".parse::<Channel>().is_err());
    }

    #[test]
    fn letter_case_counts_in_keys_and_urls() {
        assert!(Channel::EMAIL.is_same_address("Ana@example.com", "ana@EXAMPLE.com"));
        assert!(!Channel::SMS.is_same_address("a", "A"));
    }
}
