//! The JSON of plans.

use perigee_core::id::{AlertId, DeviceId, GeofenceId};
use perigee_core::locations::location::{Degrees, Latitude, Longitude};
use perigee_core::plans::{
    CheckIn, CheckInBy, ClockTime, Craft, Deadline, DeadlineKind, LadderStep, Missed, Plan, PlanEvent,
    PlanEventKind, PlanKind, PlanState, PlanWords, Traveller, Waypoint,
};
use perigee_core::zone::Zone;

use crate::http::input::{Word, words};
use crate::http::prelude::*;
use crate::http::routes::notifications::alert_routing::view::RuleThenView;

words! {
    "PlanState", "State of a plan. `draft`: not started. `active`: check-ins are expected. `paused`: no check-ins are expected. `overdue`: a \
     check-in was missed. `ended`: the travellers have arrived. `cancelled`: given up." => PlanState;
    "PlanCheckInBy", "What a check-in was. `start`: the start of the plan. `message`: a text of a device. `location`: a location. `word`: a \
     text that begins with a word for a check-in. `geofence`: a location inside a geofence. `waypoint`: a location at a waypoint. `button`: \
     the console or the API. `link`: the traveller's link. `resume`: the plan was resumed. `extend`: the plan was extended." => CheckInBy;
    "PlanDeadlineKind", "Why a check-in is expected. `interval`: the interval since the last check-in. `time`: a time of day. `waypoint`: the \
     time of a waypoint. `arrival`: the expected arrival, which is met only by ending or extending the plan." => DeadlineKind;
    "PlanStep", "Step after a missed check-in. `nudge`: the check-in is missed, and the travellers are asked. `warning`: the alert \
     `CheckInMissed`. `alarm`: the critical alert `PlanOverdue`." => LadderStep;
    "PlanEventType", "Type of an entry of the timeline of a plan. `started`, `paused`, `resumed`, `extended`, `ended`, `cancelled`, `changed`: \
     what happened to the plan. `checkedIn`: a traveller checked in. `missed`: a check-in was missed. `nudged`: the travellers were asked. \
     `warned`: the alert `CheckInMissed` was raised. `alarmed`: the alert `PlanOverdue` was raised. `resolved`: the missed check-in is \
     settled. `withdrawn`: data from before the deadline arrived late, so no check-in was missed." => PlanEventKind;
}

pub(super) type KindName = Word<PlanKind>;
pub(super) type StateName = Word<PlanState>;
pub(super) type ByName = Word<CheckInBy>;
pub(super) type DeadlineName = Word<DeadlineKind>;
pub(super) type StepName = Word<LadderStep>;
pub(super) type EventName = Word<PlanEventKind>;

/// A plan of a voyage, a shift or a hike, with its check-ins.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Plan)]
#[expect(clippy::struct_excessive_bools, reason = "each is a member of its own in JSON")]
pub struct PlanView {
    /// Unique identifier of the plan, assigned by the server. It never changes.
    #[schema(example = "pln_01jc2m8k4n5p6")]
    id: String,
    /// State of the plan.
    #[schema(value_type = StateName, example = "active")]
    state: &'static str,
    /// Name of the plan. It is also the text of its alerts.
    #[schema(example = "Vigo to Horta")]
    name: String,
    /// What the plan is about.
    #[schema(value_type = KindName, example = "voyage")]
    kind: &'static str,
    /// Free text about the plan. Null if not set.
    #[schema(example = "With a stop in Leixões if the wind allows")]
    description: Option<String>,
    /// Whether the plan is a template: it is only copied and never started.
    #[schema(example = false)]
    template: bool,
    /// IDs of the devices whose texts and locations count. Alerts are about the first.
    #[schema(example = json!(["dev_01jc2m8k4n5p7"]))]
    devices: Vec<String>,
    /// People who travel.
    travellers: Vec<TravellerView>,
    /// Who is warned of a missed check-in, in addition to the routing of the first device, its groups or the account. Null for nobody
    /// else.
    notify: Option<RuleThenView>,
    /// Vessel or vehicle. Null if there is none.
    craft: Option<CraftView>,
    /// Points of the route.
    waypoints: Vec<WaypointView>,
    /// Planned start. Null if it is not known.
    #[schema(example = "2026-05-01T08:00:00Z", format = DateTime)]
    start: Option<String>,
    /// Whether the plan starts by itself at `start`.
    #[schema(example = false)]
    auto_start: bool,
    /// Time until which the plan must be ended or extended. Null for no such time.
    #[schema(example = "2026-05-08T18:00:00Z", format = DateTime)]
    expected_arrival: Option<String>,
    /// Whether a location near the last waypoint ends the plan.
    #[schema(example = false)]
    end_at_destination: bool,
    /// Time zone of the times of day. Null for the time zone of the account.
    #[schema(example = "Europe/Madrid")]
    time_zone: Option<String>,
    /// When check-ins are expected, and what counts as one.
    check_ins: PlanCheckInsView,
    /// Minutes that a check-in may be late.
    #[schema(example = 15, minimum = 0)]
    grace_minutes: u32,
    /// Minutes before a fixed time from which a check-in counts for it.
    #[schema(example = 60, minimum = 0)]
    early_minutes: u32,
    /// Whether the travellers are asked to check in when a check-in is missed.
    #[schema(example = true)]
    nudge: bool,
    /// Minutes after a check-in is missed until the alert `CheckInMissed`.
    #[schema(example = 15, minimum = 0)]
    warn_minutes: u32,
    /// Minutes after a check-in is missed until the critical alert `PlanOverdue`.
    #[schema(example = 45, minimum = 0)]
    alarm_minutes: u32,
    /// Words by which travellers steer the plan. Null for the built-in ones.
    words: Option<PlanWordsView>,
    /// Time at which the plan was started the last time. Null if it was not.
    #[schema(example = "2026-05-01T08:00:00Z", format = DateTime)]
    started_at: Option<String>,
    /// Time at which the plan was ended or cancelled. Null if it was not.
    #[schema(example = json!(null), format = DateTime)]
    ended_at: Option<String>,
    /// Time at which a paused plan resumes by itself. Null if it does not.
    #[schema(example = json!(null), format = DateTime)]
    paused_until: Option<String>,
    /// Last check-in. Null if the plan was not started.
    last_check_in: Option<PlanCheckInView>,
    /// Next check-in that is expected. Null if none is.
    next: Option<PlanDeadlineView>,
    /// Check-in that is missed now. Null if none is.
    missed: Option<PlanMissedView>,
    /// IDs of the alerts of the check-in that is missed now.
    #[schema(example = json!([]))]
    alert_ids: Vec<String>,
    /// Time at which the plan was created.
    #[schema(example = "2026-05-01T07:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which the settings of the plan were last changed.
    #[schema(example = "2026-05-01T07:00:00Z", format = DateTime)]
    last_modified: String,
}

/// Person who travels.
#[derive(Serialize, ToSchema)]
#[schema(as = Traveller)]
pub(super) struct TravellerView {
    /// Name of the person.
    #[schema(example = "Ana Castro")]
    name: String,
    /// Telephone number. Null if not set.
    #[schema(example = "+34600123456")]
    phone: Option<String>,
    /// E-mail address. Null if not set.
    #[schema(example = "ana@example.com")]
    email: Option<String>,
    /// Language of messages to the person.
    #[schema(example = "es")]
    language: String,
    /// Note for the rescue service. Null if not set.
    #[schema(example = "Diabetic")]
    note: Option<String>,
}

/// Vessel or vehicle.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Craft)]
pub(super) struct CraftView {
    /// Name. Null if not set.
    #[schema(example = "Northern Star")]
    name: Option<String>,
    /// Type. Null if not set.
    #[serde(rename = "type")]
    #[schema(example = "Sailing yacht, 11 m")]
    kind: Option<String>,
    /// Description. Null if not set.
    #[schema(example = "White hull, blue stripe")]
    description: Option<String>,
    /// Equipment for emergencies. Null if not set.
    #[schema(example = "Life raft for 6, EPIRB, VHF")]
    equipment: Option<String>,
    /// Colour. Null if not set.
    #[schema(example = "white")]
    colour: Option<String>,
    /// Radio call sign. Null if not set.
    #[schema(example = "EA1234")]
    call_sign: Option<String>,
    /// Maritime Mobile Service Identity. Null if not set.
    #[schema(example = "224123456")]
    mmsi: Option<String>,
    /// ID of the device whose photo shows it. Null for none.
    #[schema(example = json!(null))]
    photo_device: Option<String>,
}

/// Point of the route of a plan.
#[derive(Serialize, ToSchema)]
#[schema(as = Waypoint)]
pub(super) struct WaypointView {
    /// Name of the place. Null if not set.
    #[schema(example = "Leixões")]
    name: Option<String>,
    /// Latitude in degrees (WGS 84), positive to the north.
    #[schema(value_type = f64, example = 41.1825, minimum = -90, maximum = 90)]
    latitude: Degrees,
    /// Longitude in degrees (WGS 84), positive to the east.
    #[schema(value_type = f64, example = -8.7033, minimum = -180, maximum = 180)]
    longitude: Degrees,
    /// Time until which a check-in is expected. Null for none.
    #[schema(example = "2026-05-02T18:00:00Z", format = DateTime)]
    time: Option<String>,
    /// Radius in metres. Null for 500.
    #[schema(example = 1000, minimum = 10)]
    radius: Option<u32>,
}

/// When check-ins of a plan are expected, and what counts as one.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanCheckIns)]
pub(super) struct PlanCheckInsView {
    /// Maximum time between two check-ins, in minutes. Null for no interval.
    #[schema(example = 720, minimum = 5)]
    every_minutes: Option<u32>,
    /// Times of day until which a check-in is expected, sorted.
    #[schema(example = json!(["08:00", "18:00"]))]
    times: Vec<String>,
    /// What counts as a check-in, besides the buttons.
    by: PlanCheckInSourcesView,
}

/// What counts as a check-in of a plan, besides the buttons.
#[derive(Serialize, ToSchema)]
#[schema(as = PlanCheckInSources)]
pub(super) struct PlanCheckInSourcesView {
    /// Whether any text of a device counts.
    #[schema(example = true)]
    message: bool,
    /// Whether any location that is not suspect counts.
    #[schema(example = true)]
    location: bool,
    /// Whether a text that begins with one of the words for a check-in counts.
    #[schema(example = true)]
    words: bool,
    /// IDs of geofences: a location inside one of them counts.
    #[schema(example = json!([]))]
    geofences: Vec<String>,
}

/// Words by which travellers steer a plan; null for the built-in ones.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanWords)]
pub(super) struct PlanWordsView {
    /// Words with which a text of a check-in begins. Null for the built-in ones.
    #[schema(example = json!(["ok"]))]
    check_in: Option<Vec<String>>,
    /// Words that end the plan. Null for the built-in ones.
    #[schema(example = json!(null))]
    end: Option<Vec<String>>,
    /// Words that pause the plan. Null for the built-in ones.
    #[schema(example = json!(null))]
    pause: Option<Vec<String>>,
    /// Words that resume the plan. Null for the built-in ones.
    #[schema(example = json!(null))]
    resume: Option<Vec<String>>,
    /// Words that extend the plan. Null for the built-in ones.
    #[schema(example = json!(null))]
    extend: Option<Vec<String>>,
}

/// Check-in of a plan.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanCheckIn)]
pub(super) struct PlanCheckInView {
    /// Time of the check-in, by the clock of the device if it was one.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    date_time: String,
    /// What the check-in was.
    #[schema(value_type = ByName, example = "location")]
    by: &'static str,
    /// ID of the device that sent it. Null if none did.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: Option<String>,
    /// Latitude of the device, in degrees. Null if it is not known.
    #[schema(value_type = Option<f64>, example = 42.2406)]
    latitude: Option<Degrees>,
    /// Longitude of the device, in degrees. Null if it is not known.
    #[schema(value_type = Option<f64>, example = -8.7207)]
    longitude: Option<Degrees>,
    /// Text of the device, or note of a person. Null if there is none.
    #[schema(example = json!(null))]
    text: Option<String>,
}

/// Check-in that is expected.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanDeadline)]
pub(super) struct PlanDeadlineView {
    /// Time until which it is expected, without grace.
    #[schema(example = "2026-05-01T18:00:00Z", format = DateTime)]
    at: String,
    /// Why it is expected.
    #[schema(value_type = DeadlineName, example = "time")]
    of: &'static str,
    /// Index of the waypoint, from 0. Null if it is none.
    #[schema(example = json!(null), minimum = 0)]
    waypoint: Option<u16>,
    /// Time at which the critical alert is raised if it does not come.
    #[schema(example = "2026-05-01T19:00:00Z", format = DateTime)]
    alarm_at: String,
}

/// Check-in that is missed.
#[derive(Serialize, ToSchema)]
#[schema(as = PlanMissed)]
pub(super) struct PlanMissedView {
    /// Time until which it was expected, without grace.
    #[schema(example = "2026-05-01T18:00:00Z", format = DateTime)]
    at: String,
    /// Why it was expected.
    #[schema(value_type = DeadlineName, example = "time")]
    of: &'static str,
    /// Index of the waypoint, from 0. Null if it is none.
    #[schema(example = json!(null), minimum = 0)]
    waypoint: Option<u16>,
    /// Last step that was taken.
    #[schema(value_type = StepName, example = "nudge")]
    step: &'static str,
    /// Times of the steps.
    steps: PlanStepsView,
}

/// Times of the steps after a missed check-in.
#[derive(Serialize, ToSchema)]
#[schema(as = PlanSteps)]
pub(super) struct PlanStepsView {
    /// Time at which the check-in counted as missed and the travellers were asked. Null if they are not asked.
    #[schema(example = "2026-05-01T18:15:00Z", format = DateTime)]
    nudge: Option<String>,
    /// Earliest time of the alert `CheckInMissed`.
    #[schema(example = "2026-05-01T18:30:00Z", format = DateTime)]
    warning: Option<String>,
    /// Earliest time of the critical alert `PlanOverdue`.
    #[schema(example = "2026-05-01T19:00:00Z", format = DateTime)]
    alarm: Option<String>,
}

/// Entry of the timeline of a plan.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanEvent)]
pub(super) struct PlanEventView {
    /// Unique identifier of the entry, assigned by the server.
    #[schema(example = "ple_01jc2m8k4n5p6")]
    id: String,
    /// Time at which it happened.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    date_time: String,
    /// Type of the entry.
    #[serde(rename = "type")]
    #[schema(value_type = EventName, example = "checkedIn")]
    kind: &'static str,
    /// What a check-in was. Null if it is none.
    #[schema(value_type = Option<ByName>, example = "location")]
    by: Option<&'static str>,
    /// ID of the device that it came from. Null if none.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: Option<String>,
    /// Latitude of the device, in degrees. Null if it is not known.
    #[schema(value_type = Option<f64>, example = 42.2406)]
    latitude: Option<Degrees>,
    /// Longitude of the device, in degrees. Null if it is not known.
    #[schema(value_type = Option<f64>, example = -8.7207)]
    longitude: Option<Degrees>,
    /// Text of the device, or note of a person. Null if there is none.
    #[schema(example = json!(null))]
    text: Option<String>,
    /// ID of the user who did it. Null if no user did.
    #[schema(example = json!(null))]
    user_id: Option<String>,
    /// Minutes of a pause or an extension. Null if it is none, or without an end.
    #[schema(example = json!(null))]
    minutes: Option<u32>,
    /// Why the missed check-in was expected. Null if it is about none.
    #[schema(value_type = Option<DeadlineName>, example = json!(null))]
    of: Option<&'static str>,
    /// Time until which the missed check-in was expected. Null if it is about none.
    #[schema(example = json!(null), format = DateTime)]
    deadline: Option<String>,
    /// ID of the alert that was raised. Null if none was.
    #[schema(example = json!(null))]
    alert_id: Option<String>,
}

list! {
    /// A list of entries of the timeline of a plan.
    pub(super) struct PlanEventList;
    /// Entries of the timeline, oldest first.
    events: PlanEventView,
}

fn degrees(position: Option<(Latitude, Longitude)>) -> (Option<Degrees>, Option<Degrees>) {
    position.map(|(latitude, longitude)| (Degrees::from(latitude), Degrees::from(longitude))).unzip()
}

impl From<PlanEvent> for PlanEventView {
    fn from(event: PlanEvent) -> Self {
        let (latitude, longitude) = degrees(event.position);
        Self {
            id: event.id.to_string(),
            date_time: event.at.to_string(),
            kind: event.kind.name(),
            by: event.by.map(CheckInBy::name),
            device_id: event.device.map(|device| device.to_string()),
            latitude,
            longitude,
            text: event.text,
            user_id: event.user.map(|user| user.to_string()),
            minutes: event.minutes,
            of: event.of.map(DeadlineKind::name),
            deadline: event.deadline.map(|at| at.to_string()),
            alert_id: event.alert.map(|alert| alert.to_string()),
        }
    }
}

impl From<CheckIn> for PlanCheckInView {
    fn from(check_in: CheckIn) -> Self {
        let (latitude, longitude) = degrees(check_in.position);
        Self {
            date_time: check_in.at.to_string(),
            by: check_in.by.name(),
            device_id: check_in.device.map(|device| device.to_string()),
            latitude,
            longitude,
            text: check_in.text,
        }
    }
}

impl From<Traveller> for TravellerView {
    fn from(traveller: Traveller) -> Self {
        Self {
            name: traveller.name,
            phone: traveller.phone.map(|phone| phone.as_str().to_owned()),
            email: traveller.email.map(|email| email.as_str().to_owned()),
            language: traveller.language.as_str().to_owned(),
            note: traveller.note,
        }
    }
}

impl From<Craft> for CraftView {
    fn from(craft: Craft) -> Self {
        Self {
            name: craft.name,
            kind: craft.kind,
            description: craft.description,
            equipment: craft.equipment,
            colour: craft.colour,
            call_sign: craft.call_sign,
            mmsi: craft.mmsi,
            photo_device: craft.photo_device.map(|device| device.to_string()),
        }
    }
}

impl From<Waypoint> for WaypointView {
    fn from(waypoint: Waypoint) -> Self {
        Self {
            name: waypoint.name,
            latitude: Degrees::from(waypoint.position.0),
            longitude: Degrees::from(waypoint.position.1),
            time: waypoint.time.map(|at| at.to_string()),
            radius: waypoint.radius_m,
        }
    }
}

impl From<PlanWords> for PlanWordsView {
    fn from(words: PlanWords) -> Self {
        let PlanWords { check_in, end, pause, resume, extend } = words;
        Self { check_in, end, pause, resume, extend }
    }
}

impl PlanDeadlineView {
    pub(super) fn of(plan: &Plan, deadline: Deadline) -> Self {
        let alarm_ms = i64::from(plan.settings.grace.alarm_minutes) * 60_000;
        Self {
            at: deadline.at.to_string(),
            of: deadline.kind.name(),
            waypoint: deadline.waypoint,
            alarm_at: plan.missed_from(deadline).plus_millis(alarm_ms).to_string(),
        }
    }
}

impl PlanMissedView {
    pub(super) fn of(plan: &Plan, missed: &Missed) -> Self {
        let grace = &plan.settings.grace;
        let at = |minutes: u32| missed.since.plus_millis(i64::from(minutes) * 60_000);
        let next = plan.next_step();
        let time = |step, minutes| {
            let next = next.filter(|(next, _)| *next == step).map(|(_, at)| at);
            Some(next.unwrap_or_else(|| at(minutes)).to_string())
        };
        Self {
            at: missed.deadline.at.to_string(),
            of: missed.deadline.kind.name(),
            waypoint: missed.deadline.waypoint,
            step: missed.step.name(),
            steps: PlanStepsView {
                nudge: grace.nudges.then(|| missed.since.to_string()),
                warning: time(LadderStep::Warning, grace.warn_minutes),
                alarm: time(LadderStep::Alarm, grace.alarm_minutes),
            },
        }
    }
}

impl PlanView {
    /// A plan of an account with this time zone.
    pub(super) fn of(plan: Plan, zone: &Zone) -> Self {
        let next = plan.next_deadline(zone).map(|deadline| PlanDeadlineView::of(&plan, deadline));
        let missed = plan.progress.missed.as_ref().map(|missed| PlanMissedView::of(&plan, missed));
        let Plan { id, settings, progress, creation, last_modified, .. } = plan;
        let alerts = progress.missed.iter().flat_map(|missed| &missed.alerts);
        let alert_ids = alerts.map(AlertId::to_string).collect();
        let (rules, grace) = (settings.check_ins, settings.grace);
        Self {
            id: id.to_string(),
            state: progress.state.name(),
            name: settings.name,
            kind: settings.kind.name(),
            description: settings.description,
            template: settings.is_template,
            devices: settings.devices.iter().map(DeviceId::to_string).collect(),
            travellers: settings.travellers.into_iter().map(TravellerView::from).collect(),
            notify: settings.notify.map(RuleThenView::from),
            craft: settings.craft.map(CraftView::from),
            waypoints: settings.waypoints.into_iter().map(WaypointView::from).collect(),
            start: settings.start.map(|at| at.to_string()),
            auto_start: settings.starts_itself,
            expected_arrival: settings.expected_arrival.map(|at| at.to_string()),
            end_at_destination: settings.ends_at_destination,
            time_zone: settings.time_zone.map(|zone| zone.id().to_owned()),
            check_ins: PlanCheckInsView {
                every_minutes: rules.every_minutes,
                times: rules.times.iter().map(ClockTime::to_string).collect(),
                by: PlanCheckInSourcesView {
                    message: rules.by.message,
                    location: rules.by.location,
                    words: rules.by.words,
                    geofences: rules.by.geofences.iter().map(GeofenceId::to_string).collect(),
                },
            },
            grace_minutes: grace.minutes,
            early_minutes: grace.early_minutes,
            nudge: grace.nudges,
            warn_minutes: grace.warn_minutes,
            alarm_minutes: grace.alarm_minutes,
            words: (settings.words != PlanWords::default()).then(|| PlanWordsView::from(settings.words)),
            started_at: progress.started.map(|at| at.to_string()),
            ended_at: progress.ended.map(|at| at.to_string()),
            paused_until: progress.paused_until.map(|at| at.to_string()),
            last_check_in: progress.last.map(PlanCheckInView::from),
            next,
            missed,
            alert_ids,
            creation: creation.to_string(),
            last_modified: last_modified.to_string(),
        }
    }
}
