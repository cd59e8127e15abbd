//! `perigee import`: files of locations, sent to a running server.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use futures_util::StreamExt;
use serde::Serialize;
use tokio::sync::mpsc;

use crate::api::{Api, Outcome, Submission};
use crate::args::{Common, FileFormat, Import};
use crate::output::{Answer, print};
use crate::progress;
use crate::transfer::{Batch, Checkpoint, counts_lines, format_of, read_batches};

/// Batches sent at the same time.
const CONCURRENT_BATCHES: usize = 3;
/// Rejected items that are listed with their reason.
const MOST_REASONS: usize = 10;

/// Runs `perigee import`; exits with 1 if something was rejected.
pub(crate) async fn run(common: &Common, options: Import) -> Result<ExitCode> {
    let api = Api::new(&options.remote)?;
    let mut report = Report::default();
    for file in &options.files {
        let format = options.format.or_else(|| format_of(file)).ok_or_else(|| {
            anyhow!(
                "the file extension of {} is not a known format; give the format with --format",
                file.display()
            )
        })?;
        let source = Source { api: &api, options: &options, file, format };
        let imported = source.import(&mut report).await;
        imported.with_context(|| format!("{}; run the command again to continue", report.so_far()))?;
    }
    print(&report, common.json)?;
    Ok(if report.refused == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A file and the server that it is imported into.
struct Source<'a> {
    api: &'a Api,
    options: &'a Import,
    file: &'a Path,
    format: FileFormat,
}

impl Source<'_> {
    async fn import(&self, report: &mut Report) -> Result<()> {
        let Self { api, options, file, format } = *self;
        let server = api.base().as_str();
        let mut checkpoint = Checkpoint::open(file, server, &options.device, format.name(), options.fresh)?;
        report.skipped += checkpoint.acknowledged();
        let bar = progress::bar("bytes");
        bar.set_length(std::fs::metadata(file).map_or(0, |found| found.len()));
        let (sender, receiver) = mpsc::channel(CONCURRENT_BATCHES);
        let reading = {
            let (file, skip, most) = (file.to_owned(), checkpoint.acknowledged(), u64::from(options.batch));
            tokio::task::spawn_blocking(move || read_batches(&file, format, skip, most, &sender))
        };
        let batches = futures_util::stream::unfold(receiver, |mut receiver| async {
            receiver.recv().await.map(|batch| (batch, receiver))
        });
        // In order, so that the checkpoint has no gaps.
        let mut answers = Box::pin(batches.map(|batch| self.send(batch)).buffered(CONCURRENT_BATCHES));
        while let Some(answer) = answers.next().await {
            let (batch, outcome) = answer?;
            bar.set_position(batch.position);
            checkpoint.advance(batch.items());
            report.add(&batch, &outcome, file, format);
        }
        drop(answers);
        reading.await.context("the file could not be read to its end")??;
        bar.finish_and_clear();
        checkpoint.finish();
        Ok(())
    }

    async fn send(&self, mut batch: Batch) -> Result<(Batch, Outcome)> {
        let lines = std::mem::take(&mut batch.lines);
        if lines.is_empty() {
            return Ok((batch, Outcome::default()));
        }
        let submission = Submission::new(lines, batch.numbers.len())?;
        let outcome = self.api.submit(&self.options.device, &submission).await?;
        Ok((batch, outcome))
    }
}

/// The result of the import.
#[derive(Default, Serialize)]
struct Report {
    accepted: u64,
    duplicates: u64,
    refused: u64,
    /// Items that an earlier run sent.
    skipped: u64,
    reasons: Vec<Refusal>,
}

/// Why an item was rejected.
#[derive(Serialize)]
struct Refusal {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<u64>,
    reason: String,
}

impl Report {
    fn add(&mut self, batch: &Batch, outcome: &Outcome, file: &Path, format: FileFormat) {
        self.accepted += outcome.accepted;
        self.duplicates += outcome.duplicates;
        let by_server = outcome.rejected.iter().filter_map(|rejected| {
            batch.numbers.get(rejected.index).map(|number| (*number, rejected.error.clone()))
        });
        let mut refused: Vec<(u64, String)> = batch.refused.iter().cloned().chain(by_server).collect();
        self.refused += refused.len() as u64;
        refused.sort();
        let room = MOST_REASONS.saturating_sub(self.reasons.len());
        self.reasons.extend(refused.into_iter().take(room).map(|(number, reason)| Refusal {
            file: file.display().to_string(),
            line: counts_lines(format).then_some(number),
            item: (!counts_lines(format)).then_some(number),
            reason,
        }));
    }

    fn so_far(&self) -> String {
        format!("the import stopped after {} locations", self.accepted + self.duplicates + self.skipped)
    }
}

impl Answer for Report {
    fn in_words(&self) -> String {
        let mut text = format!(
            "accepted    {}\nduplicates  {}\nrejected    {}",
            self.accepted, self.duplicates, self.refused
        );
        if self.skipped > 0 {
            let _ = write!(text, "\nsent by an earlier run: {}", self.skipped);
        }
        for reason in &self.reasons {
            let position = match (reason.line, reason.item) {
                (Some(line), _) => format!("line {line}"),
                (None, item) => format!("item {}", item.unwrap_or_default()),
            };
            let _ = write!(text, "\n{}, {position}: {}", reason.file, reason.reason);
        }
        let more = self.refused.saturating_sub(self.reasons.len() as u64);
        if more > 0 {
            let _ = write!(text, "\nand {more} more");
        }
        text
    }
}
