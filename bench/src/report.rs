//! The tables and plots of a run, one table for each topic.

mod plot;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;

pub(crate) use self::plot::Bar;
use self::plot::{Series, bars, lines};

/// The subject of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Singles,
    Batches,
    Size,
    Read,
    Last,
    Start,
    Nodes,
    Memory,
    Streams,
    Webhooks,
    Rules,
    Trackers,
    Trips,
    Devices,
    Peers,
}

/// The table that has a file of its own.
const TRIPS: (Topic, &str) = (Topic::Trips, "Trips");

const TOPICS: [(Topic, &str); 14] = [
    (Topic::Singles, "1. Locations sent one by one"),
    (Topic::Batches, "2. Locations sent in batches"),
    (Topic::Size, "3. Size, and growth"),
    (Topic::Read, "4. A device-day read"),
    (Topic::Last, "5. Last locations"),
    (Topic::Start, "6. Start and memory"),
    (Topic::Nodes, "7. Two nodes on one PostgreSQL"),
    (Topic::Memory, "8. Memory of export and import"),
    (Topic::Streams, "9. Streams of events"),
    (Topic::Webhooks, "10. Webhooks"),
    (Topic::Rules, "11. Rules and geofences"),
    (Topic::Trackers, "12. Trackers"),
    (Topic::Devices, "13. Devices"),
    (Topic::Peers, "What a user would do instead: a row per location"),
];

#[derive(Debug)]
struct Row {
    topic: Topic,
    engine: &'static str,
    what: String,
    figure: String,
    target: String,
    met: Option<bool>,
}

/// The figures of a run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    header: String,
    rows: Vec<Row>,
    notes: Vec<(Topic, String)>,
    singles: Vec<Bar>,
    batches: Vec<Bar>,
    speed: Vec<Series>,
    memory: Vec<Series>,
}

impl Report {
    /// A report with this text above its tables.
    pub(crate) fn new(header: String) -> Self {
        Self { header, ..Self::default() }
    }

    /// Adds a figure without a target.
    pub(crate) fn add(&mut self, topic: Topic, engine: &'static str, what: &str, figure: String) {
        self.row(Row { topic, engine, what: what.to_owned(), figure, target: String::new(), met: None });
    }

    /// Adds a figure with its target, and whether the target is met.
    pub(crate) fn add_with_target(
        &mut self,
        topic: Topic,
        engine: &'static str,
        what: &str,
        figure: String,
        (target, met): (&str, bool),
    ) {
        let target = target.to_owned();
        self.row(Row { topic, engine, what: what.to_owned(), figure, target, met: Some(met) });
    }

    fn row(&mut self, row: Row) {
        eprintln!("  {}: {}: {} {}", row.engine, row.what, row.figure, verdict(row.met));
        self.rows.push(row);
    }

    /// Adds a sentence below a table, unless it is there already.
    pub(crate) fn note(&mut self, topic: Topic, text: impl Into<String>) {
        let note = (topic, text.into());
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Adds a bar to the plot of singles.
    pub(crate) fn single_bar(&mut self, bar: Bar) {
        self.singles.push(bar);
    }

    /// Adds a bar to the plot of batches.
    pub(crate) fn batch_bar(&mut self, bar: Bar) {
        self.batches.push(bar);
    }

    /// Adds speed and memory while a store grew: points, points a second, bytes.
    pub(crate) fn growth(&mut self, engine: &str, samples: &[(f64, f64, f64)]) {
        let of = |value: fn(&(f64, f64, f64)) -> f64| {
            let dots = samples.iter().map(|sample| (sample.0 / 1e6, value(sample))).collect();
            Series { name: engine.to_owned(), dots }
        };
        self.speed.push(of(|sample| sample.1 / 1e3));
        self.memory.push(of(|sample| sample.2 / 1e6));
    }

    /// Writes the tables and plots of the figures so far, and returns the tables. Figures about trips have a file of their
    /// own; a run of this part alone leaves the file of the others as it is.
    pub(crate) fn write(&self, folder: &Path) -> Result<String> {
        fs::create_dir_all(folder)?;
        let trips = self.table(TRIPS)?;
        let mut written = String::new();
        if !trips.is_empty() {
            written = format!("{}{trips}", self.header);
            fs::write(folder.join("trips.md"), &written)?;
        }
        if self.rows.iter().any(|row| row.topic != Topic::Trips) {
            written.push_str(&self.write_results(folder)?);
        }
        Ok(written)
    }

    /// A table with its heading and notes; empty without figures.
    fn table(&self, (topic, title): (Topic, &str)) -> Result<String> {
        let mut text = String::new();
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.topic == topic).collect();
        if rows.is_empty() {
            return Ok(text);
        }
        writeln!(text, "\n## {title}\n\n| engine | what | figure | target | met |\n|---|---|--:|---|---|")?;
        for Row { engine, what, figure, target, met, .. } in rows {
            writeln!(text, "| {engine} | {what} | {figure} | {target} | {} |", verdict(*met))?;
        }
        for (_, note) in self.notes.iter().filter(|(about, _)| *about == topic) {
            writeln!(text, "\n{note}")?;
        }
        Ok(text)
    }

    fn write_results(&self, folder: &Path) -> Result<String> {
        let mut text = self.header.clone();
        for topic in TOPICS {
            text.push_str(&self.table(topic)?);
        }
        text.push_str("\n## Plots\n");
        for (name, title, drawn) in [
            ("singles", "Single locations a second", plotted(&self.singles, bars)),
            ("batches", "Locations a second in batches", plotted(&self.batches, bars)),
            (
                "growth",
                "Thousands of points a second, by millions of points stored",
                plotted(&self.speed, lines),
            ),
            ("memory", "Megabytes of memory, by millions of points stored", plotted(&self.memory, lines)),
        ] {
            if let Some(draw) = drawn {
                fs::write(folder.join(format!("{name}.svg")), draw(title))?;
                writeln!(text, "\n![{title}]({name}.svg)")?;
            }
        }
        fs::write(folder.join("results.md"), &text)?;
        Ok(text)
    }
}

type Draw<'a> = Box<dyn Fn(&str) -> String + 'a>;

fn plotted<T>(values: &[T], draw: fn(&str, &[T]) -> String) -> Option<Draw<'_>> {
    (!values.is_empty()).then(|| -> Draw<'_> { Box::new(move |title| draw(title, values)) })
}

fn verdict(met: Option<bool>) -> &'static str {
    match met {
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "",
    }
}
