//! The budget of one rendering: bytes read and written, a deadline, and the size of the output.
//!
//! The engine's fuel counts instructions, but one instruction may read a text of many kilobytes. Every operand whose
//! size matters passes through [`Meter`] (see `instrument`), so the cost of a template is bounded by bytes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value};

/// The limit of work for one rendering.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes that operators, filters, tests, loops and output may read or write, whatever the data.
    pub bytes: u64,
    /// How often all the data may be read, in addition to `bytes`.
    pub readings: u64,
    /// Time from the start of the rendering, by the monotonic clock.
    pub time: Duration,
}

impl Limits {
    /// Many times the need of the longest built-in template, and less than 10 ms of the slowest filter for a usual
    /// alert. The time limit is for an overloaded machine; normally the bytes run out long before.
    pub const DEFAULT: Self = Self { bytes: 1 << 20, readings: 6, time: Duration::from_secs(1) };
}

/// Charged for every operand, so that calls on empty values are not free.
const PER_OPERAND: u64 = 16;

/// Counts the cost of one rendering and stops it when the budget is used up.
pub(super) struct Meter {
    /// Bytes that may be read and written.
    bytes: u64,
    time: Duration,
    started: Instant,
    used: AtomicU64,
    output_max: usize,
    output: AtomicU64,
}

impl Meter {
    /// A meter for one rendering of this data.
    pub(super) fn new(limits: Limits, facts: &Value, output_max: usize) -> Self {
        let (used, output) = (AtomicU64::new(0), AtomicU64::new(0));
        let facts = deep_size(facts, u64::MAX);
        let bytes = limits.bytes.saturating_add(facts.saturating_mul(limits.readings));
        Self { bytes, time: limits.time, started: Instant::now(), used, output_max, output }
    }

    /// Charges for a value that is read as a whole, with everything in it.
    pub(super) fn charge(&self, value: &Value) -> Result<(), Error> {
        self.spend(deep_size(value, self.bytes))
    }

    /// Charges for a value of which only the outermost level is read: a text, or the number of items.
    pub(super) fn charge_level(&self, value: &Value) -> Result<(), Error> {
        let size = value.as_str().map_or_else(|| value.len().unwrap_or(0), str::len);
        self.spend(bytes(size))
    }

    /// Charges for a value that is written to the output.
    pub(super) fn charge_output(&self, value: &Value) -> Result<(), Error> {
        let size = deep_size(value, self.bytes);
        self.spend(size)?;
        // Numbers may be written shorter than they are counted; texts and collections never are.
        let written = if value.is_number() { 1 } else { size };
        if self.output.fetch_add(written, Ordering::Relaxed) + written > bytes(self.output_max) {
            return Err(Error::new(ErrorKind::InvalidOperation, self.too_long()));
        }
        Ok(())
    }

    /// The message for a text that is too long.
    pub(super) fn too_long(&self) -> String {
        format!("the rendered text is longer than {} bytes", self.output_max)
    }

    fn spend(&self, size: u64) -> Result<(), Error> {
        let cost = size.saturating_add(PER_OPERAND);
        let used = self.used.fetch_add(cost, Ordering::Relaxed).saturating_add(cost);
        if used > self.bytes {
            let problem = format!(
                "rendering reads and writes more than {} bytes; use fewer loops, filters and comparisons of long texts",
                self.bytes
            );
            return Err(Error::new(ErrorKind::InvalidOperation, problem));
        }
        if self.started.elapsed() >= self.time {
            let problem = format!("rendering takes longer than {} ms", self.time.as_millis());
            return Err(Error::new(ErrorKind::InvalidOperation, problem));
        }
        Ok(())
    }
}

/// The bytes of a value with everything in it; counting stops once it is more than `most`.
fn deep_size(value: &Value, most: u64) -> u64 {
    if let Some(text) = value.as_str() {
        return bytes(text.len());
    }
    let is_map = value.kind() == ValueKind::Map;
    if !is_map && !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return 1;
    }
    let mut size = 2;
    for item in value.try_iter().into_iter().flatten() {
        let member = if is_map { value.get_item(&item).ok() } else { None };
        size += 2 + deep_size(&item, most) + member.map_or(0, |member| deep_size(&member, most));
        if size > most {
            break;
        }
    }
    size
}

fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
