//! A whole service for a test: real router, real store, a clock that stands still until told to move.

pub(crate) mod app;
pub(crate) mod call;
pub(crate) mod logs;
pub(crate) mod people;
pub(crate) mod provider;
pub(crate) mod sink;
pub(crate) mod stream;
pub(crate) mod things;

pub(crate) use app::TestApp;
pub(crate) use call::{Answer, Call};
pub(crate) use people::{Person, Tenant};
pub(crate) use perigee_store::{Engine, on_both_engines};
pub(crate) use things::{bare_error, pointers};
