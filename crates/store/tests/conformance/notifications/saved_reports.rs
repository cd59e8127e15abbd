//! Saved reports and their schedules: made once for each local date, by one node, for the people who are named.

use perigee_core::access::actor::{Actor, Origin, Via};
use perigee_core::access::credential::Identity;
use perigee_core::access::user::User;
use perigee_core::alerts::severity::Severity;
use perigee_core::error::StoreError;
use perigee_core::id::UserId;
use perigee_core::notifications::notification::{Channel, Occasion};
use perigee_core::notifications::routing::{AlertRouting, RoutedUser};
use perigee_core::page::PageRequest;
use perigee_core::reports::{
    AttachmentFormat, Made, MadeFile, Paused, Recurrence, ReportNotice, ReportRun, ReportSchedule,
    ReportTask, RunOutcome, RunState, SavedReport, SavedReportSettings,
};
use perigee_core::revision::Revision;
use perigee_core::store::{Maintenance as _, SavedReports as _, Users as _};
use perigee_store::Database;
use perigee_store::testing::finish_report_unmarked;

use super::outbox::mail;
use crate::assert_fails;
use crate::fixture::{Fixture, Tenant, zone};
use crate::sample::at;

const LEASE_MS: i64 = 60_000;

fn actor(tenant: &Tenant, user: &User) -> Actor {
    let identity = Identity { user: user.clone(), account: tenant.account.clone(), api_key: None };
    let origin = Origin { via: Via::Token, user: Some(user.id), address: None, request: None };
    Actor::of_user(&identity, origin)
}

fn daily(recipients: AlertRouting) -> SavedReportSettings {
    let schedule = ReportSchedule {
        enabled: true,
        recurrence: Recurrence::Daily,
        at: "07:00".parse().unwrap(),
        time_zone: zone("Europe/Madrid"),
        format: AttachmentFormat::Csv,
        recipients,
    };
    SavedReportSettings {
        name: "Vans".to_owned(),
        report: serde_json::json!({ "kind": "trips", "period": "yesterday" }),
        schedule: Some(schedule),
    }
}

fn to_ana() -> SavedReportSettings {
    daily(AlertRouting { recipients: vec![mail("ana@example.com")], ..AlertRouting::default() })
}

fn made(task: &ReportTask, bytes: Vec<u8>) -> RunOutcome {
    let notice = ReportNotice {
        report: task.report,
        date: task.occurrence.date,
        name: task.settings.name.clone(),
        from: task.occurrence.at,
        to: task.occurrence.at,
        time_zone: zone("Europe/Madrid"),
        rows: 3,
        size: u64::try_from(bytes.len()).unwrap(),
        file: MadeFile { name: "vans.csv".to_owned(), media_type: "text/csv".to_owned() },
        attached: false,
    };
    RunOutcome::Made(Made { notice, bytes: Some(bytes) })
}

fn failed() -> RunOutcome {
    RunOutcome::Failed { reason: "the disk\nis full".to_owned() }
}

async fn finish(store: &Database, task: &ReportTask) -> bool {
    store.finish_report(task.clone(), made(task, b"a,b".to_vec())).await.unwrap()
}

impl Fixture {
    async fn save(&self, tenant: &Tenant, settings: SavedReportSettings) -> SavedReport {
        let actor = actor(tenant, &tenant.owner);
        self.store.create_saved_report(&actor, settings, None).await.unwrap().into_inner()
    }

    async fn claim_report(&self) -> Option<ReportTask> {
        self.store.claim_report(LEASE_MS).await.unwrap()
    }

    async fn saved(&self, tenant: &Tenant, saved: &SavedReport) -> SavedReport {
        let found = self.store.find_saved_report(tenant.scope(), tenant.owner.id, saved.id).await;
        found.unwrap().unwrap()
    }

    async fn runs(&self, tenant: &Tenant, saved: &SavedReport) -> Vec<ReportRun> {
        let page = PageRequest::first(1_000);
        let runs = self.store.list_report_runs(tenant.scope(), tenant.owner.id, saved.id, page).await;
        runs.unwrap().items
    }

    /// The addresses of the mails about reports, oldest first.
    async fn report_mails(&self, tenant: &Tenant) -> Vec<String> {
        let all = self.messages(tenant).await.into_iter();
        all.filter(|one| one.name == "report.scheduled").map(|one| one.address).collect()
    }
}

pub(crate) async fn reports_are_saved_by_revision_and_seen_by_their_owner(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let saved = on.save(&tenant, SavedReportSettings { schedule: None, ..to_ana() }).await;
    assert_eq!((saved.revision.0, saved.owner, saved.next_run), (1, Some(tenant.owner.id), None));
    assert_eq!(on.saved(&tenant, &saved).await, saved);
    let stale = on.store.replace_saved_report(&tenant.actor(), saved.id, Revision(9), to_ana()).await;
    assert_fails!(stale, StoreError::RevisionMismatch(_));
    let changed = on.store.replace_saved_report(&tenant.actor(), saved.id, saved.revision, to_ana()).await;
    assert_eq!(changed.unwrap().owner, Some(tenant.owner.id), "who changes it does not own it");
    // A user who sees a group sees their own reports only.
    let group = on.group(&tenant, &[]).await;
    let part = tenant.scope().limited_to(perigee_core::access::actor::Reach::Group(group));
    let (owner, other) = (tenant.owner.id, UserId::from_i64(5));
    assert!(on.store.find_saved_report(part, owner, saved.id).await.unwrap().is_some());
    assert_eq!(on.store.find_saved_report(part, other, saved.id).await.unwrap(), None);
    let page = PageRequest::first(10);
    assert!(on.store.list_saved_reports(part, other, page).await.unwrap().items.is_empty());
    assert_fails!(on.store.list_report_runs(part, other, saved.id, page).await, StoreError::NotFound(_));
    assert_eq!(on.store.list_saved_reports(tenant.scope(), other, page).await.unwrap().items.len(), 1);
    let foreign = on.tenant("other").await;
    let from_outside = on.store.find_saved_report(foreign.scope(), owner, saved.id).await;
    assert_eq!(from_outside.unwrap(), None);
    on.store.delete_saved_report(&tenant.actor(), saved.id, None).await.unwrap();
    let again = on.store.delete_saved_report(&tenant.actor(), saved.id, None).await;
    assert_fails!(again, StoreError::NotFound(_));
    let actions: Vec<String> = on.audits(&tenant).await.into_iter().map(|entry| entry.action).collect();
    for action in ["savedReport.create", "savedReport.update", "savedReport.delete"] {
        assert!(actions.iter().any(|known| known == action), "{action} in {actions:?}");
    }
}

pub(crate) async fn an_account_has_a_limited_number_of_reports(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let settings = SavedReportSettings { schedule: None, ..to_ana() };
    for _ in 0..SavedReport::COUNT_MAX {
        on.save(&tenant, settings.clone()).await;
    }
    let actor = actor(&tenant, &tenant.owner);
    let refused = on.store.create_saved_report(&actor, settings, None).await;
    assert_fails!(refused, StoreError::TooMany { most: SavedReport::COUNT_MAX, .. });
}

pub(crate) async fn people_of_other_accounts_are_not_named(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let user = |user| RoutedUser { user, minimum_severity: Severity::Info, schedule: None };
    let named = |id| daily(AlertRouting { users: vec![user(id)], ..AlertRouting::default() });
    let owner = actor(&tenant, &tenant.owner);
    let refused = on.store.create_saved_report(&owner, named(other.owner.id), None).await;
    assert_fails!(refused, StoreError::UnknownReference { .. });
    // Who sees a part of the account names addresses, and themselves.
    let group = on.group(&tenant, &[]).await;
    let ana = on.user(&tenant, "ana").await;
    let part = actor(&tenant, &ana).limited_to(perigee_core::access::actor::Reach::Group(group));
    let refused = on.store.create_saved_report(&part, named(tenant.owner.id), None).await;
    assert_fails!(refused, StoreError::UnknownReference { .. });
    on.store.create_saved_report(&part, named(ana.id), None).await.unwrap();
}

pub(crate) async fn each_date_is_reported_once(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.clock().set(at("2026-05-04T06:00:00Z"));
    let saved = on.save(&tenant, to_ana()).await;
    assert_eq!(saved.next_run, Some(at("2026-05-05T05:00:00Z")));
    assert!(on.claim_report().await.is_none(), "what has passed when it is switched on is not made");
    on.clock().set(at("2026-05-05T04:59:59Z"));
    assert!(on.claim_report().await.is_none());
    on.clock().set(at("2026-05-05T05:00:00Z"));
    let task = on.claim_report().await.unwrap();
    assert_eq!((task.occurrence.date.to_string(), task.attempt), ("2026-05-05".to_owned(), 1));
    assert_eq!(on.runs(&tenant, &saved).await[0].state, RunState::Running);
    let other = on.other_node().await;
    assert!(other.claim_report(LEASE_MS).await.unwrap().is_none(), "somebody is at it");
    on.clock().advance_seconds(61);
    on.crash().await;
    let again = on.claim_report().await.unwrap();
    assert_eq!(
        (again.occurrence, again.attempt),
        (task.occurrence, 2),
        "who claimed it was not heard of again"
    );
    assert!(finish(&on.store, &again).await);
    assert!(!finish(&on.store, &task).await, "a node that comes back after its lease writes nothing");
    assert!(!finish(&on.store, &again).await, "nor does one that does it twice");
    assert!(on.claim_report().await.is_none());
    assert_eq!(on.report_mails(&tenant).await, ["ana@example.com"]);
    let Occasion::ScheduledReport(notice) = &on.due(Channel::EMAIL).await[0].occasion else { panic!() };
    assert!(notice.attached && notice.name == "Vans" && notice.rows == 3, "{notice:?}");
    let file = on.store.find_report_file(tenant.account.id, saved.id, again.occurrence.date).await;
    assert_eq!(file.unwrap(), Some(b"a,b".to_vec()));
    let stored = on.saved(&tenant, &saved).await;
    assert_eq!((stored.revision.0, stored.next_run), (1, Some(at("2026-05-06T05:00:00Z"))));
    let run = stored.last_run.unwrap();
    assert_eq!((run.state, run.attempts, run.rows, run.bytes), (RunState::Sent, 2, Some(3), Some(3)));
    assert_eq!((run.recipients, run.attached, run.error), (1, true, None));
    // The server was down for a fortnight: one report, of the last date.
    on.clock().set(at("2026-05-20T12:00:00Z"));
    let late = on.claim_report().await.unwrap();
    assert_eq!(late.occurrence.at, at("2026-05-20T05:00:00Z"));
    assert!(finish(&on.store, &late).await);
    assert!(on.claim_report().await.is_none());
    assert_eq!(on.runs(&tenant, &saved).await.len(), 2);
}

pub(crate) async fn nodes_at_once_report_a_date_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.clock().set(at("2026-05-04T06:00:00Z"));
    on.save(&tenant, to_ana()).await;
    let other = on.other_node().await;
    for _ in 0..5 {
        on.clock().advance_seconds(86_400);
        let claims = tokio::join!(on.store.claim_report(LEASE_MS), other.claim_report(LEASE_MS));
        let tasks: Vec<ReportTask> = [claims.0.unwrap(), claims.1.unwrap()].into_iter().flatten().collect();
        assert_eq!(tasks.len(), 1);
        let filed = tokio::join!(finish(&on.store, &tasks[0]), finish(&other, &tasks[0]));
        assert!(filed.0 != filed.1, "{filed:?}");
    }
    assert_eq!(on.report_mails(&tenant).await.len(), 5);
}

/// Makes the reports of some days, each by a node that stops before it says so, and returns how many mails there are.
async fn mails_of_days(on: &Fixture, tenant: &Tenant, marks_afterwards: bool) -> usize {
    on.clock().set(at("2026-05-04T06:00:00Z"));
    on.save(tenant, to_ana()).await;
    for _ in 0..3 {
        on.clock().advance_seconds(86_400);
        let task = on.claim_report().await.unwrap();
        if marks_afterwards {
            finish_report_unmarked(&on.store, task.clone(), made(&task, Vec::new())).await.unwrap();
        } else {
            finish(&on.store, &task).await;
        }
        on.clock().advance_seconds(LEASE_MS / 1_000 + 1);
        if let Some(again) = on.claim_report().await {
            finish(&on.store, &again).await;
        }
    }
    on.report_mails(tenant).await.len()
}

pub(crate) async fn a_stop_between_mails_and_mark_repeats_nothing(on: Fixture) {
    let tenant = on.tenant("acme").await;
    assert_eq!(mails_of_days(&on, &tenant, false).await, 3);
    let other = on.tenant("other").await;
    assert_eq!(mails_of_days(&on, &other, true).await, 6, "the broken variant is noticed");
}

pub(crate) async fn failures_are_repeated_with_growing_pauses(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.clock().set(at("2026-05-04T06:00:00Z"));
    let saved = on.save(&tenant, to_ana()).await;
    on.clock().set(at("2026-05-05T05:00:00Z"));
    let mut pauses = Vec::new();
    for attempt in 1..ReportRun::ATTEMPTS_MAX {
        let task = on.claim_report().await.unwrap();
        assert_eq!(task.attempt, attempt);
        assert!(on.store.finish_report(task, failed()).await.unwrap());
        let run = on.runs(&tenant, &saved).await.remove(0);
        assert_eq!((run.state, run.error.as_deref()), (RunState::Waiting, Some("the disk is full")));
        assert!(on.claim_report().await.is_none());
        let next = on.saved(&tenant, &saved).await.next_run.unwrap();
        pauses.push(next.as_millis() - on.now().as_millis());
        on.clock().set(next);
    }
    assert!(pauses.is_sorted() && pauses[0] < pauses[2], "{pauses:?}");
    let task = on.claim_report().await.unwrap();
    assert!(on.store.finish_report(task, failed()).await.unwrap());
    let stored = on.saved(&tenant, &saved).await;
    assert_eq!(stored.last_run.unwrap().state, RunState::Failed);
    assert_eq!(stored.next_run, Some(at("2026-05-06T05:00:00Z")), "the next date is not affected");
    on.clock().set(at("2026-05-06T05:00:00Z"));
    let task = on.claim_report().await.unwrap();
    let refused = RunOutcome::Refused { reason: "too many rows".to_owned() };
    assert!(on.store.finish_report(task, refused).await.unwrap());
    assert_eq!(on.runs(&tenant, &saved).await[0].state, RunState::Failed, "is not repeated");
    assert!(on.report_mails(&tenant).await.is_empty());
}

pub(crate) async fn a_disabled_owner_pauses_the_schedule(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.clock().set(at("2026-05-04T06:00:00Z"));
    let ana = on.user(&tenant, "ana").await;
    let made = on.store.create_saved_report(&actor(&tenant, &ana), to_ana(), None).await;
    let saved = made.unwrap().into_inner();
    let disabled = perigee_core::access::user::UserProfile { disabled: true, ..ana.profile.clone() };
    let user = on.store.replace_user(&tenant.actor(), ana.id, ana.revision, disabled, None).await.unwrap();
    let stored = on.saved(&tenant, &saved).await;
    assert_eq!((stored.paused, stored.next_run), (Some(Paused::OwnerInactive), None));
    on.clock().set(at("2026-05-05T05:00:00Z"));
    assert!(on.claim_report().await.is_none());
    let run = on.runs(&tenant, &saved).await.remove(0);
    assert_eq!(run.state, RunState::Skipped);
    assert_eq!(run.error.as_deref(), Some("the owner of the report may not sign in"));
    assert!(on.report_mails(&tenant).await.is_empty());
    on.store.replace_user(&tenant.actor(), ana.id, user.revision, ana.profile, None).await.unwrap();
    assert_eq!(on.saved(&tenant, &saved).await.paused, None);
    assert!(on.claim_report().await.is_none(), "what was skipped is not made up for");
    on.clock().set(at("2026-05-06T05:00:00Z"));
    assert_eq!(on.claim_report().await.unwrap().owner.id, ana.id);
}

pub(crate) async fn a_changed_report_is_not_finished_for_its_old_settings(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.clock().set(at("2026-05-04T06:00:00Z"));
    let saved = on.save(&tenant, to_ana()).await;
    on.clock().set(at("2026-05-05T05:00:00Z"));
    let task = on.claim_report().await.unwrap();
    let to_bo = daily(AlertRouting { recipients: vec![mail("bo@example.com")], ..AlertRouting::default() });
    let changed =
        on.store.replace_saved_report(&tenant.actor(), saved.id, saved.revision, to_bo.clone()).await;
    assert!(!finish(&on.store, &task).await, "the report was asked for otherwise");
    let task = on.claim_report().await.unwrap();
    assert!(finish(&on.store, &task).await);
    assert_eq!(on.report_mails(&tenant).await, ["bo@example.com"]);
    let off = to_bo.schedule.map(|schedule| ReportSchedule { enabled: false, ..schedule });
    let off = SavedReportSettings { schedule: off, ..to_ana() };
    let stored =
        on.store.replace_saved_report(&tenant.actor(), saved.id, changed.unwrap().revision, off).await;
    assert_eq!(stored.unwrap().paused, Some(Paused::Off));
    on.clock().advance_seconds(10 * 86_400);
    assert!(on.claim_report().await.is_none(), "off is off");
    on.store.delete_saved_report(&tenant.actor(), saved.id, None).await.unwrap();
    assert_eq!(
        on.store.find_report_file(tenant.account.id, saved.id, task.occurrence.date).await.unwrap(),
        None
    );
}

pub(crate) async fn a_clock_put_right_holds_nothing_back(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.clock().set(at("2026-05-04T06:00:00Z"));
    let saved = on.save(&tenant, to_ana()).await;
    // A clock that is a year ahead makes one report.
    on.clock().set(at("2027-05-04T06:00:00Z"));
    let task = on.claim_report().await.unwrap();
    assert!(finish(&on.store, &task).await);
    on.clock().set(at("2026-05-05T06:00:00Z"));
    assert!(on.claim_report().await.is_none());
    assert_eq!(on.saved(&tenant, &saved).await.next_run, Some(at("2026-05-06T05:00:00Z")));
    on.clock().set(at("2026-05-06T05:00:00Z"));
    let task = on.claim_report().await.unwrap();
    assert!(finish(&on.store, &task).await);
    // An hour back, or a day: the date is done.
    for back in ["2026-05-06T04:30:00Z", "2026-05-05T12:00:00Z"] {
        on.clock().set(at(back));
        assert!(on.claim_report().await.is_none());
    }
    on.clock().set(at("2026-05-06T05:30:00Z"));
    assert!(on.claim_report().await.is_none());
}

pub(crate) async fn large_files_are_linked_and_old_ones_deleted(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.clock().set(at("2026-05-04T06:00:00Z"));
    on.store.watch_clock().await.unwrap();
    let saved = on.save(&tenant, to_ana()).await;
    on.clock().set(at("2026-05-05T05:00:00Z"));
    let task = on.claim_report().await.unwrap();
    let RunOutcome::Made(mut large) = made(&task, vec![0; 8]) else { panic!() };
    large.notice.size = ReportNotice::ATTACHED_BYTES_MAX + 1;
    large.bytes = None;
    assert!(on.store.finish_report(task, RunOutcome::Made(large)).await.unwrap());
    let Occasion::ScheduledReport(notice) = &on.due(Channel::EMAIL).await[0].occasion else { panic!() };
    assert!(!notice.attached);
    assert!(!on.runs(&tenant, &saved).await[0].attached);
    on.clock().set(at("2026-05-06T05:00:00Z"));
    let task = on.claim_report().await.unwrap();
    assert!(finish(&on.store, &task).await);
    let kept = async || {
        let date = task.occurrence.date;
        on.store.find_report_file(tenant.account.id, saved.id, date).await.unwrap().is_some()
    };
    assert!(kept().await);
    for _ in 0..9 * 24 {
        on.clock().advance_seconds(3_600);
        on.store.watch_clock().await.unwrap();
    }
    on.store.delete_expired().await.unwrap();
    assert!(!kept().await, "it is kept for a week");
}
