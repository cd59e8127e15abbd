//! Web Push: encrypts messages for browsers (RFC 8188, 8291), signs requests to their push services (RFC 8292) and sends
//! them (RFC 8030).

mod contact;
mod encrypt;
mod keys;
mod payload;
mod sender;

pub use contact::{ContactError, PushContact};
pub use encrypt::{AUTH_BYTES, EncryptError, PLAINTEXT_MAX, encrypt, is_public_key};
pub use keys::{PushKey, PushKeyError};
pub use payload::compose_push;
pub use sender::{PushSender, PushTargets};
