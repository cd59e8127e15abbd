//! Messages to people: channels, limits, texts and the record of each message.

mod address_format;
mod addressee;
mod audience;
mod channel;
mod channel_kind;
mod consent;
mod content;
mod email_cap;
mod message;
mod policy;
mod quota;
mod record;
mod repetition;
mod retry;
mod template;

pub use address_format::{ADDRESS_MAX, AddressFormat};
pub use addressee::{Addressee, Notice};
pub use audience::{Audience, Directory, Source};
pub use channel::{Channel, UnknownChannel};
pub use channel_kind::{
    AnswerRules, ChannelKind, CountedUnit, PresetSetting, RequestBody, RequestPreset, RetryPolicy,
};
pub use consent::{ConfirmationPolicy, ConsentChange, EmailConsent, MailedAccount};
pub use content::{
    Appearance, Compose, ComposeError, Composed, Content, LINK_SECRET, MessageDevice, Occasion,
};
pub use email_cap::{EmailCaps, EmailCounter, EmailCounts, Urgency};
pub use message::{Attachment, InlinePicture, Message, PushHandling, PushUrgency, SendOutcome, Sender};
pub use policy::{MessagingSettings, SendingPolicy, StoredMessaging, UnitCaps};
pub use quota::Quota;
pub use record::{
    Candidate, MessageCounts, Notification, NotificationFilter, NotificationState, Receipt, Reservation,
    SuppressedReason, UnknownState,
};
pub use repetition::RepeatFilter;
pub use retry::{LONGEST_WAIT_S, give_up_after_s, retry_wait_s};
pub use template::StoredTemplate;
