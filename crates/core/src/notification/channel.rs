//! The ways a message can go, each with a daily limit of its own.

/// How a message reaches a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Channel {
    /// An e-mail.
    Email,
    /// A short message to a telephone.
    Sms,
}

impl Channel {
    /// Every channel there is.
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

/// A text that names no channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a channel")]
pub struct UnknownChannel;
