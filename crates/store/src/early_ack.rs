//! A deliberate defect for the fault harness, which must catch it: locations are acknowledged before their commit. It
//! is off unless switched on at run time, also in builds that include it.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the program before it opens a store, never by a test, because tests of one process share it.
static ON: AtomicBool = AtomicBool::new(false);

/// Makes this process answer locations before they are committed, so that acknowledged locations can be lost.
pub fn acknowledge_before_commit() {
    ON.store(true, Ordering::Relaxed);
}

pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}
