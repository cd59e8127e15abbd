//! The machine a run was made on, and what a process used of it.

use std::fs;

use anyhow::{Context, Result};

/// Clock ticks a second in `/proc`, which is the same on every Linux.
const TICKS: f64 = 100.0;

/// The machine in one line.
pub(crate) fn describe() -> String {
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| field(&text, "model name"));
    let memory = fs::read_to_string("/proc/meminfo").ok().and_then(|text| field(&text, "MemTotal"));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "{cores} cores of {}, {} of memory, Linux {}",
        processor.unwrap_or_else(|| "an unnamed processor".to_owned()),
        memory.unwrap_or_else(|| "an unknown amount".to_owned()),
        kernel.trim()
    )
}

/// How busy the machine is with other work: runnable tasks over the last minute.
pub(crate) fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

/// What a process has used so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Seconds of processor time.
    pub(crate) cpu_s: f64,
    /// Bytes it sent to disk.
    pub(crate) written: f64,
    /// Bytes of memory it holds now.
    pub(crate) resident: f64,
}

/// What this process has used so far.
pub(crate) fn usage(process: u32) -> Result<Usage> {
    let read = |name: &str| {
        let path = format!("/proc/{process}/{name}");
        fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
    };
    let stat = read("stat")?;
    // The name of the program, in brackets, may hold blanks.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    let line = |text: &str, name: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        found.split_whitespace().next().and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0)
    };
    Ok(Usage {
        cpu_s: (ticks(11) + ticks(12)) / TICKS,
        written: line(&read("io")?, "write_bytes:"),
        resident: line(&read("status")?, "VmRSS:") * 1024.0,
    })
}
