//! Makes the scheduled reports that are due. Sending them is left to the outbox.

use std::io::Read as _;
use std::time::Duration;

use perigee_core::access::actor::Scope;
use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::error::StoreError;
use perigee_core::locations::place::Reader;
use perigee_core::reports::{
    AttachmentFormat, Made, MadeFile, ReportNotice, ReportSchedule, ReportTask, RunOutcome,
};
use perigee_reports::{Format, WriteError};

use crate::app::App;
use crate::budget::Payer;
use crate::reports::{ReadReport, Report, ReportError, ReportParts};

/// Milliseconds for which a report is claimed by one node. Longer than [`MADE_WITHIN`], so that no other node begins it
/// while it is being made. If two nodes make the same one its mails are written once.
const CLAIM_MS: i64 = 15 * 60 * 1000;
/// The longest time in which a report is made.
const MADE_WITHIN: Duration = Duration::from_mins(10);
/// Pause when no report is due; a report is at most this late.
const IDLE: Duration = Duration::from_mins(1);
/// Characters of a report's name in the name of its file.
const FILE_NAME_CHARS: usize = 60;

/// Makes one due report, and returns the pause until the next.
pub async fn make_scheduled_report(app: &App, read: ReadReport) -> Duration {
    match make_one(app, read).await {
        Ok(true) => Duration::ZERO,
        Ok(false) => IDLE,
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not make a scheduled report");
            IDLE
        }
    }
}

async fn make_one(app: &App, read: ReadReport) -> Result<bool, StoreError> {
    let Some(task) = app.store.claim_report(CLAIM_MS).await? else { return Ok(false) };
    let (account, report, date, attempt) = (task.account.id, task.report, task.occurrence.date, task.attempt);
    let outcome = match tokio::time::timeout(MADE_WITHIN, make(app, read, &task)).await {
        Ok(Ok(made)) => RunOutcome::Made(made),
        Ok(Err(failure)) => failure,
        Err(_elapsed) => {
            let minutes = MADE_WITHIN.as_secs() / 60;
            RunOutcome::Failed { reason: format!("the report was not made within {minutes} minutes") }
        }
    };
    if let RunOutcome::Failed { reason } | RunOutcome::Refused { reason } = &outcome {
        tracing::info!(%account, %report, %date, attempt, reason, "a scheduled report was not made");
    }
    let filed = app.store.finish_report(task, outcome).await?;
    tracing::info!(%account, %report, %date, attempt, filed, "a scheduled report was run");
    Ok(true)
}

/// Makes the report as its owner may see it now, for the instant at which it was due.
async fn make(app: &App, read: ReadReport, task: &ReportTask) -> Result<Made, RunOutcome> {
    let refused = |reason: String| RunOutcome::Refused { reason };
    let schedule = task.settings.schedule.as_ref();
    let ReportSchedule { time_zone, format, .. } =
        schedule.ok_or_else(|| refused("there is no schedule".into()))?;
    let at = task.occurrence.at;
    let mut wanted = read(&task.settings.report, time_zone, at).map_err(refused)?;
    wanted.title.get_or_insert_with(|| task.settings.name.clone());
    let login = app.store.find_login_by_id(task.owner.id).await.map_err(failed)?;
    let chosen = login.map(|login| login.preferences).unwrap_or_default();
    let country = || ConsoleLanguage::of_country(task.owner.profile.country);
    let reader = Reader {
        language: wanted.language.or(chosen.language).unwrap_or_else(country),
        units: wanted.units.unwrap_or(chosen.units),
    };
    let scope = Scope::for_background_job(task.account.id).limited_to(task.owner.profile.reach());
    let (plan, heading) =
        wanted.planned(scope, reader, &task.account, at, app.config.notifications.message_prices());
    let (from, to, zone) = (plan.from(), plan.to(), plan.zone.clone());
    let payer = Payer::account(task.account.id);
    let parts = ReportParts { store: app.store.clone(), budget: app.budget.clone(), payer };
    let format = file_format(*format);
    let report = Report::open(parts, plan, format, heading).map_err(report_failed)?;
    let _turn = app.budget.reports.acquire_next(payer, 0).await.map_err(failed)?;
    let (mut file, size, rows) = report.into_file().await.map_err(report_failed)?;
    let bytes = if size <= ReportNotice::ATTACHED_BYTES_MAX {
        let read_file = move || {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map(|_length| bytes)
        };
        Some(tokio::task::spawn_blocking(read_file).await.map_err(failed)?.map_err(failed)?)
    } else {
        None
    };
    let file = MadeFile { name: file_name(task, format), media_type: format.media_type().to_owned() };
    let notice = ReportNotice {
        report: task.report,
        date: task.occurrence.date,
        name: task.settings.name.clone(),
        from,
        to,
        time_zone: zone,
        rows,
        size,
        file,
        attached: false,
    };
    Ok(Made { notice, bytes })
}

const fn file_format(format: AttachmentFormat) -> Format {
    match format {
        AttachmentFormat::Xlsx => Format::Xlsx,
        AttachmentFormat::Pdf => Format::Pdf,
        AttachmentFormat::Csv => Format::Csv,
    }
}

/// The name of the report and its date, without characters that file systems refuse.
fn file_name(task: &ReportTask, format: Format) -> String {
    let allowed =
        |letter: char| if letter.is_alphanumeric() || " -_().".contains(letter) { letter } else { '_' };
    let name: String = task.settings.name.chars().map(allowed).take(FILE_NAME_CHARS).collect();
    format!("{} {}.{}", name.trim(), task.occurrence.date, format.name())
}

fn failed(error: impl std::fmt::Display) -> RunOutcome {
    RunOutcome::Failed { reason: error.to_string() }
}

/// A report that the format cannot hold is not tried again.
fn report_failed(error: ReportError) -> RunOutcome {
    match error {
        ReportError::Write(WriteError::TooManyRows(most)) => RunOutcome::Refused {
            reason: format!(
                "the report has more than {most} rows, which this format does not hold; choose a shorter period, fewer devices, or the format csv"
            ),
        },
        other => failed(other),
    }
}
