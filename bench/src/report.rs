//! The tables and plots of a run.

mod plot;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;

use self::plot::{Bar, bars};
use crate::Options;
use crate::ingest::{Floor, Pair};
use crate::load::number;
use crate::machine;
use crate::peer::Peer;
use crate::read::Reads;

/// A run as it is written down.
pub(crate) struct Report {
    text: String,
    singles: Vec<Bar>,
    batches: Vec<Bar>,
}

impl Report {
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let mut text =
            String::from("# Benchmark\n\nMade by `scripts/bench`; ratios are of numbers of this run.\n\n");
        writeln!(text, "- Machine: {}", machine::describe())?;
        writeln!(
            text,
            "- Load average before the run: {} (other work makes every figure worse)",
            machine::load_average()
        )?;
        writeln!(
            text,
            "- Each load ran {} s, on {} devices; the load generator shares the cores.",
            options.seconds, options.devices
        )?;
        Ok(Self { text, singles: Vec::new(), batches: Vec::new() })
    }

    pub(crate) fn ingest(&mut self, engine: &str, pairs: Vec<Pair>) {
        self.line(&format!("\n## {engine}: locations sent\n"));
        self.line("\"Floor\" is the same server with a handler that only authenticates, parses and answers. \"Of the parser\" compares with `serde_json` alone on one core.\n");
        self.line("| at once | connections | floor, points/s | durable, points/s | of the floor | of the parser | p50 ms | p99 ms | longest ms | server CPU us a point | written to disk, of the payload | memory after |");
        self.line("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
        for pair in pairs {
            let points = number(pair.points as u64);
            let (floor, durable) = (pair.floor.rate() * points, pair.durable.rate() * points);
            let millis = |per_mille| pair.durable.latencies.per_mille(per_mille).as_secs_f64() * 1000.0;
            let sent = number(pair.durable.sent).max(1.0);
            let stored = number(pair.durable.requests) * points;
            self.line(&format!(
                "| {} | {} | {floor:.0} | {durable:.0} | {:.0} % | {:.2} | {:.2} | {:.2} | {:.1} | {:.2} | {:.2} | {:.0} MB |",
                pair.points,
                pair.durable.connections,
                durable / floor * 100.0,
                durable / pair.parser,
                millis(500),
                millis(990),
                pair.durable.latencies.most().as_secs_f64() * 1000.0,
                pair.durable.cpu_s * 1e6 / stored.max(1.0),
                pair.durable.written / sent,
                pair.durable.resident / 1e6,
            ));
            let label =
                |what: &str| format!("{engine}, {} x {}, {what}", pair.points, pair.durable.connections);
            let group = if pair.points == 1 { &mut self.singles } else { &mut self.batches };
            group.push(Bar { label: label("floor"), value: floor, is_ours: false });
            group.push(Bar { label: label("durable"), value: durable, is_ours: true });
        }
    }

    pub(crate) fn read(&mut self, engine: &str, reads: &Reads) {
        self.line(&format!("\n## {engine}: locations read, memory, start\n"));
        let share = reads.last.rate() / reads.floor.rate() * 100.0;
        let all_last = reads
            .all_last_ms
            .map_or("not served by this build".to_owned(), |millis| format!("{millis:.2} ms"));
        let store = reads
            .store_bytes
            .map_or("(on its server)".to_owned(), |bytes| format!("{:.1} MB", number(bytes) / 1e6));
        for (what, figure) in [
            ("a device-day (8,640 points) as JSON, server CPU", format!("{:.2} ms", reads.day_cpu_ms)),
            ("the same, `serde_json` serialising alone in memory", format!("{:.2} ms", reads.serialise_ms)),
            (
                "the same, request to last byte",
                format!("{:.2} ms ({:.1} MB)", reads.day_ms, number(reads.day_bytes) / 1e6),
            ),
            (
                "lastLocation at 64 connections",
                format!(
                    "{:.0} a second, p99 {:.2} ms",
                    reads.last.rate(),
                    reads.last.latencies.per_mille(990).as_secs_f64() * 1000.0
                ),
            ),
            (
                "of the floor, which only authenticates and answers",
                format!("{share:.0} % of {:.0} a second", reads.floor.rate()),
            ),
            ("every last location in one call", format!("{all_last} ({} devices)", reads.devices)),
            (
                "ready after a restart on the store of this run",
                format!("{:.0} ms", reads.ready_after.as_secs_f64() * 1000.0),
            ),
            ("memory right after that", format!("{:.0} MB", reads.resident_at_start / 1e6)),
            ("the store's files", store),
        ] {
            self.line(&format!("- {what}: {figure}"));
        }
    }

    pub(crate) fn peers(&mut self, floor: &Floor, peers: &[Peer]) {
        self.line("\n## What a user would do instead: a row per location\n");
        self.line("Written by one connection from memory, without HTTP, JSON, authentication or feed, which favours it. Commits are synced. A row holds eleven integers.\n");
        self.line("| plain table in | singles/s | points/s in batches of 1,000 | bytes a point | device-day into memory, ms |");
        self.line("|---|--:|--:|--:|--:|");
        for peer in peers {
            self.line(&format!(
                "| {} | {:.0} | {:.0} | {:.1} | {:.2} |",
                peer.name, peer.singles, peer.batches, peer.bytes_a_point, peer.day_ms
            ));
            self.singles.push(Bar {
                label: format!("plain {}", peer.name),
                value: peer.singles,
                is_ours: false,
            });
            self.batches.push(Bar {
                label: format!("plain {}", peer.name),
                value: peer.batches,
                is_ours: false,
            });
        }
        self.line(&format!(
            "\n`serde_json` alone on one core: {:.0} points/s into a struct, {:.0} into its generic value.",
            floor.typed, floor.generic
        ));
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(crate) fn write(mut self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder)?;
        for (name, title, values) in [
            ("singles", "Single locations a second", &self.singles),
            ("batches", "Locations a second in batches", &self.batches),
        ] {
            fs::write(folder.join(format!("{name}.svg")), bars(title, values))?;
            write!(self.text, "\n![{title}]({name}.svg)\n")?;
        }
        fs::write(folder.join("results.md"), &self.text)?;
        println!("{}", self.text);
        Ok(())
    }
}
