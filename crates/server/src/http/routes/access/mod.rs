//! Users, their sessions and credentials, and the audit log.

pub mod api_key;
pub mod audit;
pub mod session;
pub mod session_cookie;
pub mod session_password;
pub mod session_preferences;
pub mod session_totp;
pub mod token;
pub(in crate::http) mod user_bounds;
pub mod user_links;
pub(in crate::http) mod user_password;
pub mod users;
pub mod users_view;
