//! API usage: calls by user and time.

use std::collections::BTreeMap;

use perigee_core::accounts::account::Account;
use perigee_core::day::day_of;
use perigee_core::id::UserId;
use perigee_core::store::{CALL_RETENTION_DAYS, HourCalls};
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use crate::http::prelude::*;

const HOUR_MS: i64 = 3_600_000;
const DAY_S: i64 = 86_400;
/// Length of the time range by default, in days.
const DAYS: i64 = 30;

/// API calls of the account over time.
#[derive(Serialize, ToSchema)]
#[schema(as = OneUsage)]
pub struct UsageAnswer {
    /// API calls of the account over time.
    usage: UsageView,
}

/// API calls of the account, counted by hour or day.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Usage)]
pub struct UsageView {
    /// Length of each step: `hour`, or `day` in the time zone of the account.
    #[schema(example = "day", pattern = "^(hour|day)$")]
    unit: &'static str,
    /// Times at which the steps begin, without gaps.
    #[schema(example = json!(["2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"]))]
    times: Vec<String>,
    /// Counts by user and way of access, the largest total first.
    series: Vec<SeriesView>,
}

/// API calls of one user by one way of access.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UsageSeries)]
pub struct SeriesView {
    /// ID of the user who made the calls.
    #[schema(example = "usr_01jc2m8k4n5p8")]
    user_id: String,
    /// Name of the user. Null if the user was deleted.
    #[schema(example = "Ana Castro")]
    name: Option<String>,
    /// Way of access. `key`: with tokens of the user's API key. `console`: in sessions of the console.
    #[schema(example = "key", pattern = "^(key|console)$")]
    via: &'static str,
    /// Number of calls in the whole time range.
    #[schema(example = 42)]
    total: u64,
    /// Number of calls in each step, in the order of `times`.
    #[schema(example = json!([30, 12]))]
    calls: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Hour,
    Day,
}

impl Unit {
    /// The beginning of the step that contains this instant.
    fn begin(self, instant: Timestamp, zone: &Zone) -> Timestamp {
        match self {
            Self::Hour => Timestamp::from_millis(instant.as_millis().div_euclid(HOUR_MS) * HOUR_MS),
            Self::Day => day_of(instant, zone).starts,
        }
    }

    /// The beginning of the step after the one that begins here.
    fn next(self, begin: Timestamp, zone: &Zone) -> Timestamp {
        match self {
            Self::Hour => begin.plus_millis(HOUR_MS),
            Self::Day => day_of(begin, zone).ends,
        }
    }
}

/// The time range of a request.
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
        params.refuse("from", "The parameter \"from\" must not be later than \"to\" or the current time.");
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

/// Counts calls by step, user and way of access.
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

/// Retrieve API usage
///
/// Returns how many API calls the users of the account made, by hour or day. Requires a caller who sees the whole
/// account. Counts are kept for 32 days; the range begins no earlier. Calls are counted by hours of UTC. An hour counts
/// for the day of the account in which it begins. If the server crashes, the counts of the last minute are lost.
#[utoipa::path(get, path = "/api/account/usage", tag = "account", params(
    ("from" = Option<String>, Query, description = "Start of the time range. Default: 30 days before `to`.", example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "End of the time range. Default: the current time.", example = "2026-05-31T00:00:00Z"),
    ("unit" = Option<String>, Query, description = "Length of each step: `hour` or `day`. Default: `day`.", example = "day", pattern = "^(hour|day)$"),
), responses((status = 200, description = "The API calls over time.", body = UsageAnswer)))]
pub async fn get_usage(Call(app, caller): Call, params: Params) -> ApiReply<UsageAnswer> {
    let span = read_span(params, caller.zone(), caller.now())?;
    caller.require_whole_account()?;
    // Adds the calls that this node has counted and not saved yet.
    app.counters.hours.save(&*app.store).await?;
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
