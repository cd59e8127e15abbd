//! Limits on memory and work for decoding one request, because the sender controls the body and an account controls its
//! mapping or template.

use std::cell::Cell;

use crate::decoded::DecodeError;
use crate::feed::FeedMessage;
use crate::report::Report;
use crate::value::{Name, Value};

const KIB: usize = 1024;
/// Bytes that every request may use.
const LEAST: usize = 512 * KIB;
/// Bytes that each byte of a body may use: a short JSON value needs far more memory than its text, and the report made
/// from it needs as much again.
const FACTOR: usize = 96;
/// Maximum bytes of one request.
const MOST: usize = 64 * KIB * KIB;

/// The remaining memory and work for decoding one request. Decoders take from it before they allocate.
#[derive(Debug)]
pub struct DecodeBudget {
    bytes: Cell<usize>,
    values: Cell<usize>,
    steps: Cell<usize>,
    granted: usize,
}

impl DecodeBudget {
    /// Maximum number of values of a JSON or XML document, including those of JSON documents inside its texts.
    pub const VALUES_MAX: usize = 500_000;
    /// Maximum number of messages of one request.
    pub const MESSAGES_MAX: usize = 10_000;
    /// Maximum number of values of a body that a mapping examines.
    const STEPS_MAX: usize = 5_000_000;

    /// The budget of a body of this many bytes.
    pub fn for_body(length: usize) -> Self {
        let granted = Self::memory(length);
        Self {
            bytes: Cell::new(granted),
            values: Cell::new(Self::VALUES_MAX),
            steps: Cell::new(Self::STEPS_MAX),
            granted,
        }
    }

    /// Maximum memory for decoding a body of this size, in bytes.
    pub fn memory(length: usize) -> usize {
        length.saturating_mul(FACTOR).saturating_add(LEAST).min(MOST)
    }

    /// Bytes taken so far.
    pub const fn used(&self) -> usize {
        self.granted.saturating_sub(self.bytes.get())
    }

    /// Takes bytes before they are allocated.
    pub fn take(&self, bytes: usize) -> Result<(), DecodeError> {
        take(&self.bytes, bytes)
    }

    /// Takes values of a document and their memory before they are parsed.
    pub fn take_values(&self, values: usize, bytes: usize) -> Result<(), DecodeError> {
        take(&self.values, values)?;
        self.take(bytes)
    }

    /// Takes steps of work before they are done.
    pub fn take_steps(&self, steps: usize) -> Result<(), DecodeError> {
        take(&self.steps, steps)
    }

    /// Takes the memory of a message.
    pub(crate) fn take_message(&self, message: &FeedMessage) -> Result<(), DecodeError> {
        self.take(message_bytes(message))
    }
}

fn take(left: &Cell<usize>, amount: usize) -> Result<(), DecodeError> {
    if let Some(rest) = left.get().checked_sub(amount) {
        left.set(rest);
        Ok(())
    } else {
        left.set(0);
        Err(DecodeError::TooLarge)
    }
}

fn message_bytes(message: &FeedMessage) -> usize {
    let texts = message.identifiers.iter().chain(&message.key).chain(&message.text).map(String::len);
    size_of::<FeedMessage>() + texts.sum::<usize>() + message.reports.iter().map(report_bytes).sum::<usize>()
}

fn report_bytes(report: &Report) -> usize {
    let text = |(name, value): &(Name, Value)| {
        let name = if let Name::Sent(name) = name { name.len() } else { 0 };
        let value = if let Value::Text(text) = value { text.len() } else { 0 };
        size_of::<(Name, Value)>() + name + value
    };
    let alarm_text = report.alarm_text.as_ref().map_or(0, String::len);
    let values = report.values.iter().map(text).sum::<usize>();
    size_of::<Report>() + values + alarm_text + 64 * report.wifi.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_after_a_refusal() {
        let budget = DecodeBudget::for_body(0);
        assert_eq!(budget.take(LEAST - 1), Ok(()));
        assert_eq!(budget.used(), LEAST - 1);
        assert_eq!(budget.take(2), Err(DecodeError::TooLarge));
        assert_eq!(budget.take(1), Err(DecodeError::TooLarge));
        let values = DecodeBudget::for_body(usize::MAX);
        assert_eq!(values.take_values(DecodeBudget::VALUES_MAX + 1, 0), Err(DecodeError::TooLarge));
        assert_eq!(values.take(MOST + 1), Err(DecodeError::TooLarge));
    }
}
