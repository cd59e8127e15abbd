//! The subcommands, one file each.

mod account;
mod backup;
mod config;
mod decode;
mod demo;
mod dispatch;
mod document;
mod export;
mod import;
mod import_devices;
mod key;
mod map;
mod map_fetch;
mod migrate;
mod notify;
mod open;
mod reload;
mod repair;
mod reprocess;
mod restore;
mod serve;
mod simulate;
mod user;
mod verify;

pub(crate) use dispatch::run;
