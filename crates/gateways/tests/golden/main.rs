//! Every recorded frame decodes as recorded, within the limits of each protocol.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod alarm_document;
mod commands;
mod compare;
mod frames;
mod made;
mod protocol_table;
mod sniff;
mod streams;
