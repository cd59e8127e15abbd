//! What operators of the server do: accounts and their licences, and how the server is.

pub mod accounts;
pub mod health;
pub mod view;

pub use health::LAST_BACKUP;
pub use view::InvitationView;
