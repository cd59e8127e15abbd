//! A deliberate defect for the fault harness, which must catch it: the marks of derived devices are removed in a transaction
//! before that of their segments. It is off unless switched on at run time, also in builds that include it.

use std::sync::atomic::{AtomicBool, Ordering};

static ON: AtomicBool = AtomicBool::new(false);

/// Makes this process mark devices as derived before it stores their segments, so that a crash can lose segments.
pub fn mark_derived_early() {
    ON.store(true, Ordering::Relaxed);
}

pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}
