//! Testing a rule on history: which alerts it would have raised.

use std::sync::Arc;

use perigee_core::devices::device::{Device, DeviceFilter, DeviceRef, DeviceStatus};
use perigee_core::id::{DeviceId, RuleId};
use perigee_core::locations::location::{Degrees, HistoryRequest, Order, TimeRange};
use perigee_core::page::PageRequest;
use perigee_core::revision::Revision;
use perigee_core::rules::rule::{
    Condition, DRIVING_CONTEXT_MS, Episode, Evaluator, Rule, RuleFences, Silence, Trail, Trip,
};
use perigee_core::time::Timestamp;
use perigee_core::timeline::SegmentKind;
use perigee_core::zone::Zone;

use super::handlers::find;
use super::view::{NAMES, RuleInput, read_rule};
use crate::budget::Payer;
use crate::http::cursor::Cursor;
use crate::http::edit::Mode;
use crate::http::prelude::*;

/// The longest time range of one request, in milliseconds: 31 days.
const SPAN_MOST_MS: i64 = 31 * 24 * 60 * 60 * 1000;
/// Locations after which a page ends with the current device.
const LOCATIONS_PAGE: u64 = 200_000;
/// Maximum number of locations evaluated for one device.
const LOCATIONS_DEVICE: u64 = 500_000;
/// Maximum number of trips evaluated for one device.
const TRIPS_DEVICE: u32 = 5_000;
/// CPU steps after which the rest of a device is not evaluated: about ten seconds.
const STEPS_DEVICE: u64 = 2_000_000_000;
/// CPU steps of one turn: about 50 ms.
const TURN_STEPS: u64 = 10_000_000;
/// Default number of devices in a page.
const DEVICES_PAGE: u32 = 100;
/// Maximum number of devices in a page.
const DEVICES_MOST: u32 = 1_000;
/// Locations read at a time.
const PART: u32 = 5_000;
/// Memory that these locations take.
const PART_BYTES: usize = 4 * 1024 * 1024;

/// Alerts that a rule would have raised.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleTest {
    /// Episodes for which the rule would have raised an alert, sorted by device and time.
    episodes: Vec<EpisodeView>,
    /// Number of locations that were evaluated.
    #[schema(example = 1440, minimum = 0)]
    locations: u64,
    /// IDs of devices that have too many locations in the time range, so that only the first ones were evaluated.
    #[schema(example = json!([]))]
    incomplete: Vec<String>,
    /// Cursor of the next page of devices, for the parameter `cursor`. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A span of time in which the conditions of a rule were true of a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RuleEpisode)]
pub struct EpisodeView {
    /// ID of the device.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// Time that the alert would have.
    #[schema(example = "2026-05-01T12:01:00Z", format = DateTime)]
    date_time: String,
    /// Name that the alert would have.
    #[schema(example = "SpeedLimit")]
    alert_name: String,
    /// Time of the first location at which all conditions were true.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    begin: String,
    /// Time of the first location at which a condition was false again. Null if the episode did not end within the
    /// time range.
    #[schema(example = "2026-05-01T12:05:00Z", format = DateTime)]
    end: Option<String>,
    /// Latitude of the alert, in degrees north (WGS 84). Null if the position is unknown.
    #[schema(value_type = Option<f64>, example = 42.2406)]
    latitude: Option<Degrees>,
    /// Longitude of the alert, in degrees east (WGS 84). Null if the position is unknown.
    #[schema(value_type = Option<f64>, example = -8.7207)]
    longitude: Option<Degrees>,
}

impl EpisodeView {
    fn of(rule: &Rule, device: DeviceId, episode: &Episode) -> Self {
        Self {
            device_id: device.to_string(),
            date_time: episode.met.to_string(),
            alert_name: rule.settings.alert_name(),
            begin: episode.begin.to_string(),
            end: episode.end.map(|end| end.to_string()),
            latitude: episode.position.map(|(latitude, _)| Degrees::from(latitude)),
            longitude: episode.position.map(|(_, longitude)| Degrees::from(longitude)),
        }
    }
}

/// Test a rule on history
///
/// Evaluates the locations of a time range of at most 31 days with the current settings of the rule, or the trips if its
/// conditions are about trips, whether or not it is enabled, and returns the alerts it would have raised. Nothing is stored and nobody is notified. The answer is
/// paged by device. Any user who sees the rule may call this operation.
#[utoipa::path(post, path = "/api/rules/{ruleId}/test", tag = "rules", params(
    ("from" = String, Query, description = "Start of the time range, inclusive.", example = "2026-05-01T00:00:00Z"),
    ("to" = String, Query, description = "End of the time range, inclusive; at most 31 days after `from`.", example = "2026-05-02T00:00:00Z"),
    ("device" = Option<String>, Query, description = "Only this device, by ID or identifier. Default: all devices that the rule applies to."),
    ("limit" = Option<u32>, Query, description = "Maximum number of devices per page. Default: 100.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "The alerts that the rule would have raised.", body = RuleTest)))]
pub async fn test_rule(
    Call(app, caller): Call,
    IdPath(id): IdPath<RuleId>,
    params: Params,
) -> ApiReply<RuleTest> {
    let rule = find(&app, &caller, id).await?;
    let test = TestParams::read(params, caller.zone(), format!("rule test {}", rule.id))?;
    Ok(caller.reply(try_rule(&app, &caller, rule, test).await?))
}

/// Test a new rule on history
///
/// Evaluates the locations of a time range of at most 31 days with the rule in the body, and returns the alerts it
/// would have raised. Nothing is stored and nobody is notified. The answer is paged by device. Send the same rule with
/// each cursor. Devices that the caller may not see are left out. Any user may call this operation.
#[utoipa::path(post, path = "/api/rules/test", tag = "rules", request_body = RuleInput, params(
    ("from" = String, Query, description = "Start of the time range, inclusive.", example = "2026-05-01T00:00:00Z"),
    ("to" = String, Query, description = "End of the time range, inclusive; at most 31 days after `from`.", example = "2026-05-02T00:00:00Z"),
    ("device" = Option<String>, Query, description = "Only this device, by ID or identifier. Default: all devices that the rule applies to."),
    ("limit" = Option<u32>, Query, description = "Maximum number of devices per page. Default: 100.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses(
    (status = 200, description = "The alerts that the rule would have raised.", body = RuleTest),
    (status = 404, description = "The device does not exist, or the caller may not see it."),
))]
pub async fn test_new_rule(
    Call(app, caller): Call,
    params: Params,
    mut body: JsonBody,
) -> ApiReply<RuleTest> {
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let settings = read_rule(&body.value, Mode::Create, &caller.account().settings.time_zone)?;
    let test = TestParams::read(params, caller.zone(), "rule test".to_owned())?;
    let now = caller.now();
    let rule = Rule {
        id: RuleId::random(now),
        account: caller.account().id,
        revision: Revision::FIRST,
        settings,
        generation: 0,
        since: now,
        creation: now,
        last_modified: now,
    };
    Ok(caller.reply(try_rule(&app, &caller, rule, test).await?))
}

/// The parameters of a test.
struct TestParams {
    range: TimeRange,
    device: Option<String>,
    limit: u32,
    /// The device after which the page begins.
    after: Option<i64>,
    /// The request that cursors of the answer are valid for.
    bound_to: String,
}

impl TestParams {
    fn read(mut params: Params, zone: &Zone, bound_to: String) -> ApiResult<Self> {
        let from: Option<Timestamp> = params.required_instant("from", zone);
        let to: Option<Timestamp> = params.required_instant("to", zone);
        if let (Some(from), Some(to)) = (from, to)
            && !(0..=SPAN_MOST_MS).contains(&(to.as_millis() - from.as_millis()))
        {
            params.refuse(
                "to",
                "The parameter \"to\" must not be before \"from\" or more than 31 days after it.",
            );
        }
        let device = params.text("device");
        let limit = params.number("limit", 1, DEVICES_MOST).unwrap_or(DEVICES_PAGE);
        let cursor = params.text("cursor");
        params.finish()?;
        let after = cursor.as_deref().map(|text| Cursor::read(&bound_to, text)).transpose()?;
        let range = TimeRange { from: from.unwrap_or(Timestamp::MIN), to: to.unwrap_or(Timestamp::MIN) };
        Ok(Self { range, device, limit, after: after.map(|cursor| cursor.number), bound_to })
    }
}

async fn try_rule(app: &App, caller: &Caller, rule: Rule, test: TestParams) -> ApiResult<RuleTest> {
    let is_one = test.device.is_some();
    let devices = match &test.device {
        Some(device) => {
            let found = app.store.find_device(caller.scope(), &DeviceRef::read(device)).await?;
            vec![found.ok_or_else(|| not_found(Kind::Device))?]
        }
        None => target_devices(app, caller, &rule, test.after, test.limit).await?,
    };
    let mut page = RuleTest { episodes: Vec::new(), locations: 0, incomplete: Vec::new(), next_cursor: None };
    let rule_fences = fences(app, caller, &rule).await?;
    let full = !is_one && devices.len() >= usize::try_from(test.limit).unwrap_or(usize::MAX);
    let last = devices.last().map(|device| device.id);
    for device in devices {
        replay(app, caller, &rule, &rule_fences, &device, test.range, &mut page).await?;
        let enough = page.locations >= LOCATIONS_PAGE && last != Some(device.id);
        if enough || (full && last == Some(device.id)) {
            page.next_cursor = Some(Cursor::at(device.id.as_i64()).write(&test.bound_to));
            break;
        }
    }
    Ok(page)
}

/// The devices after this one that the rule applies to and that the caller may see.
async fn target_devices(
    app: &App,
    caller: &Caller,
    rule: &Rule,
    after: Option<i64>,
    limit: u32,
) -> ApiResult<Vec<Device>> {
    let target = &rule.settings.target;
    let mut page = PageRequest { after, limit: PageRequest::LIMIT_MAX };
    let mut found = Vec::new();
    loop {
        let part = app.store.list_devices(caller.scope(), &DeviceFilter::default(), page).await?;
        found.extend(part.items.into_iter().filter(|device| {
            let by_group = || device.settings.groups.iter().any(|group| target.groups.contains(group));
            target.all || target.devices.binary_search(&device.id).is_ok() || by_group()
        }));
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        match part.next {
            Some(next) if found.len() < limit => page.after = Some(next),
            _ => {
                found.truncate(limit);
                return Ok(found);
            }
        }
    }
}

/// The geofences that the conditions of the rule name.
async fn fences(app: &App, caller: &Caller, rule: &Rule) -> ApiResult<Arc<RuleFences>> {
    let mut shapes = Vec::new();
    for id in rule.settings.geofences() {
        let unknown = || StoreError::UnknownReference { kind: Kind::Geofence, id: id.to_string() };
        let found = app.store.find_geofence(caller.scope(), id).await?;
        let fence = found.ok_or_else(|| ApiError::from(unknown()).at_member("conditions"))?;
        shapes.push((id, fence.settings.shape));
    }
    let rule = rule.clone();
    let prepare = move || RuleFences::new([&rule], shapes.iter().map(|(id, shape)| (*id, shape)));
    Ok(Arc::new(app.budget.run(Payer::account(caller.account().id), PART_BYTES, prepare).await?))
}

/// Evaluates the history of a device and adds the episodes that were found.
async fn replay(
    app: &App,
    caller: &Caller,
    rule: &Rule,
    fences: &Arc<RuleFences>,
    device: &Device,
    range: TimeRange,
    page: &mut RuleTest,
) -> ApiResult<()> {
    if rule.settings.watches_trips() {
        return replay_trips(app, caller, rule, device, range, page).await;
    }
    // The current settings are tested on all of the history, also from before the rule was last changed.
    let rule = Arc::new(Rule { since: Timestamp::MIN, ..rule.clone() });
    let start = Trail::default().start(&[&*rule], &[range.from], range.from);
    let mut evaluator = Evaluator::new(vec![Arc::clone(&rule)], Arc::clone(fences), start);
    let mut received: Vec<Timestamp> = Vec::new();
    let mut request = HistoryRequest { range, order: Order::Ascending, after: None, limit: PART };
    let (mut seen, mut steps) = (0, 0);
    loop {
        let part = app.store.list_locations(caller.scope(), device.id, request).await?;
        if rule.settings.watches_silence() {
            received.extend(part.items.iter().map(|stored| stored.received_at));
        }
        seen += u64::try_from(part.items.len()).unwrap_or(0);
        let (next, mut items) = (part.next, part.items.into_iter());
        let is_last = next.is_none() || seen >= LOCATIONS_DEVICE || steps >= STEPS_DEVICE;
        loop {
            let work = move || {
                let used = if is_last {
                    evaluator.advance_to_end(&mut items, TURN_STEPS)
                } else {
                    evaluator.advance(&mut items, TURN_STEPS)
                };
                (evaluator, items, used)
            };
            let used;
            (evaluator, items, used) =
                app.budget.run(Payer::account(device.account), PART_BYTES, work).await?;
            steps += used;
            if used < TURN_STEPS {
                break;
            }
        }
        match next {
            Some(_) if is_last => {
                page.incomplete.push(device.id.to_string());
                break;
            }
            Some(next) => request.after = Some(next),
            None => break,
        }
    }
    page.locations += seen;
    let until = range.to.min(caller.now());
    let episodes = match rule.settings.conditions.first() {
        Some(Condition::Silence(silence)) => silences(*silence, &rule, device, received, until),
        _ => evaluator.finish(until).touched.into_iter().flat_map(|touched| touched.episodes).collect(),
    };
    page.episodes.extend(episodes.iter().map(|episode| EpisodeView::of(&rule, device.id, episode)));
    Ok(())
}

/// Evaluates the trips of a device, as they are stored, and adds the episodes that were found.
async fn replay_trips(
    app: &App,
    caller: &Caller,
    rule: &Rule,
    device: &Device,
    range: TimeRange,
    page: &mut RuleTest,
) -> ApiResult<()> {
    // Driving time, or the time without a trip, may have begun before the time range. What was true at its beginning is
    // not found.
    let before_ms = rule.settings.no_trip_ms().map_or(DRIVING_CONTEXT_MS, |limit_ms| limit_ms + 1);
    let period = TimeRange { from: range.from.plus_millis(-before_ms), to: range.to.plus_millis(1) };
    let kind = Some(SegmentKind::Trip);
    let found = app.store.list_segments(caller.scope(), device.id, period, kind, TRIPS_DEVICE).await?;
    if found.more {
        page.incomplete.push(device.id.to_string());
    }
    let trips: Vec<Trip> = found.segments.iter().filter_map(Trip::of).collect();
    let mut episodes = rule.settings.trip_episodes(&trips);
    if rule.settings.no_trip_ms().is_some() {
        let since = period.from.max(device.creation);
        episodes = rule.settings.absences(&trips, since, range.to.min(caller.now()));
    }
    let episodes = episodes.into_iter();
    let episodes = episodes.filter(|episode| (range.from..=range.to).contains(&episode.met));
    page.episodes.extend(episodes.map(|episode| EpisodeView::of(rule, device.id, &episode)));
    Ok(())
}

/// The silences between received locations, by the current reporting interval of the device.
fn silences(
    silence: Silence,
    rule: &Rule,
    device: &Device,
    mut received: Vec<Timestamp>,
    until: Timestamp,
) -> Vec<Episode> {
    received.sort_unstable();
    let interval_s = device.settings.expected_interval_s.or(device.learned_interval_s);
    let next = received.iter().skip(1).map(|at| Some(*at)).chain([None]);
    let episode = |(last, next): (&Timestamp, Option<Timestamp>)| {
        let (late, offline) = DeviceStatus::limits(*last, interval_s);
        let limit = if silence == Silence::Late { late } else { offline };
        let at = rule.silence_from(limit.plus_millis(1))?;
        (at <= next.unwrap_or(until)).then_some(Episode { begin: at, met: at, end: next, position: None })
    };
    received.iter().zip(next).filter_map(episode).collect()
}
