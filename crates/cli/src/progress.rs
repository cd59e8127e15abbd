//! A progress bar on standard error, hidden when that is not a terminal.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const BAR: &str = "{wide_bar} {percent}% {eta} left";
const BYTES: &str = "{wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";

/// A bar that counts in this unit; hidden unless standard error is a terminal.
pub(crate) fn bar(unit: &str) -> ProgressBar {
    let target =
        if io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let template = if unit == "bytes" { BYTES } else { BAR };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(Some(0), target);
    bar.set_style(style);
    bar
}
