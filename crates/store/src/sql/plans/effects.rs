//! What follows from the outcomes of a plan: entries of its timeline, alerts and their ends, messages and events, all in the
//! transaction that stores the plan.

use std::collections::BTreeMap;

use perigee_core::accounts::account::Account;
use perigee_core::alerts::alert::Alert;
use perigee_core::alerts::severity::Severity;
use perigee_core::events::event::EventKind;
use perigee_core::id::{AlertId, DeviceId, PlanEventId, UserId};
use perigee_core::locations::location::Attribute;
use perigee_core::notifications::routing::{AlertRouting, Destination, Preferences, Recipient};
use perigee_core::plans::{CheckIn, CheckInBy, LadderStep, Missed, Outcome, Plan, PlanEvent, PlanEventKind};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use serde_json::json;

use super::nudges;
use super::row::text;
use crate::sql::alerts::{self, NewAlert};
use crate::sql::events::event_append::{NewEvent, append_events};
use crate::sql::ids;
use crate::sql::rules::rule_engine::end_alerts;
use crate::{Tx, params};

/// Appends an event about a plan.
pub(super) async fn announce(tx: &Tx, kind: EventKind, plan: &Plan) -> Result<()> {
    let device = plan.settings.first_device();
    let data = json!({
        "deviceId": device.map(|device| device.to_string()),
        "name": &plan.settings.name,
        "state": plan.progress.state.name(),
    });
    let event = NewEvent { subject: plan.id.to_string(), device, data: data.to_string() };
    append_events(tx, plan.account, kind, vec![event]).await
}

/// Carries out outcomes.
pub(super) struct Effects<'a> {
    account: &'a Account,
    user: Option<UserId>,
    /// How many alerts were raised.
    pub(super) alerts: usize,
}

/// An entry without values of its own.
fn blank(at: Timestamp, kind: PlanEventKind, user: Option<UserId>) -> PlanEvent {
    PlanEvent {
        id: PlanEventId::from_i64(0),
        at,
        kind,
        by: None,
        device: None,
        position: None,
        text: None,
        user,
        minutes: None,
        of: None,
        deadline: None,
        alert: None,
    }
}

fn of_check_in(event: &PlanEvent, check_in: &CheckIn) -> PlanEvent {
    PlanEvent {
        at: check_in.at,
        by: Some(check_in.by),
        device: check_in.device,
        position: check_in.position,
        text: check_in.text.clone(),
        ..*event
    }
}

fn of_missed(event: PlanEvent, missed: &Missed) -> PlanEvent {
    PlanEvent { of: Some(missed.deadline.kind), deadline: Some(missed.deadline.at), ..event }
}

impl<'a> Effects<'a> {
    pub(super) const fn of(account: &'a Account, user: Option<UserId>) -> Self {
        Self { account, user, alerts: 0 }
    }

    /// Adds an entry to the timeline of a plan.
    pub(super) async fn record(
        &self,
        tx: &Tx,
        plan: &Plan,
        kind: PlanEventKind,
        fill: impl FnOnce(PlanEvent) -> PlanEvent,
    ) -> Result<()> {
        let id = ids::next_id(tx, "float_plan_event", plan.account).await?;
        let event = PlanEvent { id: PlanEventId::from_i64(id), ..fill(blank(tx.now(), kind, self.user)) };
        let sql = "INSERT INTO float_plan_event (account_id, plan_id, id, kind, document) VALUES (?1, ?2, ?3, ?4, ?5)";
        tx.execute(sql, params![plan.account, plan.id, id, kind.name(), text(&event)?]).await?;
        // Cheap enough here: entries of a plan are few a minute at most.
        let sql = "DELETE FROM float_plan_event WHERE account_id = ?1 AND plan_id = ?2 AND kind = 'checkedIn' AND id <= \
                   (SELECT id FROM float_plan_event WHERE account_id = ?1 AND plan_id = ?2 ORDER BY id DESC \
                    LIMIT 1 OFFSET ?3)";
        tx.execute(sql, params![plan.account, plan.id, i64::from(PlanEvent::PER_PLAN_MAX)]).await?;
        Ok(())
    }

    /// Carries out outcomes in their order.
    pub(super) async fn apply(&mut self, tx: &Tx, plan: &mut Plan, outcomes: Vec<Outcome>) -> Result<()> {
        let resolves = outcomes.iter().any(|outcome| matches!(outcome, Outcome::Resolved { .. }));
        for outcome in outcomes {
            self.apply_one(tx, plan, outcome, resolves).await?;
        }
        Ok(())
    }

    async fn apply_one(&mut self, tx: &Tx, plan: &mut Plan, outcome: Outcome, resolves: bool) -> Result<()> {
        let started = plan.progress.started;
        let bare = |kind| (kind, None);
        let (kind, minutes) = match outcome {
            Outcome::Missed => return self.missed(tx, plan).await,
            Outcome::Warning => return self.step(tx, plan, LadderStep::Warning).await,
            Outcome::Alarm => return self.step(tx, plan, LadderStep::Alarm).await,
            Outcome::Resolved { missed, is_withdrawn } => {
                return self.resolved(tx, plan, &missed, is_withdrawn).await;
            }
            Outcome::CheckedIn(check_in) => return self.checked_in(tx, plan, &check_in, resolves).await,
            Outcome::Started(note) => {
                self.record(tx, plan, PlanEventKind::Started, |event| PlanEvent {
                    at: started.unwrap_or(event.at),
                    text: note,
                    ..event
                })
                .await?;
                return announce(tx, EventKind::PlanStarted, plan).await;
            }
            Outcome::Paused(length) => (PlanEventKind::Paused, length),
            Outcome::Resumed => bare(PlanEventKind::Resumed),
            Outcome::Extended(by) => (PlanEventKind::Extended, Some(by)),
            Outcome::Ended(by) => return self.ended(tx, plan, PlanEventKind::Ended, &by).await,
            Outcome::Cancelled(by) => return self.ended(tx, plan, PlanEventKind::Cancelled, &by).await,
        };
        let last = plan
            .progress
            .last
            .clone()
            .filter(|_| kind == PlanEventKind::Extended || kind == PlanEventKind::Resumed);
        self.record(tx, plan, kind, |event| PlanEvent {
            minutes,
            device: last.as_ref().and_then(|last| last.device),
            text: last.and_then(|last| last.text),
            ..event
        })
        .await?;
        announce(tx, EventKind::PlanChanged, plan).await
    }

    async fn ended(&self, tx: &Tx, plan: &Plan, kind: PlanEventKind, by: &CheckIn) -> Result<()> {
        self.record(tx, plan, kind, |event| of_check_in(&event, by)).await?;
        announce(tx, EventKind::PlanEnded, plan).await
    }

    /// Records a check-in. Of locations, few are recorded.
    async fn checked_in(&self, tx: &Tx, plan: &Plan, check_in: &CheckIn, resolves: bool) -> Result<()> {
        if check_in.by == CheckInBy::Location && !resolves {
            let sql = "SELECT document FROM float_plan_event WHERE account_id = ?1 AND plan_id = ?2 AND kind = 'checkedIn' \
                       ORDER BY id DESC LIMIT 1";
            if let Some(row) = tx.query_opt(sql, params![plan.account, plan.id]).await? {
                let before: PlanEvent = crate::sql::column::json(&row, "document")?;
                let since_ms = check_in.at.as_millis() - before.at.as_millis();
                if (0..PlanEvent::LOCATION_EVERY_MS).contains(&since_ms) {
                    return Ok(());
                }
            }
        }
        self.record(tx, plan, PlanEventKind::CheckedIn, |event| of_check_in(&event, check_in)).await?;
        announce(tx, EventKind::PlanCheckedIn, plan).await
    }

    async fn missed(&mut self, tx: &Tx, plan: &mut Plan) -> Result<()> {
        let Some(missed) = plan.progress.missed.clone() else { return Ok(()) };
        self.record(tx, plan, PlanEventKind::Missed, |event| of_missed(event, &missed)).await?;
        announce(tx, EventKind::PlanMissed, plan).await?;
        if plan.settings.grace.nudges {
            self.step(tx, plan, LadderStep::Nudge).await?;
            nudges::queue(tx, plan, missed.deadline.at).await?;
        }
        Ok(())
    }

    /// Takes a step: raises its alert. A plan whose devices were all deleted has nobody to raise it for.
    async fn step(&mut self, tx: &Tx, plan: &mut Plan, step: LadderStep) -> Result<()> {
        let Some(missed) = plan.progress.missed.clone() else { return Ok(()) };
        let routing = match step {
            LadderStep::Nudge => Some(to_travellers(plan)),
            LadderStep::Warning | LadderStep::Alarm => plan.settings.notify.clone(),
        };
        let is_alone = step == LadderStep::Nudge;
        let name = step.alert_name();
        let alert = self
            .raise(tx, plan, (name, missed.deadline.at), step == LadderStep::Alarm, routing, is_alone)
            .await?;
        if let (Some(alert), Some(missed)) = (alert, &mut plan.progress.missed) {
            missed.alerts.push(alert);
        }
        let kind = match step {
            LadderStep::Nudge => PlanEventKind::Nudged,
            LadderStep::Warning => PlanEventKind::Warned,
            LadderStep::Alarm => PlanEventKind::Alarmed,
        };
        self.record(tx, plan, kind, |event| PlanEvent { alert, ..of_missed(event, &missed) }).await?;
        if step == LadderStep::Alarm {
            announce(tx, EventKind::PlanOverdue, plan).await?;
        }
        Ok(())
    }

    /// Raises an alert of a plan. Its time follows from the deadline, so that the same alert is never stored twice.
    async fn raise(
        &mut self,
        tx: &Tx,
        plan: &Plan,
        (name, at): (&str, Timestamp),
        critical: bool,
        routing: Option<AlertRouting>,
        is_alone: bool,
    ) -> Result<Option<AlertId>> {
        let Some(device) = plan.settings.first_device() else { return Ok(None) };
        let alert = Alert {
            // Alerts of one time, name and text are one. Two plans of a device may have the same name and times, and a
            // deadline can come again when the clock was set back.
            time: at.plus_millis((plan.id.as_i64() + i64::from(plan.progress.misses)).rem_euclid(1_000)),
            name: name.to_owned(),
            text: Some(plan.settings.name.clone()),
            position: None,
            critical,
            attributes: BTreeMap::from([("plan".to_owned(), Attribute::Text(plan.id.to_string()))]),
        };
        let new = NewAlert { routing, is_alone, ..NewAlert::of_device(alert) };
        let raised = alerts::raise_all(tx, plan.account, vec![(device, vec![new])]).await?;
        self.alerts += 1;
        Ok(raised.into_iter().flat_map(|(_, submitted)| submitted).map(|(_, id)| id).next())
    }

    /// Ends the alerts of a missed check-in, and gives whoever was warned the all-clear.
    async fn resolved(
        &mut self,
        tx: &Tx,
        plan: &mut Plan,
        missed: &Missed,
        is_withdrawn: bool,
    ) -> Result<()> {
        let kind = if is_withdrawn { PlanEventKind::Withdrawn } else { PlanEventKind::Resolved };
        let note = if is_withdrawn {
            "Withdrawn: data from before the deadline arrived late. No check-in was missed."
        } else {
            "The traveller checked in, or the plan was changed or ended."
        };
        self.end_alerts(tx, plan, missed, Some(note)).await?;
        nudges::forget(tx, plan).await?;
        self.record(tx, plan, kind, |event| of_missed(event, missed)).await?;
        if missed.step >= LadderStep::Warning {
            let routing = plan.settings.notify.clone().map(at_any_severity);
            let (name, at) = ("CheckInReceived", missed.deadline.at);
            if let Some(alert) = self.raise(tx, plan, (name, at), false, routing, false).await? {
                self.end(tx, plan, &[alert]).await?;
            }
        }
        announce(tx, EventKind::PlanChanged, plan).await
    }

    /// Ends the alerts of a missed check-in with a note.
    pub(super) async fn end_alerts(
        &self,
        tx: &Tx,
        plan: &Plan,
        missed: &Missed,
        note: Option<&str>,
    ) -> Result<()> {
        self.end(tx, plan, &missed.alerts).await?;
        if let Some(note) = note {
            for alert in &missed.alerts {
                alerts::add_service_note(tx, plan.account, *alert, note).await?;
            }
        }
        Ok(())
    }

    async fn end(&self, tx: &Tx, plan: &Plan, alerts: &[AlertId]) -> Result<()> {
        // Only the log names the device; the alerts are found by their ids.
        let device = plan.settings.first_device().unwrap_or(DeviceId::from_i64(0));
        let alerts: Vec<_> = alerts.iter().map(|alert| (device, *alert)).collect();
        end_alerts(tx, self.account.id, (None, Some(tx.now())), &alerts).await
    }
}

/// The travellers as recipients.
fn to_travellers(plan: &Plan) -> AlertRouting {
    let mut recipients = Vec::new();
    for traveller in &plan.settings.travellers {
        let email = traveller.email.clone().map(Destination::Email);
        let phone = traveller.phone.clone().map(Destination::Sms);
        for destination in email.into_iter().chain(phone) {
            let preferences = Preferences {
                name: Some(traveller.name.clone()),
                time_zone: plan.settings.time_zone.clone(),
                language: traveller.language.clone(),
                ..Preferences::default()
            };
            let minimum_severity = Severity::Info;
            recipients.push(Recipient { destination, preferences, minimum_severity, schedule: None });
        }
    }
    AlertRouting { recipients, ..AlertRouting::default() }
}

/// The same people for the all-clear, whatever severity they want: they got the warning.
fn at_any_severity(mut routing: AlertRouting) -> AlertRouting {
    routing.recipients.iter_mut().for_each(|one| one.minimum_severity = Severity::Info);
    routing.users.iter_mut().for_each(|one| one.minimum_severity = Severity::Info);
    routing.contact_groups.iter_mut().for_each(|one| one.minimum_severity = Severity::Info);
    routing.escalation = None;
    routing
}
