//! The texts there are templates for.

use std::str::FromStr;

use perigee_core::notification::Channel;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $file:literal, $most:literal;)+) => {
        /// A text there is a template for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum TemplateKind {
            $($(#[$doc])* $variant,)+
        }

        impl TemplateKind {
            /// Every one there is.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name in the API and in the store.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The template that speaks unless an account has its own.
            pub const fn built_in(self) -> &'static str {
                match self { $(Self::$variant => include_str!(concat!("builtin/", $file)),)+ }
            }

            /// Bytes what it makes may have.
            pub const fn output_max(self) -> usize {
                match self { $(Self::$variant => $most,)+ }
            }
        }
    };
}

kinds! {
    /// The subject of an alert's e-mail.
    AlertEmailSubject = "alert-email-subject", "alert-email-subject.txt", 1_000;
    /// Its text.
    AlertEmailText = "alert-email-text", "alert-email-text.txt", 65_536;
    /// Its text for readers of HTML.
    AlertEmailHtml = "alert-email-html", "alert-email-html.html", 262_144;
    /// An alert's SMS.
    AlertSms = "alert-sms", "alert-sms.txt", 4_096;
    /// The subject of the e-mail that tells of a limit reached.
    LimitEmailSubject = "limit-email-subject", "limit-email-subject.txt", 1_000;
    /// Its text.
    LimitEmailText = "limit-email-text", "limit-email-text.txt", 65_536;
    /// Its text for readers of HTML.
    LimitEmailHtml = "limit-email-html", "limit-email-html.html", 262_144;
    /// The SMS that tells of a limit reached.
    LimitSms = "limit-sms", "limit-sms.txt", 4_096;
    /// The subject of the report of a day or a week.
    OverviewEmailSubject = "overview-email-subject", "overview-email-subject.txt", 1_000;
    /// Its text.
    OverviewEmailText = "overview-email-text", "overview-email-text.txt", 262_144;
    /// Its text for readers of HTML.
    OverviewEmailHtml = "overview-email-html", "overview-email-html.html", 262_144;
}

/// What a text is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// An alert.
    Alert,
    /// A limit reached.
    Limit,
    /// A day or a week of an account.
    Overview,
}

impl TemplateKind {
    /// Characters a template may have.
    pub const SOURCE_MAX: usize = 20_000;

    /// Whether it makes HTML, in which every value is escaped.
    pub const fn is_html(self) -> bool {
        matches!(self, Self::AlertEmailHtml | Self::LimitEmailHtml | Self::OverviewEmailHtml)
    }

    /// What it is about.
    pub const fn topic(self) -> Topic {
        match self {
            Self::AlertEmailSubject | Self::AlertEmailText | Self::AlertEmailHtml | Self::AlertSms => {
                Topic::Alert
            }
            Self::LimitEmailSubject | Self::LimitEmailText | Self::LimitEmailHtml | Self::LimitSms => {
                Topic::Limit
            }
            Self::OverviewEmailSubject | Self::OverviewEmailText | Self::OverviewEmailHtml => Topic::Overview,
        }
    }

    /// The channel it is for.
    pub const fn channel(self) -> Channel {
        match self {
            Self::AlertSms | Self::LimitSms => Channel::Sms,
            _ => Channel::Email,
        }
    }
}

/// A text that names no kind of template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a kind of template")]
pub struct UnknownKind;

impl FromStr for TemplateKind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        Self::ALL.iter().copied().find(|kind| kind.name() == text).ok_or(UnknownKind)
    }
}
