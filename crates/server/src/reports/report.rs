//! A report that is being made: reads a batch, writes its rows, and hands over what is finished.

use std::fs::File;
use std::io::{BufWriter, Seek, Write as _};
use std::sync::Arc;

use perigee_core::error::StoreError;
use perigee_core::store::Store;
use perigee_reports::{Format, Heading, RowsOf, WriteError, Writer};

use super::batch::Batch;
use super::plan::Plan;
use super::source::Source;
use super::visits::VisitRows;
use crate::budget::{Budget, Exhausted, Payer, RunError};

/// What a report is made with.
#[derive(Clone)]
pub struct ReportParts {
    /// The database.
    pub store: Arc<dyn Store>,
    /// Reads and work are charged to it.
    pub budget: Budget,
    /// Who is charged.
    pub payer: Payer,
}

/// Why a report was not made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The budget is exhausted.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The document could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The work panicked, or the service stopped before it ended.
    #[error(transparent)]
    Lost(#[from] RunError),
}

/// A report that is being made. Dropping it ends the work after the present batch.
pub struct Report {
    parts: ReportParts,
    plan: Arc<Plan>,
    source: Source,
    /// Reads visits, for reports of them.
    visits: Option<VisitRows>,
    writer: Box<dyn Writer>,
    /// Number of rows so far.
    rows: u64,
}

impl Report {
    /// Begins a report.
    pub fn open(
        parts: ReportParts,
        plan: Plan,
        format: Format,
        heading: Heading,
    ) -> Result<Self, ReportError> {
        let plan = Arc::new(plan);
        let source = Source::new(Arc::clone(&parts.store), Arc::clone(&plan));
        Ok(Self { parts, plan, source, visits: None, writer: format.open(heading)?, rows: 0 })
    }

    /// Number of rows so far.
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Reads and writes the next batch; `None` if there was no more. Returns what can be sent already.
    pub async fn step(mut self) -> Result<(Option<Self>, Vec<u8>), ReportError> {
        match self.next_batch().await? {
            Some(batch) => {
                let (report, bytes) = self.write(batch).await?;
                Ok((Some(report), bytes))
            }
            None => Ok((None, self.finish().await?)),
        }
    }

    /// The next batch, which may be empty; `None` at the end.
    async fn next_batch(&mut self) -> Result<Option<Batch>, ReportError> {
        if self.plan.kind.rows_of() == RowsOf::Visits {
            return self.next_visits().await;
        }
        let _slot = self.parts.budget.reads.acquire_next(self.parts.payer, 0).await?;
        Ok(self.source.next().await?)
    }

    /// The next visits. Their reader waits for its turns itself.
    async fn next_visits(&mut self) -> Result<Option<Batch>, ReportError> {
        let visits = match &mut self.visits {
            Some(visits) => visits,
            none => none.insert(VisitRows::open(&self.parts, &self.plan).await?),
        };
        if visits.wants_device() {
            let slot = self.parts.budget.reads.acquire_next(self.parts.payer, 0).await?;
            let device = self.source.next_device().await?;
            drop(slot);
            let Some(device) = device else { return Ok(None) };
            visits.begin(device, &self.plan).await?;
        }
        Ok(Some(visits.next().await?))
    }

    /// Makes rows of a batch and writes them, off the threads of connections.
    async fn write(mut self, batch: Batch) -> Result<(Self, Vec<u8>), ReportError> {
        let slot = self.parts.budget.work.acquire_next(self.parts.payer, 0).await?;
        let work = move || {
            let rows = batch.rows(&self.plan);
            let written = self.writer.add(&rows);
            self.rows += u64::try_from(rows.len()).unwrap_or_default();
            drop(slot);
            written.map(|()| {
                let bytes = self.writer.take();
                (self, bytes)
            })
        };
        Ok(tokio::task::spawn_blocking(work).await.map_err(RunError::from)??)
    }

    async fn finish(self) -> Result<Vec<u8>, ReportError> {
        let work = move || {
            let mut bytes = Vec::new();
            self.writer.finish(&mut bytes).map(|()| bytes)
        };
        Ok(tokio::task::spawn_blocking(work).await.map_err(RunError::from)??)
    }

    /// Makes the whole report as a temporary file without a name. Returns the file at its beginning, its length, and the
    /// number of rows.
    pub async fn into_file(mut self) -> Result<(File, u64, u64), ReportError> {
        let mut out = BufWriter::new(tempfile::tempfile().map_err(WriteError::from)?);
        loop {
            let Some(batch) = self.next_batch().await? else { break };
            let (report, bytes) = self.write(batch).await?;
            self = report;
            if !bytes.is_empty() {
                let append = move || out.write_all(&bytes).map(|()| out).map_err(WriteError::from);
                out = tokio::task::spawn_blocking(append).await.map_err(RunError::from)??;
            }
        }
        let slot = self.parts.budget.work.acquire_next(self.parts.payer, 0).await?;
        let rows = self.rows;
        let work = move || -> Result<(File, u64, u64), WriteError> {
            self.writer.finish(&mut out)?;
            out.flush()?;
            let mut file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            let length = file.stream_position()?;
            file.rewind()?;
            drop(slot);
            Ok((file, length, rows))
        };
        Ok(tokio::task::spawn_blocking(work).await.map_err(RunError::from)??)
    }
}
