//! The bodies of plans and of actions on them.

use perigee_core::id::{DeviceId, GeofenceId};
use perigee_core::locations::location::{Latitude, Longitude};
use perigee_core::notifications::phone::PhoneNumber;
use perigee_core::notifications::routing::Language;
use perigee_core::plans::{
    CheckInRules, CheckInSources, ClockTime, Craft, Grace, PlanKind, PlanSettings, PlanWords, Traveller,
    Waypoint,
};
use perigee_core::text::{Description, Lines, Name, OptionalName, SHORT_MAX, ShortText};
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::http::edit::Mode;
use crate::http::input::{
    EmailAddress, Instant, List, Member, Object, Objects, Part, Set, Whole, Word, parsed_kinds, read_fields,
    text, words,
};
use crate::http::json::{Field, Fields, FromJson, Refusal};
use crate::http::prelude::*;
use crate::http::routes::locations::{latitude, longitude};
use crate::http::routes::notifications::alert_routing::input::RuleThenInput;

const NOTE_MAX: usize = PlanSettings::NOTE_MAX;
const EXTEND_MAX: u32 = PlanSettings::EXTEND_MAX;

words! {
    "PlanKind", "What a plan is about. `voyage`: a voyage of a vessel. `shift`: a shift of a person who works alone. `hike`: a hike or \
     another tour on land. `work`: work at a place. `other`: anything else." => PlanKind;
}

parsed_kinds! {
    /// A telephone number in international form.
    pub(super) Phone => PhoneNumber, "a telephone number in international form such as +34600123456", {
        text(5, SHORT_MAX, |text| text.pattern(Some("^[+][0-9]+$")))
    };
    /// The tag of a language.
    pub(super) Tag => Language, "a language tag such as en or pt-BR", {
        text(2, Language::CHARS_MAX, |text| text.pattern(Some("^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")))
    };
}

impl FromJson for ClockTime {
    fn from_json(value: &Value) -> Result<Self, Refusal> {
        let text = String::from_json(value)?;
        text.parse().map_err(|_unreadable| "must be a time of day such as 18:00".into())
    }
}

impl Member for ClockTime {
    type Value = Self;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Self> {
        fields.get(name)
    }

    fn schema() -> RefOr<Schema> {
        text(5, 5, |text| text.pattern(Some("^([01][0-9]|2[0-3]):[0-5][0-9]$")))
    }
}

fn degrees(limit: i32) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::Number)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Double)))
        .minimum(Some(-limit))
        .maximum(Some(limit))
        .into()
}

/// Degrees north.
#[derive(Debug)]
pub(super) enum North {}

impl Member for North {
    type Value = Latitude;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Latitude> {
        fields.number(name).convert(latitude)
    }

    fn schema() -> RefOr<Schema> {
        degrees(90)
    }
}

/// Degrees east.
#[derive(Debug)]
pub(super) enum East {}

impl Member for East {
    type Value = Longitude;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Longitude> {
        fields.number(name).convert(longitude)
    }

    fn schema() -> RefOr<Schema> {
        degrees(180)
    }
}

input! {
    /// Settings of a plan.
    pub(super) struct PlanInput {
        /// Name of the plan. It is also the text of its alerts.
        name: Name, required, example "Vigo to Horta";
        /// What the plan is about. Default: `other`.
        kind: Word<PlanKind>, nullable, example "voyage";
        /// Free text about the plan. Null for none.
        description: Description, nullable, example "With a stop in Leixões if the wind allows";
        /// Whether the plan is a template: it is only copied and never started. Default: false.
        template: bool, or(false), example false;
        /// IDs of the devices whose texts and locations count. Names and identifiers are accepted too. Alerts are about the first.
        devices: Set<DeviceId, 0, { PlanSettings::DEVICES_MAX }>, required, example ["dev_01jc2m8k4n5p7"];
        /// People who travel. Default: none.
        travellers: Objects<TravellerInput, 0, { PlanSettings::TRAVELLERS_MAX }>, nullable;
        /// Who is warned of a missed check-in, in addition to the routing of the first device, its groups or the account. Null for
        /// nobody else.
        notify: Object<RuleThenInput>, nullable;
        /// Vessel or vehicle, for the rescue service. Null if there is none.
        craft: Object<CraftInput>, nullable;
        /// Points of the route. Default: none.
        waypoints: Objects<WaypointInput, 0, { PlanSettings::WAYPOINTS_MAX }>, nullable;
        /// Planned start. A plan starts by `POST /api/plans/{planId}/start`, unless `autoStart` is true. Null if it is not known.
        start: Instant, nullable, example "2026-05-01T08:00:00Z";
        /// Whether the plan starts by itself at `start`. Default: false.
        auto_start as "autoStart": bool, or(false), example false;
        /// Time until which the plan must be ended or extended. Null for no such time.
        expected_arrival as "expectedArrival": Instant, nullable, example "2026-05-08T18:00:00Z";
        /// Whether a location near the last waypoint ends the plan. Default: false.
        end_at_destination as "endAtDestination": bool, or(false), example false;
        /// Time zone of `times` in `checkIns`, as an IANA name. Null for the time zone of the account.
        time_zone as "timeZone": Zone, nullable, example "Europe/Madrid";
        /// When check-ins are expected, and what counts as one. Default: only those of waypoints and the arrival; texts and locations
        /// count.
        check_ins as "checkIns": Object<PlanCheckInsInput>, nullable;
        /// Minutes that a check-in may be late. The usual delay of the devices is added. Default: 15.
        grace_minutes as "graceMinutes": Whole<0, { PlanSettings::GRACE_MAX }>, or(15), example 15;
        /// Minutes before a time of `times` or of a waypoint from which a check-in counts for it. Default: 60.
        early_minutes as "earlyMinutes": Whole<0, { PlanSettings::GRACE_MAX }>, or(60), example 60;
        /// Whether the travellers are asked to check in when a check-in is missed: on their devices, by e-mail and by SMS. Default:
        /// true.
        nudge: bool, or(true), example true;
        /// Minutes after a check-in is missed until the alert `CheckInMissed`. Default: 15.
        warn_minutes as "warnMinutes": Whole<0, { PlanSettings::GRACE_MAX }>, or(15), example 15;
        /// Minutes after a check-in is missed until the critical alert `PlanOverdue`; not less than `warnMinutes`. Default: 45.
        alarm_minutes as "alarmMinutes": Whole<0, { PlanSettings::ALARM_MAX }>, or(45), example 45;
        /// Words by which travellers steer the plan in texts of their devices. Null for the built-in words of all languages.
        words: Object<PlanWordsInput>, nullable;
    }
}

input! {
    /// Person who travels.
    pub(super) struct TravellerInput {
        /// Name of the person.
        name: Name, required, example "Ana Castro";
        /// Telephone number in international form, to which an SMS is sent when a check-in is missed. Null for none.
        phone: Phone, nullable, example "+34600123456";
        /// E-mail address to which a message is sent when a check-in is missed. Null for none.
        email: EmailAddress, nullable, example "ana@example.com";
        /// Language of messages to the person, as a tag. Default: `en`.
        language: Tag, nullable, example "es";
        /// Note for the rescue service, such as medication and experience. Null for none.
        note: Lines<0, NOTE_MAX>, nullable, example "Diabetic";
    }
}

input! {
    /// Vessel or vehicle, as the rescue service needs it.
    pub(super) struct CraftInput {
        /// Name of the vessel or vehicle. Null if it has none.
        name: OptionalName, nullable, example "Northern Star";
        /// Type of the vessel or vehicle. Null if it is not known.
        kind as "type": ShortText, nullable, example "Sailing yacht, 11 m";
        /// Description. Null for none.
        description: Description, nullable, example "White hull, blue stripe";
        /// Equipment for emergencies. Null if it is not known.
        equipment: Description, nullable, example "Life raft for 6, EPIRB, VHF";
        /// Colour. Null if it is not known.
        colour: ShortText, nullable, example "white";
        /// Radio call sign. Null if it has none.
        call_sign as "callSign": ShortText, nullable, example "EA1234";
        /// Maritime Mobile Service Identity. Null if it has none.
        mmsi: ShortText, nullable, example "224123456";
        /// Device of the plan whose photo shows it, by ID. Null for none.
        photo_device as "photoDevice": DeviceId, nullable, example null;
    }
}

input! {
    /// Point of the route of a plan.
    pub(super) struct WaypointInput {
        /// Name of the place. Null for none.
        name: OptionalName, nullable, example "Leixões";
        /// Latitude in degrees (WGS 84), positive to the north.
        latitude: North, required, example 41.1825;
        /// Longitude in degrees (WGS 84), positive to the east.
        longitude: East, required, example (-8.7033);
        /// Time until which a check-in is expected. Null for none.
        time: Instant, nullable, example "2026-05-02T18:00:00Z";
        /// Radius in metres: a location within it is a check-in at the waypoint, if it has a `time`. Null for 500.
        radius: Whole<10, 50_000>, nullable, example 1000;
    }
}

input! {
    /// When check-ins of a plan are expected, and what counts as one.
    pub(super) struct PlanCheckInsInput {
        /// Maximum time between two check-ins, in minutes. Null for no interval.
        every_minutes as "everyMinutes": Whole<{ PlanSettings::EVERY_MIN }, { PlanSettings::EVERY_MAX }>, nullable, example 720;
        /// Times of day until which a check-in is expected, in the time zone of the plan. Default: none.
        times: Set<ClockTime, 0, { PlanSettings::TIMES_MAX }>, nullable, example ["08:00", "18:00"];
        /// What counts as a check-in, besides the buttons. Default: texts, locations and words.
        by: Object<PlanCheckInSourcesInput>, nullable;
    }
}

input! {
    /// What counts as a check-in of a plan, besides the buttons of the console and of the traveller's link.
    pub(super) struct PlanCheckInSourcesInput {
        /// Whether any text of a device counts. Default: true.
        message: bool, or(true), example true;
        /// Whether any location that is not suspect counts. Default: true.
        location: bool, or(true), example true;
        /// Whether a text that begins with one of the words for a check-in counts. Default: true.
        words: bool, or(true), example true;
        /// IDs of geofences: a location inside one of them counts. Default: none.
        geofences: Set<GeofenceId, 0, { PlanSettings::GEOFENCES_MAX }>, nullable, example [];
    }
}

/// Words of one meaning.
type WordList = List<String, 0, { PlanSettings::WORDS_MAX }>;

input! {
    /// Words by which travellers steer a plan in texts of their devices. Upper and lower case, accents and punctuation do not count.
    pub(super) struct PlanWordsInput {
        /// Words with which a text of a check-in begins. Null for the built-in ones, such as `ok`.
        check_in as "checkIn": WordList, nullable, example ["ok"];
        /// Words that end the plan, as the whole text. Null for the built-in ones, such as `end`.
        end: WordList, nullable, example null;
        /// Words that pause the plan, alone or with a time: `pause 2h`. Null for the built-in ones.
        pause: WordList, nullable, example null;
        /// Words that resume the plan, as the whole text. Null for the built-in ones, such as `resume`.
        resume: WordList, nullable, example null;
        /// Words that extend the plan, with a time such as `extend 2h`, or by an hour. Null for the built-in ones.
        extend: WordList, nullable, example null;
    }
}

input! {
    /// Note about an action on a plan.
    pub(super) struct PlanNoteInput {
        /// Note for the timeline of the plan. Null for none.
        note: Lines<0, NOTE_MAX>, nullable, example "Called by telephone: all well";
    }
}

input! {
    /// Length of a pause.
    pub(super) struct PlanPauseInput {
        /// Length of the pause in minutes. Null for until the plan is resumed.
        minutes: Whole<1, EXTEND_MAX>, nullable, example 120;
    }
}

input! {
    /// Length of an extension.
    pub(super) struct PlanExtendInput {
        /// Minutes by which the expected arrival, waypoints that were not reached and the next check-in move.
        minutes: Whole<1, EXTEND_MAX>, required, example 120;
    }
}

input! {
    /// Settings of a copy of a plan.
    pub(super) struct PlanCopyInput {
        /// Name of the copy. Default: the name of the plan.
        name: Name, nullable, example "Vigo to Horta, second voyage";
        /// Whether the copy is a template. Default: false.
        template: bool, or(false), example false;
        /// Start of the copy. The expected arrival and the times of waypoints move with it. Null to keep all times.
        start: Instant, nullable, example "2026-06-01T08:00:00Z";
    }
}

input! {
    /// Traveller's link to be created.
    pub(super) struct PlanLinkInput {
        /// Name of the link, such as that of the traveller. Null for none.
        name: OptionalName, nullable, example "Ana";
        /// Time at which the link expires. Null for as long as the plan exists.
        until: Instant, nullable, example null;
    }
}

fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

impl Part for TravellerInput {
    type Value = Traveller;

    fn make(self, _fields: &mut Fields<'_>) -> Option<Traveller> {
        Some(Traveller {
            name: self.name?,
            phone: self.phone,
            email: self.email,
            language: self.language.unwrap_or_default(),
            note: given(self.note),
        })
    }
}

impl Part for CraftInput {
    type Value = Craft;

    fn make(self, _fields: &mut Fields<'_>) -> Option<Craft> {
        Some(Craft {
            name: given(self.name),
            kind: given(self.kind),
            description: given(self.description),
            equipment: given(self.equipment),
            colour: given(self.colour),
            call_sign: given(self.call_sign),
            mmsi: given(self.mmsi),
            photo_device: self.photo_device,
        })
    }
}

impl Part for WaypointInput {
    type Value = Waypoint;

    fn make(self, _fields: &mut Fields<'_>) -> Option<Waypoint> {
        let position = (self.latitude?, self.longitude?);
        Some(Waypoint { name: given(self.name), position, time: self.time, radius_m: self.radius })
    }
}

impl Part for PlanCheckInSourcesInput {
    type Value = CheckInSources;

    fn make(self, _fields: &mut Fields<'_>) -> Option<CheckInSources> {
        let geofences = self.geofences.unwrap_or_default();
        Some(CheckInSources { message: self.message, location: self.location, words: self.words, geofences })
    }
}

impl Part for PlanCheckInsInput {
    type Value = CheckInRules;

    fn make(self, _fields: &mut Fields<'_>) -> Option<CheckInRules> {
        let mut times = self.times.unwrap_or_default();
        times.sort_unstable();
        Some(CheckInRules { every_minutes: self.every_minutes, times, by: self.by.unwrap_or_default() })
    }
}

impl Part for PlanWordsInput {
    type Value = PlanWords;

    fn make(self, fields: &mut Fields<'_>) -> Option<PlanWords> {
        let lists = [
            ("checkIn", &self.check_in),
            ("end", &self.end),
            ("pause", &self.pause),
            ("resume", &self.resume),
            ("extend", &self.extend),
        ];
        for (member, words) in lists {
            let fits = |word: &String| (1..=PlanSettings::WORD_MAX).contains(&word.trim().chars().count());
            if words.as_ref().is_some_and(|words| !words.iter().all(fits)) {
                fields.refuse(member, "must have words of 1 to 50 characters");
            }
        }
        Some(PlanWords {
            check_in: self.check_in,
            end: self.end,
            pause: self.pause,
            resume: self.resume,
            extend: self.extend,
        })
    }
}

/// Members of answers that clients do not set.
const READ_ONLY: &[&str] = &[
    "id",
    "state",
    "startedAt",
    "endedAt",
    "pausedUntil",
    "lastCheckIn",
    "next",
    "missed",
    "alertIds",
    "creation",
    "lastModified",
];
/// The members that name devices.
pub(super) const NAMES: &[(&str, Named)] = &[("devices", Named::Device)];

/// Reads a plan; times without an offset are in the zone of the account.
pub(super) fn read_plan(body: &Value, zone: &Zone, mode: Mode) -> ApiResult<PlanSettings> {
    let fields = Fields::of(body).map_err(invalid_body)?.in_zone(zone);
    read_fields(fields, &[ENVELOPE, READ_ONLY], |input: PlanInput, fields| {
        let devices = input.devices?;
        // A plan whose devices were all deleted can still be changed.
        if devices.is_empty() && mode == Mode::Create {
            fields.refuse("devices", "must name at least one device");
        }
        let waypoints = input.waypoints.unwrap_or_default();
        let times: Vec<Timestamp> = waypoints.iter().filter_map(|waypoint| waypoint.time).collect();
        if !times.is_sorted() {
            fields.refuse("waypoints", "must have ascending times");
        }
        if input.auto_start && input.start.is_none() {
            fields.refuse("start", "is required with \"autoStart\"");
        }
        if let (Some(start), Some(arrival)) = (input.start, input.expected_arrival)
            && arrival <= start
        {
            fields.refuse("expectedArrival", "must be later than \"start\"");
        }
        if input.end_at_destination && waypoints.is_empty() {
            fields.refuse("endAtDestination", "requires a waypoint");
        }
        if input.alarm_minutes < input.warn_minutes {
            fields.refuse("alarmMinutes", "must not be less than \"warnMinutes\"");
        }
        let photo = input.craft.as_ref().and_then(|craft| craft.photo_device);
        if photo.is_some_and(|photo| !devices.contains(&photo)) && mode == Mode::Create {
            fields.refuse("craft", "must have a \"photoDevice\" that is one of \"devices\"");
        }
        Some(PlanSettings {
            name: input.name?,
            kind: input.kind.unwrap_or_default(),
            description: given(input.description),
            is_template: input.template,
            devices,
            travellers: input.travellers.unwrap_or_default(),
            notify: input.notify,
            craft: input.craft,
            waypoints,
            start: input.start,
            starts_itself: input.auto_start,
            expected_arrival: input.expected_arrival,
            ends_at_destination: input.end_at_destination,
            time_zone: input.time_zone,
            check_ins: input.check_ins.unwrap_or_default(),
            grace: Grace {
                minutes: input.grace_minutes,
                early_minutes: input.early_minutes,
                nudges: input.nudge,
                warn_minutes: input.warn_minutes,
                alarm_minutes: input.alarm_minutes,
            },
            words: input.words.unwrap_or_default(),
        })
    })
}
