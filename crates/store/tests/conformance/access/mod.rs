//! Users and their credentials.

pub(crate) mod calls;
pub(crate) mod credentials;
pub(crate) mod passwords;
pub(crate) mod users;
