//! Every recorded request of a feed decodes as recorded, and no request makes a feed fail.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

#[path = "../golden/compare.rs"]
mod compare;
mod recorded;
mod survival;
