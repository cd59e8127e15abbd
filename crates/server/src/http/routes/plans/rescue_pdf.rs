//! The printable sheet for a rescue service.

use perigee_core::accounts::account::Account;
use perigee_core::locations::location::{Latitude, Longitude, StoredLocation};
use perigee_core::plans::{Craft, Traveller};
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use perigee_reports::{Sheet, SheetTable};

use super::rescue::Found;

/// Positions of each device on the sheet.
const POSITIONS: usize = 15;

fn clock(at: Timestamp, zone: &Zone) -> String {
    let utc = at.to_jiff().to_zoned(jiff::tz::TimeZone::UTC);
    let local = zone.as_jiff().to_datetime(at.to_jiff());
    format!("{} UTC ({} {})", utc.strftime("%Y-%m-%d %H:%M"), local.strftime("%H:%M"), zone.id())
}

/// Degrees and decimal minutes, as they are read out over the radio, and decimal degrees.
fn position((latitude, longitude): (Latitude, Longitude)) -> String {
    let part = |degrees: f64, letters: [char; 2]| {
        let letter = if degrees < 0.0 { letters[1] } else { letters[0] };
        let thousandths = (degrees.abs() * 60_000.0).round();
        let whole = (thousandths / 60_000.0).floor();
        format!("{whole:02.0}° {:06.3}' {letter}", (thousandths - whole * 60_000.0) / 1_000.0)
    };
    let (north, east) = (latitude.as_degrees(), longitude.as_degrees());
    format!("{}  {}  ({north:.5}, {east:.5})", part(north, ['N', 'S']), part(east, ['E', 'W']))
}

fn table(title: &str, columns: &[(&str, u16)], rows: Vec<Vec<String>>) -> SheetTable {
    let columns = columns.iter().map(|(title, width)| ((*title).to_owned(), *width)).collect();
    SheetTable { title: title.to_owned(), columns, rows }
}

fn travellers(all: &[Traveller]) -> SheetTable {
    let row = |one: &Traveller| {
        let contact = [
            one.phone.as_ref().map(perigee_core::notifications::phone::PhoneNumber::as_str),
            one.email.as_ref().map(perigee_core::text::Email::as_str),
        ];
        let contact = contact.into_iter().flatten().collect::<Vec<_>>().join(", ");
        vec![one.name.clone(), contact, one.note.clone().unwrap_or_default()]
    };
    let columns = [("Name", 20), ("Telephone, e-mail", 30), ("Note", 50)];
    table("People on board or in the group", &columns, all.iter().map(row).collect())
}

fn craft(craft: &Craft) -> SheetTable {
    let facts = [
        ("Name", &craft.name),
        ("Type", &craft.kind),
        ("Colour", &craft.colour),
        ("Call sign", &craft.call_sign),
        ("MMSI", &craft.mmsi),
        ("Description", &craft.description),
        ("Equipment", &craft.equipment),
    ];
    let rows = facts.into_iter().filter_map(|(name, fact)| Some(vec![name.to_owned(), fact.clone()?]));
    table("Vessel or vehicle", &[("", 15), ("", 85)], rows.collect())
}

fn positions(name: &str, identifier: Option<&str>, stored: &[StoredLocation], zone: &Zone) -> SheetTable {
    let row = |stored: &StoredLocation| {
        let (location, readings) = (&stored.location, &stored.location.readings);
        let knots = readings.speed.map(|speed| format!("{:.1} kn", speed.as_f64() / 1.852));
        let course = readings.course.map(|course| format!("{:.0}°", course.as_f64()));
        vec![
            clock(location.time, zone),
            position((location.latitude, location.longitude)),
            knots.unwrap_or_default(),
            course.unwrap_or_default(),
        ]
    };
    let title = format!("Last positions: {name} {}", identifier.unwrap_or_default());
    let columns = [("Time", 35), ("Position (WGS 84)", 45), ("Speed", 10), ("Course", 10)];
    table(title.trim_end(), &columns, stored.iter().take(POSITIONS).map(row).collect())
}

/// The sheet of a plan.
pub(super) fn sheet(found: &Found, account: &Account, now: Timestamp) -> Sheet {
    let (plan, settings) = (&found.plan, &found.plan.settings);
    let zone = plan.zone(&account.settings.time_zone).clone();
    let progress = &plan.progress;
    let mut lines = vec![format!("State: {}. Contact: {}.", progress.state.name(), account.settings.name)];
    let facts = [
        ("Started", progress.started),
        ("Expected arrival", settings.expected_arrival),
        ("Check-in missed, was due", progress.missed.as_ref().map(|missed| missed.deadline.at)),
    ];
    for (name, at) in facts {
        lines.extend(at.map(|at| format!("{name}: {}", clock(at, &zone))));
    }
    if let Some(last) = &progress.last {
        let place = last.position.map(|at| format!(" at {}", position(at))).unwrap_or_default();
        lines.push(format!("Last sign of life ({}): {}{place}", last.by.name(), clock(last.at, &zone)));
    }
    lines.extend(settings.description.clone());
    let mut tables = vec![travellers(&settings.travellers)];
    tables.extend(settings.craft.as_ref().map(craft));
    for (device, stored) in &found.devices {
        let device = &device.settings;
        tables.push(positions(&device.name, device.identifier.as_deref(), stored, &zone));
    }
    let waypoint = |(waypoint, index): (&perigee_core::plans::Waypoint, u16)| {
        let reached = if progress.reached.contains(&index) { "reached" } else { "" };
        vec![
            (index + 1).to_string(),
            waypoint.name.clone().unwrap_or_default(),
            position(waypoint.position),
            waypoint.time.map(|at| clock(at, &zone)).unwrap_or_default(),
            reached.to_owned(),
        ]
    };
    let columns = [("", 4), ("Waypoint", 22), ("Position (WGS 84)", 38), ("Expected", 28), ("", 8)];
    tables.push(table("Route", &columns, settings.waypoints.iter().zip(0_u16..).map(waypoint).collect()));
    let text = |(at, index, text): &(Timestamp, usize, String)| {
        let device = found.devices.get(*index).map(|(device, _)| device.settings.name.clone());
        vec![clock(*at, &zone), device.unwrap_or_default(), text.clone()]
    };
    let columns = [("Time", 28), ("Device", 18), ("Text", 54)];
    tables.push(table("Last messages", &columns, found.texts.iter().map(text).collect()));
    let title = format!("Information for the rescue service: {}", settings.name);
    Sheet { title, account: account.settings.name.clone(), lines, tables, created: now, zone }
}
