//! `perigee decode` without the rest of Perigee: quick to build while a protocol is written.

use std::io::{BufRead as _, Write as _};

use perigee_core::time::{Clock as _, SystemClock};
use perigee_gateways::{LineDecoder, LineDefaults};

fn main() -> std::io::Result<()> {
    let mut lines = LineDecoder::new(LineDefaults::default());
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        if let Some(answer) = lines.decode(&line?, SystemClock.now()) {
            writeln!(out, "{answer}")?;
        }
    }
    Ok(())
}
