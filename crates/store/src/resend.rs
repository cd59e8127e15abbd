//! A deliberate defect for the fault harness, which must catch it: a message whose worker ended without a result is queued
//! again. It is off unless switched on at run time, also in builds that include it.

use std::sync::atomic::{AtomicBool, Ordering};

static ON: AtomicBool = AtomicBool::new(false);

/// Makes this process hand over messages again that the provider may have, so that a crash can send some twice.
pub fn resend_interrupted() {
    ON.store(true, Ordering::Relaxed);
}

pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}
