//! Users, their sessions and credentials, and the audit log.

mod audit;
mod budget_sign_in;
mod mailed_links;
mod preferences;
mod privileges;
mod session;
mod signing_keys;
mod token;
mod user_bounds;
mod users;
