//! Messages to people: by which channel, to whom, and what became of each.

mod addressee;
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
pub use channel::{Channel, UnknownChannel};
pub use consent::{ConsentChange, EmailConsent, MailedAccount};
pub use content::{Compose, ComposeError, Composed, Content, DeviceFacts, Occasion};
pub use email_cap::{EmailCaps, EmailCounts, EmailLane};
pub use message::{Delivery, Message, Sender};
pub use policy::{MessagingSettings, SendingPolicy, StoredMessaging};
pub use quota::Quota;
pub use record::{
    Candidate, Notification, NotificationFilter, NotificationState, Receipt, Reservation, SuppressedReason,
    UnknownState,
};
pub use repetition::Repetition;
pub use retry::{LONGEST_WAIT_S, give_up_after_s, retry_wait_s};
pub use template::StoredTemplate;
