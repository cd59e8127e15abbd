//! Describes the machine, and measures what a process uses.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};

/// Clock ticks a second in `/proc`, which is the same on every Linux.
const TICKS: f64 = 100.0;
const NANOS: f64 = 1e9;

/// The machine in one line.
pub fn describe() -> String {
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

/// The load average of the last minute.
pub fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

/// The type of the file system a folder is on.
pub fn file_system(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let above = fields.filter(|fields| fields.len() > 2 && folder.starts_with(fields[1]));
    above.max_by_key(|fields| fields[1].len()).map_or("unknown".to_owned(), |fields| fields[2].to_owned())
}

/// Milliseconds to sync 4 KiB that were appended: the median and the 99th percentile of 100 measurements.
pub fn sync_latency_ms(folder: &Path) -> Result<(f64, f64)> {
    let path = folder.join("sync-latency");
    let mut file = File::create(&path)?;
    let mut times = Vec::new();
    for _ in 0..100 {
        file.write_all(&[7; 4096])?;
        let began = Instant::now();
        file.sync_data()?;
        times.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    fs::remove_file(path)?;
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], times[times.len() - 2]))
}

/// Resources that a process has used so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Seconds of processor time.
    pub cpu_s: f64,
    /// Bytes written to disk.
    pub written: f64,
    /// Resident memory in bytes.
    pub resident: f64,
    /// Peak resident memory in bytes.
    pub peak: f64,
}

/// CPU time and memory that this process has used so far.
pub fn usage(process: u32) -> Result<Usage> {
    let read = |name: &str| {
        let path = format!("/proc/{process}/{name}");
        fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
    };
    let line = |text: &str, name: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        found.split_whitespace().next().and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0)
    };
    let status = read("status")?;
    Ok(Usage {
        cpu_s: cpu_s(process, &read("stat")?),
        written: line(&read("io")?, "write_bytes:"),
        resident: line(&status, "VmRSS:") * 1024.0,
        peak: line(&status, "VmHWM:") * 1024.0,
    })
}

/// Seconds of CPU time: those of the scheduler, which are exact, or those of the tick counter if they are more, because
/// the scheduler's omit threads that have ended.
fn cpu_s(process: u32, stat: &str) -> f64 {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let nanos =
        |path: std::path::PathBuf| fs::read_to_string(path).ok()?.split(' ').next()?.parse::<f64>().ok();
    let exact: f64 = threads.filter_map(|thread| nanos(thread.path().join("schedstat"))).sum::<f64>() / NANOS;
    // The name of the program, in brackets, may hold blanks.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    let coarse = (ticks(11) + ticks(12)) / TICKS;
    if coarse - exact > 0.05 { coarse } else { exact }
}
