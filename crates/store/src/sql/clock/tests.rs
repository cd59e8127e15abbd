//! Tests that every column of the schema that holds a time is moved when the clock is corrected, or is listed here
//! with the reason why nothing waits for it.

use std::collections::BTreeSet;

use futures_util::FutureExt as _;

use super::WAITS;
use crate::testing::Scratch;
use crate::{Engine, on_both_engines, params};

on_both_engines!(every_time_follows_the_clock_or_says_why_not);

/// Times for which nothing waits, as `table.column`, by the reason. `*` is any table.
const NO_WAITS: &[(&str, &[&str])] = &[
    (
        "when something happened: shown, or deleted by age",
        &[
            "*.creation",
            "*.created",
            "*.last_modified",
            "*.modification",
            "*.received_at",
            "account.deletion_requested_at",
            "account.suspended_at",
            "account_user.last_login",
            "alert.acknowledged_at",
            "alert.ended_at",
            "api_key.last_used",
            "audit.at",
            "audit.last_at",
            "command.ended_at",
            "conversation_message.changed_at",
            "device_live.last_received_at",
            "deleted_gateway.deleted_at",
            "email_recipient.admitted_at",
            "email_recipient.confirmed_at",
            "email_recipient.unsubscribed_at",
            "event.at",
            "float_plan_link.last_used",
            "gateway_state.last_error_at",
            "gateway_state.late_since",
            "heard_device.first_heard",
            "heard_device.last_heard",
            "identifier_claim.claimed_at",
            "identifier_claim.network_decided_at",
            "identifier_claim.network_found_at",
            "identifier_claim.proven_at",
            "notification.delivered_at",
            "notification.sent_at",
            "push_subscription.last_used",
            "operator_notice.dismissed_at",
            "quarantine.found_at",
            "readiness.at",
            "report_run.ended",
            "report_run.scheduled_at",
            "report_run.started",
            "rule_checkpoint.made",
            "schema_migration.applied_at",
            "share.last_viewed",
            "store_clock.believed",
            "store_clock.seen",
            "timeline_removed.removed_at",
            "timeline_segment.updated_at",
            "webhook.disabled_at",
            "webhook.gap_at",
            "webhook_delivery.last_at",
        ],
    ),
    (
        "when an account is purged: moved back, it could come before the day that was shown; late loses nothing",
        &["account.purge_at"],
    ),
    (
        "the time of a report, which does not come from the store's clock",
        &[
            "*.first_time",
            "*.last_time",
            "*.time",
            "alert.later_fix_time",
            "device_file.captured_at",
            "device_live.newest_time",
            "driver_assignment.from_at",
            "driver_assignment.to_at",
            "float_plan_nudge.deadline",
            "location_erased.from_time",
            "location_erased.to_time",
            "maintenance_plan.kept_to",
            "maintenance_plan.summed_to",
            "rule.since",
            "rule_checkpoint.at",
            "rule_occurrence.begins",
            "rule_occurrence.ends",
            "rule_occurrence.met",
            "rule_trail.due",
            "timeline_anchor.at",
            "timeline_anchor.settled",
            "timeline_device.dirty_from",
            "timeline_device.dirty_to",
            "timeline_device.drivers_from",
            "timeline_device.drivers_to",
            "timeline_edit.from_at",
            "timeline_edit.to_at",
            "timeline_removed.from_at",
            "timeline_removed.to_at",
            "timeline_segment.from_at",
            "timeline_segment.to_at",
        ],
    ),
    (
        "chosen by a caller",
        &[
            "account_user.expires",
            "account_user.valid_from",
            "command.deadline",
            "conversation_message.deadline",
            "device.announced_expired",
            "device.announced_near",
            "device.expires",
            "device.near_at",
            "device_live.expires",
            "float_plan_link.ends",
            "share.ends",
            "share.starts",
            "share_directory.ends",
        ],
    ),
    (
        "the end of something valid, which lasts longer",
        &[
            "gateway.previous_until",
            "link.expires",
            "session.expires",
            "push_key.expires",
            "signing_key.expires",
            "webhook.previous_until",
            "webhook_delivery.expires",
        ],
    ),
    (
        "a day or an hour, compared with the present one",
        &[
            "account.api_day_ends",
            "account.day_ends",
            "account.day_starts",
            "call_hour.hour",
            "recipient_counter.hour",
        ],
    ),
    (
        "one in the future is ignored or handled where it is read",
        &[
            "account.decided_at",
            "claim_proof.tried_since",
            "email_recipient.asked_at",
            "notification.queued_at",
            "notification_repetition.met_at",
            "notification_repetition.told_at",
            "overview.told_until",
            "sos_notice.notified_at",
            "raw_usage.day",
        ],
    ),
];

/// Columns of numbers that are not times, in any table.
const NUMBERS: &[&str] = &[
    "acknowledged_by",
    "acknowledges",
    "admin_devices",
    "after_device",
    "all_devices",
    "announced",
    "api_today",
    "api_total",
    "attached",
    "attempts",
    "billed",
    "by_key",
    "calls",
    "caught_up_end",
    "caught_up_to",
    "change_number",
    "checksum",
    "conversation_delay",
    "count",
    "created_by",
    "critical",
    "critical_reserve",
    "critical_units",
    "cursor",
    "cycle",
    "datagram",
    "disabled",
    "distance_m",
    "doubts",
    "dropped",
    "dropped_bytes",
    "edition",
    "email_ceiling",
    "email_counted",
    "emails",
    "enabled",
    "end_latitude",
    "end_longitude",
    "engine_s",
    "errors",
    "expected_interval_s",
    "expiry_notice_days",
    "failures",
    "fence",
    "first_critical",
    "first_number",
    "fuel_used",
    "gap_from",
    "gap_to",
    "generation",
    "held_licenses",
    "holder",
    "idling_s",
    "inferred",
    "interval_s",
    "is_on",
    "is_open",
    "is_purging",
    "is_template",
    "jump_ms",
    "kept",
    "kept_bytes",
    "kept_engine_s",
    "kept_m",
    "known_latitude",
    "known_longitude",
    "lapsed",
    "last_checksum",
    "last_latitude",
    "last_longitude",
    "last_number",
    "last_status",
    "late",
    "later_latitude",
    "later_longitude",
    "latitude",
    "licensed",
    "licenses",
    "longitude",
    "marks",
    "max_speed",
    "messages",
    "moving_s",
    "newest_id",
    "number",
    "observed_to",
    "operator",
    "ordinal",
    "packed_to",
    "pause_s",
    "plan",
    "polled",
    "positions",
    "privileges",
    "proposed_zone_minutes",
    "quiet",
    "read_count",
    "read_to",
    "received_count",
    "recipients",
    "refused",
    "replaces",
    "retention_days",
    "revision",
    "round",
    "row_count",
    "rules_revision",
    "run_ms",
    "segments",
    "severity",
    "show_account",
    "show_conversation",
    "show_trips",
    "shown",
    "size",
    "standing_s",
    "start_latitude",
    "start_longitude",
    "step",
    "summed_engine_s",
    "summed_m",
    "token",
    "totp_confirmed",
    "totp_last_step",
    "tries",
    "turn",
    "units",
    "unpacked",
    "unused_bytes",
    "up_to",
    "version",
    "views",
    "watches_trips",
    "withdrawn",
];

/// Tables and columns of whole numbers, except for ids.
async fn columns(engine: Engine) -> BTreeSet<(String, String)> {
    let scratch = Scratch::new(engine).await;
    let store = scratch.open().await;
    let sql = match engine {
        Engine::Sqlite => {
            "SELECT m.name AS holder, c.name AS part FROM sqlite_master m JOIN pragma_table_info(m.name) c \
             WHERE m.type = 'table' AND c.type = 'INTEGER'"
        }
        Engine::Postgres => {
            "SELECT CAST(c.table_name AS TEXT) AS holder, CAST(c.column_name AS TEXT) AS part \
             FROM information_schema.columns c JOIN information_schema.tables t \
                 ON t.table_schema = c.table_schema AND t.table_name = c.table_name \
             WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' \
                 AND c.data_type IN ('bigint', 'integer')"
        }
    };
    let read = store.read(move |tx| async move { Ok(tx.query(sql, params![]).await?) }.boxed()).await;
    let found: BTreeSet<_> =
        read.unwrap().iter().map(|row| (row.text("holder").unwrap(), row.text("part").unwrap())).collect();
    found.into_iter().filter(|(_, part)| part != "id" && !part.ends_with("_id")).collect()
}

async fn every_time_follows_the_clock_or_says_why_not(engine: Engine) {
    let found = columns(engine).await;
    assert!(found.len() > 100, "{found:?}");
    let moves = |table: &str, column: &str| {
        WAITS.iter().any(|wait| (wait.0, wait.1) == (table, column))
            || (engine, table, column) == (Engine::Postgres, "device_live", "pack_due")
    };
    let has_reason = |table: &str, column: &str| {
        let is_named = |name: &&str| {
            let (holder, part) = name.split_once('.').unwrap();
            part == column && (holder == table || holder == "*")
        };
        NO_WAITS.iter().flat_map(|(_, names)| names.iter()).any(is_named)
    };
    for (table, column) in &found {
        let kinds = [moves(table, column), has_reason(table, column), NUMBERS.contains(&column.as_str())];
        assert_eq!(
            kinds.iter().filter(|is| **is).count(),
            1,
            "{table}.{column} {kinds:?}: a lease, a due time or an instant from which something waits belongs in WAITS of \
             sql/clock.rs; any other time here, with the reason; a number that is no time in NUMBERS"
        );
    }
    for (table, column, _) in WAITS {
        let known = (String::from(*table), String::from(*column));
        assert!(found.contains(&known), "{table}.{column} does not exist");
    }
}
