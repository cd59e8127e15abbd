//! The kinds of templates.

use std::str::FromStr;

use perigee_core::notifications::notification::Channel;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $file:literal, $most:literal;)+) => {
        /// A kind of template.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum TemplateKind {
            $($(#[$doc])* $variant,)+
        }

        impl TemplateKind {
            /// Every kind, in the order of the API.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name in the API and in the store.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The built-in template, used unless an account has its own.
            pub const fn built_in(self) -> &'static str {
                match self { $(Self::$variant => include_str!(concat!("builtin/", $file)),)+ }
            }

            /// Maximum number of bytes of the rendered text.
            pub const fn output_max(self) -> usize {
                match self { $(Self::$variant => $most,)+ }
            }
        }
    };
}

kinds! {
    /// The subject of an alert's e-mail.
    AlertEmailSubject = "alert-email-subject", "alert-email-subject.txt", 1_000;
    /// The plain text of an alert's e-mail.
    AlertEmailText = "alert-email-text", "alert-email-text.txt", 65_536;
    /// The HTML of an alert's e-mail.
    AlertEmailHtml = "alert-email-html", "alert-email-html.html", 262_144;
    /// The text of an alert's SMS.
    AlertSms = "alert-sms", "alert-sms.txt", 4_096;
    /// The title of an alert's notification in a browser.
    AlertPushTitle = "alert-push-title", "alert-push-title.txt", 1_000;
    /// The text of an alert's notification in a browser.
    AlertPushText = "alert-push-text", "alert-push-text.txt", 4_096;
    /// The subject of the e-mail about a reached limit.
    LimitEmailSubject = "limit-email-subject", "limit-email-subject.txt", 1_000;
    /// The plain text of that e-mail.
    LimitEmailText = "limit-email-text", "limit-email-text.txt", 65_536;
    /// The HTML of that e-mail.
    LimitEmailHtml = "limit-email-html", "limit-email-html.html", 262_144;
    /// The SMS about a reached limit.
    LimitSms = "limit-sms", "limit-sms.txt", 4_096;
    /// The subject of an overview report.
    OverviewEmailSubject = "overview-email-subject", "overview-email-subject.txt", 1_000;
    /// The plain text of an overview report.
    OverviewEmailText = "overview-email-text", "overview-email-text.txt", 262_144;
    /// The HTML of an overview report.
    OverviewEmailHtml = "overview-email-html", "overview-email-html.html", 262_144;
}

/// The subject of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// An alert of a device.
    Alert,
    /// A daily limit that was reached.
    Limit,
    /// An overview report of an account.
    Overview,
}

impl TemplateKind {
    /// Maximum number of characters that a template's source may have.
    pub const SOURCE_MAX: usize = 20_000;

    /// Whether it renders HTML, in which every value is escaped.
    pub const fn is_html(self) -> bool {
        matches!(self, Self::AlertEmailHtml | Self::LimitEmailHtml | Self::OverviewEmailHtml)
    }

    /// The subject of its message.
    pub const fn topic(self) -> Topic {
        match self {
            Self::AlertEmailSubject
            | Self::AlertEmailText
            | Self::AlertEmailHtml
            | Self::AlertSms
            | Self::AlertPushTitle
            | Self::AlertPushText => Topic::Alert,
            Self::LimitEmailSubject | Self::LimitEmailText | Self::LimitEmailHtml | Self::LimitSms => {
                Topic::Limit
            }
            Self::OverviewEmailSubject | Self::OverviewEmailText | Self::OverviewEmailHtml => Topic::Overview,
        }
    }

    /// The channel of its message.
    pub const fn channel(self) -> Channel {
        match self {
            Self::AlertSms | Self::LimitSms => Channel::SMS,
            Self::AlertPushTitle | Self::AlertPushText => Channel::PUSH,
            _ => Channel::EMAIL,
        }
    }
}

/// The error for a text that is not a kind of template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a kind of template")]
pub struct UnknownKind;

impl FromStr for TemplateKind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        Self::ALL.iter().copied().find(|kind| kind.name() == text).ok_or(UnknownKind)
    }
}
