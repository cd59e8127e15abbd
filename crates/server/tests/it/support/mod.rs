//! A whole service for a test: real router, real store, a clock that moves only when the test moves it.

pub(crate) mod app;
pub(crate) mod call;
pub(crate) mod logs;
pub(crate) mod objects;
pub(crate) mod people;
pub(crate) mod provider;
pub(crate) mod sink;
pub(crate) mod stream;

pub(crate) use app::TestApp;
pub(crate) use call::{Answer, Call};
pub(crate) use objects::{bare_error, pointers};
pub(crate) use people::{Person, Tenant};
pub(crate) use perigee_store::{Engine, on_both_engines};

/// A small PNG image without metadata.
pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x04\0\0\0\x03\x08\x02\0\0\0sums\
    \0\0\0\x03IDATabcsums\0\0\0\0IENDsums";
