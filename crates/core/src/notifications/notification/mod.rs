//! Messages to people: channels, limits, texts and the record of each message.

mod addressee;
mod audience;
mod channel;
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

pub use addressee::{Addressee, Notice};
pub use audience::{Audience, Directory, Source};
pub use channel::{Channel, UnknownChannel};
pub use consent::{ConfirmationPolicy, ConsentChange, EmailConsent, MailedAccount};
pub use content::{Compose, ComposeError, Composed, Content, LINK_SECRET, MessageDevice, Occasion};
pub use email_cap::{EmailCaps, EmailCounter, EmailCounts, Urgency};
pub use message::{Message, SendOutcome, Sender};
pub use policy::{MessagingSettings, SendingPolicy, StoredMessaging};
pub use quota::Quota;
pub use record::{
    Candidate, Notification, NotificationFilter, NotificationState, Receipt, Reservation, SuppressedReason,
    UnknownState,
};
pub use repetition::RepeatFilter;
pub use retry::{LONGEST_WAIT_S, give_up_after_s, retry_wait_s};
pub use template::StoredTemplate;
