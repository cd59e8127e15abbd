//! Devices: how they are read, how they change, and what their expiry does.

mod api;
mod change;
pub(crate) mod checksum;
pub(crate) mod commands;
mod contact;
mod create;
mod create_many;
mod delete;
pub(crate) mod device_files;
pub(crate) mod expiry;
mod identifiers;
pub(in crate::sql) mod limits;
mod photo;
pub(crate) mod read;
mod replace;
mod row;
pub(crate) mod watch_lists;

pub(crate) use contact::record_contact;
#[cfg(feature = "testing")]
pub use create::without_lock::create_device_without_lock;
pub(in crate::sql) use delete::delete as delete_device;
pub(crate) use identifiers::{
    REPORTER_LIVE, counted_sql, find_all_in_account, find_claimed, find_in_account, reporter,
    reporter_columns, storable,
};
