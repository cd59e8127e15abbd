//! Users, their credentials and sessions, and the audit log.

pub(crate) mod api_keys;
pub(crate) mod audit;
pub(crate) mod calls;
pub(crate) mod credentials;
pub(crate) mod directory;
pub(crate) mod logins;
pub(crate) mod passwords;
pub(crate) mod sessions;
pub(crate) mod signing_keys;
pub(crate) mod totp;
pub(crate) mod user_rows;
pub(crate) mod users;
