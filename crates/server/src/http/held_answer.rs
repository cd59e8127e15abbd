//! Memory of large answers: they acquire a permit before they wait for a slow client.

use bytes::Bytes;

use super::error::ApiResult;
use crate::app::App;
use crate::budget::{Payer, Permit};

/// Answers up to this many bytes are not counted: hardly more than a connection's own buffers.
const SMALL: usize = 64 * 1024;

/// A written answer that keeps its permit until it is sent.
pub fn hold(app: &App, payer: Payer, bytes: Vec<u8>) -> ApiResult<Bytes> {
    if bytes.len() <= SMALL {
        return Ok(bytes.into());
    }
    Ok(app.budget.answers.try_acquire(payer, bytes.capacity())?.attach(bytes))
}

/// A permit for an answer that is sent in parts of up to this many bytes, one after the other: the connection holds a
/// part that the client has not read yet while the next is written.
pub fn hold_parts(app: &App, payer: Payer, part: usize) -> ApiResult<Permit> {
    Ok(app.budget.answers.try_acquire(payer, 2 * part)?)
}
