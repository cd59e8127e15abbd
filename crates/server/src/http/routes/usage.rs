//! API usage: calls by user and time.

use std::collections::BTreeMap;

use axum::extract::State;
use perigee_core::account::Account;
use perigee_core::day::day_of;
use perigee_core::id::UserId;
use perigee_core::store::{CALL_RETENTION_DAYS, HourCalls};
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::http::error::ApiResult;
use crate::http::extract::{Caller, Params};
use crate::http::reply::Reply;

const HOUR_MS: i64 = 3_600_000;
const DAY_S: i64 = 86_400;
/// Days that are answered unless asked otherwise.
const DAYS: i64 = 30;

/// Calls over time, as they are answered.
#[derive(Serialize, ToSchema)]
#[schema(as = OneUsage)]
pub struct UsageAnswer {
    /// Calls of the account.
    usage: UsageView,
}

/// Calls of the account by step of time.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Usage)]
pub struct UsageView {
    /// How long each step is: `hour`, or `day` of the account's time zone.
    #[schema(example = "day", pattern = "^(hour|day)$")]
    unit: &'static str,
    /// When each step begins, without a gap.
    #[schema(example = json!(["2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"]))]
    times: Vec<String>,
    /// Who called, those who called most first.
    series: Vec<SeriesView>,
}

/// The calls of one user, by one way in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UsageSeries)]
pub struct SeriesView {
    /// The id of the user who made the calls.
    #[schema(example = "usr_01jc2m8k4n5p8")]
    user_id: String,
    /// Their name; null when they are removed.
    #[schema(example = "Ana Castro")]
    name: Option<String>,
    /// The way in: `key` for tokens of their API key, `console` for their sessions.
    #[schema(example = "key", pattern = "^(key|console)$")]
    via: &'static str,
    /// Calls of the user in the whole time range.
    #[schema(example = 42)]
    total: u64,
    /// Calls in each step, in the order of `times`.
    #[schema(example = json!([30, 12]))]
    calls: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Hour,
    Day,
}

impl Unit {
    /// When the step that holds this instant begins.
    fn begin(self, instant: Timestamp, zone: &Zone) -> Timestamp {
        match self {
            Self::Hour => Timestamp::from_millis(instant.as_millis().div_euclid(HOUR_MS) * HOUR_MS),
            Self::Day => day_of(instant, zone).starts,
        }
    }

    /// When the step after the one that begins then does.
    fn next(self, begin: Timestamp, zone: &Zone) -> Timestamp {
        match self {
            Self::Hour => begin.plus_millis(HOUR_MS),
            Self::Day => day_of(begin, zone).ends,
        }
    }
}

/// The span that is asked for.
struct Span {
    from: Timestamp,
    to: Timestamp,
    unit: Unit,
}

fn read_span(mut params: Params, zone: &Zone, now: Timestamp) -> ApiResult<Span> {
    let to = params.instant("to", zone).unwrap_or(now).min(now);
    let from = params.instant("from", zone);
    let oldest = now.plus_seconds(-CALL_RETENTION_DAYS * DAY_S);
    let from = from.unwrap_or_else(|| to.plus_seconds(-DAYS * DAY_S));
    let unit = params.word("unit", &[("hour", Unit::Hour), ("day", Unit::Day)]).unwrap_or(Unit::Day);
    if from > to {
        params.refuse("from", "The parameter \"from\" must not be later than \"to\" or the present.");
    }
    params.finish()?;
    // Older counts are not stored, so the range begins no earlier.
    Ok(Span { from: from.max(oldest), to: to.max(oldest), unit })
}

/// The steps of a span, without a gap.
fn steps(span: &Span, zone: &Zone) -> Vec<Timestamp> {
    let mut begin = span.unit.begin(span.from, zone);
    let mut steps = Vec::new();
    while begin <= span.to {
        steps.push(begin);
        begin = span.unit.next(begin, zone);
    }
    steps
}

/// Sorts calls into steps, by user and way in.
fn series(calls: &[HourCalls], steps: &[Timestamp]) -> BTreeMap<(UserId, bool), Vec<u64>> {
    let mut series: BTreeMap<(UserId, bool), Vec<u64>> = BTreeMap::new();
    for one in calls {
        let Some(step) = steps.partition_point(|begin| *begin <= one.hour).checked_sub(1) else { continue };
        let counts = series.entry((one.user, one.by_key)).or_insert_with(|| vec![0; steps.len()]);
        if let Some(count) = counts.get_mut(step) {
            *count += one.calls;
        }
    }
    series
}

async fn view(app: &App, caller: &Caller, span: &Span, account: &Account) -> ApiResult<UsageView> {
    let zone = &account.settings.time_zone;
    let steps = steps(span, zone);
    let from = steps.first().copied().unwrap_or(span.from);
    // The current hour is included.
    let calls = app.store.list_calls(account.id, from, span.to.plus_millis(1)).await?;
    let mut views = Vec::new();
    for ((user, by_key), calls) in series(&calls, &steps) {
        let found = app.store.find_user(caller.scope(), user).await?;
        views.push(SeriesView {
            user_id: user.to_string(),
            name: found.map(|user| user.profile.name),
            via: if by_key { "key" } else { "console" },
            total: calls.iter().sum(),
            calls,
        });
    }
    views.sort_by_key(|series| std::cmp::Reverse(series.total));
    Ok(UsageView {
        unit: if span.unit == Unit::Hour { "hour" } else { "day" },
        times: steps.iter().map(ToString::to_string).collect(),
        series: views,
    })
}

/// Read how often the API was called.
///
/// Steps of a day or an hour, kept for 32 days; a crash of the server loses the last minute. Hours begin in UTC and
/// belong to the day they begin in.
#[utoipa::path(get, path = "/api/account/usage", tag = "account", params(
    ("from" = Option<String>, Query, description = "From when on; 30 days before `to` unless given.", example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "Until when; now unless given.", example = "2026-05-31T00:00:00Z"),
    ("unit" = Option<String>, Query, description = "`day` (unless given) or `hour`.", example = "day", pattern = "^(hour|day)$"),
), responses((status = 200, description = "Calls over time.", body = UsageAnswer)))]
pub async fn get_usage(
    State(app): State<App>,
    caller: Caller,
    params: Params,
) -> ApiResult<Reply<UsageAnswer>> {
    let span = read_span(params, caller.zone(), caller.now())?;
    caller.require_whole_account()?;
    // Adds the calls that this node has counted and not saved yet.
    app.hours.save(&*app.store).await?;
    let usage = view(&app, &caller, &span, caller.account()).await?;
    Ok(caller.reply(UsageAnswer { usage }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn days_follow_the_zone_and_leave_no_gap() {
        let zone: Zone = "Europe/Madrid".parse().unwrap();
        let span = Span { from: at("2026-03-28T12:00:00Z"), to: at("2026-03-30T12:00:00Z"), unit: Unit::Day };
        let days: Vec<String> = steps(&span, &zone).iter().map(ToString::to_string).collect();
        // Daylight saving time begins in the night to the 29th.
        assert_eq!(days, ["2026-03-27T23:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"]);
        let one = |hour: &str, calls| HourCalls {
            account: perigee_core::id::AccountId::from_i64(1),
            user: UserId::from_i64(7),
            by_key: true,
            hour: at(hour),
            calls,
        };
        let calls =
            [one("2026-03-28T22:00:00Z", 1), one("2026-03-28T23:00:00Z", 2), one("2026-03-29T21:00:00Z", 4)];
        let sorted = series(&calls, &steps(&span, &zone));
        assert_eq!(sorted[&(UserId::from_i64(7), true)], [1, 6, 0]);
    }
}
