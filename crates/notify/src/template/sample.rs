//! Sample data for checking and previewing templates.

use perigee_core::alerts::severity::Severity;
use perigee_core::day::Date;
use perigee_core::locations::location::{Latitude, Longitude};
use perigee_core::locations::place::Form;
use perigee_core::notifications::notification::Channel;
use perigee_core::notifications::overview::{Frequency, GroupTotals, Overview, Period, Totals};
use perigee_core::notifications::routing::Units;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use super::facts::{Alert, Detail, Device, Facts, Limit, Named, Position, Sender, map_url, place_in_words};
use super::kind::Topic;
use super::report::Report;
use super::words::{supported_language, words};

/// Sample data: a vessel with an SOS, a device that reached its limit, or a week of a fleet.
pub fn sample(
    topic: Topic,
    channel: Channel,
    language: &str,
    units: Units,
    zone: Zone,
    base_url: &str,
) -> Facts {
    let words = words(language);
    let place = |form| {
        let at = (Latitude::from_e7(413_850_600), Longitude::from_e7(21_734_000));
        place_in_words(at, language, units, form).filter(|_| topic == Topic::Alert)
    };
    let position = Position {
        latitude: 41.385_06,
        longitude: 2.173_4,
        map_url: map_url((41.385_06, 2.173_4)),
        time: "2026-05-01T12:00:00Z".to_owned(),
        is_last: true,
        speed: Some(22.2),
        course: Some(135.0),
        altitude: Some(2.0),
        temperature: Some(18.5),
        battery: Some(87.0),
        fuel: Some(64.0),
        mileage: Some(1_204.6),
    };
    let alert = Alert {
        id: "alr_0000000000001".to_owned(),
        name: "SOSButton".to_owned(),
        title: words.alert.get("SOSButton").cloned().unwrap_or_default(),
        text: Some("Button held for 3 s".to_owned()),
        time: "2026-05-01T12:00:04Z".to_owned(),
        critical: true,
        severity: Severity::Critical.name(),
        severity_name: words.label.get(Severity::Critical.name()).cloned().unwrap_or_default(),
        attributes: [("button".to_owned(), Detail::Integer(1))].into(),
        url: format!("{base_url}/alerts/alr_0000000000001"),
        step: 0,
    };
    Facts {
        account: Sender::new("Harbour fleet".to_owned(), None, false),
        recipient: Named { name: "Ana".to_owned() },
        device: Device {
            id: "dev_0000000000001".to_owned(),
            name: "Sea Otter <7>".to_owned(),
            identifier: Some("300434060000007".to_owned()),
        },
        position: (topic == Topic::Alert).then_some(position),
        place: place(Form::Full),
        short_place: place(Form::Short),
        alert: if topic == Topic::Alert { alert } else { Alert::default() },
        limit: Limit { channel: if topic == Topic::Limit { Channel::SMS.name() } else { "" } },
        overview: if topic == Topic::Overview { Report::of(&week(), language) } else { Report::default() },
        channel: channel.name(),
        base_url: base_url.to_owned(),
        acknowledge_url: (topic == Topic::Alert).then(|| format!("{base_url}/a/AAAAAAAAAAcAAAAAAAAACQG")),
        has_map: false,
        created: "2026-05-01T12:00:05Z".to_owned(),
        language: supported_language(language),
        label: &words.label,
        units_name: units.name(),
        units,
        zone_id: zone.id().to_owned(),
        zone,
    }
}

fn week() -> Overview {
    let group = |name: Option<&str>, devices, metres, silent_names: &[&str]| GroupTotals {
        name: name.map(str::to_owned),
        figures: Totals {
            devices,
            metres,
            alerts: devices,
            critical: 1,
            suppressed: 3,
            silent: u64::try_from(silent_names.len()).unwrap_or_default(),
            silent_names: silent_names.iter().map(|name| (*name).to_owned()).collect(),
        },
    };
    let period = Period {
        first: Date::new(2026, 4, 27).unwrap_or(Date::MIN),
        last: Date::new(2026, 5, 3).unwrap_or(Date::MIN),
        begins: Timestamp::from_millis(1_777_248_000_000),
        ends: Timestamp::from_millis(1_777_852_800_000),
    };
    Overview {
        frequency: Frequency::Weekly,
        period,
        total: group(None, 15, 4_812_400, &["Sea Otter <7>"]).figures,
        groups: vec![
            group(Some("Trawlers & tugs"), 12, 4_100_100, &["Sea Otter <7>"]),
            group(None, 3, 712_300, &[]),
        ],
        more_groups: 0,
    }
}
