//! The channels of messages. Each has its own daily limits.

/// How a message reaches a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Channel {
    /// E-mail, sent by SMTP.
    Email,
    /// SMS, sent by an HTTP gateway or SMPP.
    Sms,
}

impl Channel {
    /// Every channel, in the order of responses.
    pub const ALL: &'static [Self] = &[Self::Email, Self::Sms];

    /// Its name in the API and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Sms => "sms",
        }
    }
}

impl std::str::FromStr for Channel {
    type Err = UnknownChannel;

    fn from_str(text: &str) -> Result<Self, UnknownChannel> {
        Self::ALL.iter().copied().find(|channel| channel.name() == text).ok_or(UnknownChannel)
    }
}

/// The error for a text that is not a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a channel")]
pub struct UnknownChannel;
