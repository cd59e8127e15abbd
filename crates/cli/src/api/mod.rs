//! The API of a running server, as commands use it.

mod client;
mod demo;
mod locations;

pub(crate) use client::{Api, tls};
pub(crate) use locations::{Outcome, Submission};
