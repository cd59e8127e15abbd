//! A deliberate defect for the fault harness, which must catch it: messages are counted after they were sent. It is off
//! unless switched on at run time, also in builds that include it.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the program before it opens a store, never by a test: tests of one process share it.
static ON: AtomicBool = AtomicBool::new(false);

/// Makes this process count messages after they were sent: limits can be exceeded.
pub fn count_after_sending() {
    ON.store(true, Ordering::Relaxed);
}

pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}
