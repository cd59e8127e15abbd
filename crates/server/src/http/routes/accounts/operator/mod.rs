//! Operations for operators of the server: accounts, licences and health.

pub mod accounts;
pub mod claims;
pub mod health;
mod map_input;
pub mod map_view;
pub mod maps;
pub mod notices;
pub mod standing;
pub mod storage;
pub mod usage;
pub mod view;

pub use health::LAST_BACKUP;
pub use view::{BrandingView, InvitationView};
