//! `perigee import-devices`: files with devices, created by a running server. Every file is checked as a whole before a
//! device is created.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use perigee_core::time::{Clock, SystemClock};
use reqwest::{Method, header};
use serde::{Deserialize, Serialize};

use crate::api::Api;
use crate::args::{Common, ImportDevices};
use crate::output::{Answer, print};
use crate::transfer::{DevicePart, device_parts};

/// Invalid rows that are listed with their reason.
const MOST_REASONS: usize = 20;

/// Runs `perigee import-devices`; exits with 1 if a row is invalid, and then nothing was created.
pub(crate) async fn run(common: &Common, options: ImportDevices) -> Result<ExitCode> {
    let api = Api::new(&options.remote)?;
    let mut parts = Vec::new();
    for file in &options.files {
        let read = device_parts(file).with_context(|| format!("cannot import {}", file.display()))?;
        parts.extend(read.into_iter().map(|part| (file.as_path(), part)));
    }
    let mut report = Report { dry_run: options.dry_run, ..Report::default() };
    for (file, part) in &parts {
        let checked =
            send(&api, part, true, "").await.with_context(|| format!("cannot check {}", file.display()))?;
        report.add_checked(file, part, &checked);
    }
    let is_short = report.licenses_needed > report.licenses_free;
    if !options.dry_run && report.invalid == 0 {
        if is_short {
            bail!(
                "the devices need {} licences and {} are free; nothing was created",
                report.licenses_needed,
                report.licenses_free
            );
        }
        let run = SystemClock.now().as_millis();
        for (index, (file, part)) in parts.iter().enumerate() {
            let key = format!("import-{run}-{}-{index}", std::process::id());
            let made = send(&api, part, false, &key).await;
            let made = made.with_context(|| {
                format!(
                    "{}: stopped after {} devices; run the command again to continue",
                    file.display(),
                    report.created
                )
            })?;
            report.created += made.created;
        }
    }
    print(&report, common.json)?;
    Ok(if report.invalid == 0 && !is_short { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Sends a part. With a key, sending it again after a failure creates nothing twice.
async fn send(api: &Api, part: &DevicePart, dry_run: bool, key: &str) -> Result<Outcome> {
    let mut url = api.url(&["api", "bulk", "devices"])?;
    if dry_run {
        url.set_query(Some("dryRun=true"));
    }
    let answer = api.call(Method::POST, url, |request| {
        let request = request.header(header::CONTENT_TYPE, part.media_type);
        let request = if key.is_empty() { request } else { request.header("Idempotency-Key", key) };
        request.body(part.body.clone())
    });
    answer.await?.json().await.context("cannot read the server's answer")
}

/// The server's report about a part.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    created: u64,
    new: u64,
    existing: u64,
    invalid: u64,
    licenses_needed: u64,
    licenses_free: u64,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    index: u64,
    line: Option<u64>,
    problems: Vec<String>,
}

/// The result of the import.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    dry_run: bool,
    created: u64,
    new: u64,
    existing: u64,
    invalid: u64,
    licenses_needed: u64,
    licenses_free: u64,
    reasons: Vec<Refusal>,
}

/// Why a row is invalid.
#[derive(Serialize)]
struct Refusal {
    file: String,
    /// The line in the file, counted from 1; for JSON arrays, the number of the device.
    row: u64,
    reason: String,
}

impl Report {
    fn add_checked(&mut self, file: &Path, part: &DevicePart, checked: &Outcome) {
        self.new += checked.new;
        self.existing += checked.existing;
        self.invalid += checked.invalid;
        self.licenses_needed += checked.licenses_needed;
        self.licenses_free = checked.licenses_free;
        let wrong = checked.rows.iter().filter(|row| !row.problems.is_empty());
        let room = MOST_REASONS.saturating_sub(self.reasons.len());
        self.reasons.extend(wrong.take(room).map(|row| Refusal {
            file: file.display().to_string(),
            row: part.before + row.line.unwrap_or(row.index + 1),
            reason: row.problems.join(" "),
        }));
    }
}

impl Answer for Report {
    fn in_words(&self) -> String {
        let mut text = format!(
            "created   {}\nnew       {}\nexisting  {}\ninvalid   {}\nlicences  {} needed, {} free",
            self.created, self.new, self.existing, self.invalid, self.licenses_needed, self.licenses_free
        );
        for Refusal { file, row, reason } in &self.reasons {
            let _ = write!(text, "\n{file}, row {row}: {reason}");
        }
        let more = self.invalid.saturating_sub(self.reasons.len() as u64);
        if more > 0 {
            let _ = write!(text, "\nand {more} more");
        }
        if self.dry_run {
            text.push_str("\nnothing was created, because this is a dry run");
        } else if self.invalid > 0 {
            text.push_str("\nnothing was created, because of the invalid rows");
        }
        text
    }
}
