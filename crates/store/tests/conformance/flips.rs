//! Every bit that flips in a state, a last location, an alert or a device is found when it is read; what can be rebuilt is, and
//! nothing that is wrong is given a new checksum.

use perigee_core::alerts::alert::{Alert, StoredAlert};
use perigee_core::devices::device::{Device, DeviceFilter, DeviceRef, DeviceSettings};
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::id::{AlertId, DeviceId};
use perigee_core::locations::location::{
    Attribute, CompactionBudget, LastFilter, Latitude, Longitude, Outcome, StoredLocation,
};
use perigee_core::notifications::notification::Channel;
use perigee_core::page::PageRequest;
use perigee_core::store::{
    Alerts as _, Devices as _, LocationMaintenance as _, Locations as _, Maintenance as _, Metrics as _,
    Reporters as _,
};
use perigee_store::testing::Flip;
use perigee_store::{Engine, Report, Table, repair, verify};

use crate::fixture::{Fixture, Tenant};
use crate::sample::{EVERYTHING, alert, fix, named};

const ALL: CompactionBudget = CompactionBudget { devices: 100, everything: true };
/// Low, middle and high bits of a number or an instant.
const BITS: [u32; 3] = [0, 33, 62];

async fn checked(on: &Fixture) -> Report {
    verify(&on.store, &mut |_progress| {}).await.unwrap()
}

async fn damaged_rows(on: &Fixture) -> u64 {
    on.store.damage_metrics().await.unwrap().passed_over
}

async fn send(on: &Fixture, tenant: &Tenant, device: DeviceId, seconds: std::ops::Range<i64>) {
    let batch = seconds.map(|second| fix(on.now().plus_seconds(second), 1.0)).collect();
    let sent = on.store.store_locations(&tenant.actor(), device, batch).await.unwrap();
    assert!(sent.iter().all(|outcome| *outcome == Outcome::Accepted), "{sent:?}");
}

async fn history(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<StoredLocation> {
    on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap().items
}

/// A device with a chunk, locations in the log alone, a jump that is not believed, and all that a state can hold.
async fn device(on: &Fixture, tenant: &Tenant) -> DeviceId {
    let settings = DeviceSettings { identifier: Some(identifier(tenant)), ..named("one") };
    let device = on.add(tenant, settings).await.id;
    send(on, tenant, device, -2_000..-1_900).await;
    on.store.compact(ALL).await.unwrap();
    send(on, tenant, device, -20..-10).await;
    relearn(on, tenant, device).await;
    device
}

fn identifier(tenant: &Tenant) -> String {
    format!("of {}", tenant.account.id)
}

/// Makes a state hold everything, as the device would by reporting: a jump that is not believed too.
async fn relearn(on: &Fixture, tenant: &Tenant, device: DeviceId) {
    on.clock().advance_seconds(1);
    let jump = fix(on.now(), 60.0);
    on.store.store_locations(&tenant.actor(), device, vec![jump]).await.unwrap();
    let reporter =
        on.store.find_claimed_device(&[identifier(tenant)], CountedClaims::All).await.unwrap().unwrap();
    on.store.set_protocol(&reporter, "gt06").await.unwrap();
    on.store.set_reported_model(&reporter, "GT-1").await.unwrap();
    on.store.set_proposed_zone(&reporter, Some(60)).await.unwrap();
    on.clock().advance_seconds(1);
}

/// The columns of a state, and how each can be damaged.
fn state_columns(engine: Engine) -> Vec<(&'static str, Flip)> {
    let mut flips = vec![
        ("protocol", Flip::Text),
        ("reported_model", Flip::Text),
        ("rhythm", Flip::Bytes),
        ("doubt", Flip::Bytes),
        ("proposed_zone_minutes", Flip::Bit(3)),
    ];
    let mut numbers = vec!["last_seen", "packed_to", "checksum"];
    match engine {
        Engine::Sqlite => numbers.push("observed_to"),
        Engine::Postgres => {
            numbers.extend(["newest_time", "unpacked"]);
            flips.push(("licensed", Flip::Truth));
        }
    }
    flips.extend(numbers.into_iter().flat_map(|column| BITS.map(|bit| (column, Flip::Bit(bit)))));
    flips
}

pub(crate) async fn a_flipped_bit_in_the_state_of_a_device_costs_nothing(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let one = device(&on, &tenant).await;
    let condition = format!("device_id = {}", one.as_i64());
    on.restart().await;
    for (column, flip) in state_columns(on.store.engine()) {
        let (whole, last) = (history(&on, &tenant, one).await, last(&on, &tenant, one).await);
        on.scratch().flip("device_live", column, flip, &condition).await;
        let found = checked(&on).await;
        assert_eq!(found.damaged.len(), 1, "{column} {flip:?}: {:?}", found.damaged);
        let damaged = &found.damaged[0];
        assert_eq!((damaged.table, damaged.device), (Table::DeviceState, Some(one)), "{column} {flip:?}");
        // Nothing that is stored is missing, and nobody is refused.
        assert_eq!(history(&on, &tenant, one).await, whole, "{column} {flip:?}");
        assert_eq!(self::last(&on, &tenant, one).await, last, "{column} {flip:?}");
        let filter = DeviceFilter::default();
        let listed = on.store.list_devices(tenant.scope(), &filter, PageRequest::first(9)).await.unwrap();
        assert_eq!(listed.items.len(), 1, "{column} {flip:?}");
        let repaired = repair(&on.store, on.now(), &mut |_progress| {}).await.unwrap();
        assert!(repaired.after.is_sound(), "{column} {flip:?}: {:?}", repaired.after.damaged);
        assert_eq!(history(&on, &tenant, one).await, whole, "{column} {flip:?}");
        on.clock().advance_seconds(1);
        // Repacked locations exist once, and new ones are stored.
        on.store.compact(ALL).await.unwrap();
        send(&on, &tenant, one, 0..1).await;
        assert_eq!(history(&on, &tenant, one).await.len(), whole.len() + 1, "{column} {flip:?}");
        relearn(&on, &tenant, one).await;
        on.restart().await;
    }
    assert!(checked(&on).await.is_sound());
}

async fn last(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Option<StoredLocation> {
    on.store.find_last_location(tenant.scope(), device).await.unwrap()
}

pub(crate) async fn a_store_opens_with_a_damaged_state_and_rebuilds_it(mut on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let (one, bystander) = (device(&on, &tenant).await, device(&on, &other).await);
    let condition = format!("device_id = {}", one.as_i64());
    on.restart().await;
    for (column, flip) in state_columns(on.store.engine()) {
        let (whole, others) = (history(&on, &tenant, one).await, history(&on, &other, bystander).await);
        on.scratch().flip("device_live", column, flip, &condition).await;
        on.crash().await;
        on.clock().advance_seconds(1);
        send(&on, &tenant, one, 0..1).await;
        send(&on, &other, bystander, 0..1).await;
        assert_eq!(history(&on, &tenant, one).await.len(), whole.len() + 1, "{column} {flip:?}");
        assert_eq!(history(&on, &other, bystander).await.len(), others.len() + 1, "{column} {flip:?}");
        // A count that is wrong is corrected when there is nothing left to pack.
        on.store.compact(ALL).await.unwrap();
        on.store.compact(ALL).await.unwrap();
        if column != "unpacked" {
            assert!(damaged_rows(&on).await >= 1, "{column} {flip:?}");
        }
        relearn(&on, &tenant, one).await;
        on.restart().await;
        let report = checked(&on).await;
        assert!(report.is_sound(), "{column} {flip:?}: {:?}", report.damaged);
    }
}

pub(crate) async fn a_damaged_state_does_not_let_the_log_be_trimmed(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let one = on.add(&tenant, named("one")).await.id;
    send(&on, &tenant, one, -20..0).await;
    let condition = format!("device_id = {}", one.as_i64());
    on.restart().await;
    on.scratch().flip("device_live", "packed_to", Flip::Bit(61), &condition).await;
    on.crash().await;
    on.clock().advance_seconds(30 * 86_400);
    on.store.trim_location_log(1_000).await.unwrap();
    on.crash().await;
    assert_eq!(history(&on, &tenant, one).await.len(), 20, "they are in no chunk");
}

pub(crate) async fn a_flipped_bit_in_a_last_location_is_repaired_from_the_history(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let one = on.add(&tenant, named("one")).await.id;
    send(&on, &tenant, one, -200..0).await;
    on.store.compact(ALL).await.unwrap();
    on.restart().await;
    let whole = last(&on, &tenant, one).await;
    let condition = format!("device_id = {}", one.as_i64());
    let mut flips = vec![("late", Flip::Truth), ("readings", Flip::Bytes)];
    for column in ["number", "time", "received_at", "checksum"] {
        flips.extend(BITS.map(|bit| (column, Flip::Bit(bit))));
    }
    flips.extend(
        ["latitude", "longitude"].into_iter().flat_map(|column| [0, 11].map(|bit| (column, Flip::Bit(bit)))),
    );
    if on.store.engine() == Engine::Sqlite {
        // Out of the range of the type.
        flips.extend([("latitude", Flip::Bit(40)), ("longitude", Flip::Bit(40)), ("late", Flip::Bit(7))]);
    }
    for (column, flip) in flips {
        on.restart().await;
        on.scratch().flip("last_location", column, flip, &condition).await;
        on.crash().await;
        assert_eq!(last(&on, &tenant, one).await, None, "{column} {flip:?}: it is not believed");
        let filter = LastFilter::default();
        let shown = on.store.list_last_locations(tenant.scope(), &filter, PageRequest::first(10)).await;
        assert_eq!(shown.unwrap().items, [], "{column} {flip:?}");
        assert!(damaged_rows(&on).await >= 1, "{column} {flip:?}");
        let found = checked(&on).await;
        assert!(found.damaged.iter().any(|damaged| damaged.table == Table::LastLocation), "{found:?}");
        let repaired = repair(&on.store, on.now(), &mut |_progress| {}).await.unwrap();
        assert!(repaired.after.is_sound(), "{column} {flip:?}: {:?}", repaired.after.damaged);
        assert_eq!(last(&on, &tenant, one).await, whole, "{column} {flip:?}");
        on.clock().advance_seconds(1);
    }
}

/// Checks how readers, `verify` and `repair` treat a damaged row: `read` returns it as readers see it. It is undone if
/// it is in
/// `is_undone`; else it may stay, but then it stays reported.
async fn undone_or_reported<T, F>(
    on: &Fixture,
    (table, condition): (Table, &str),
    flips: Vec<(&'static str, Flip)>,
    must_undo: &[&str],
    read: impl Fn() -> F,
) where
    T: PartialEq + std::fmt::Debug,
    F: Future<Output = T>,
{
    let sound = read().await;
    for (column, flip) in flips {
        assert!(checked(on).await.is_sound(), "before {column} {flip:?}");
        on.scratch().flip(table.name(), column, flip, condition).await;
        let seen = read().await;
        assert!(damaged_rows(on).await >= 1, "{column} {flip:?} is read and not counted");
        let found = checked(on).await;
        assert_eq!(found.damaged.len(), 1, "{column} {flip:?}: {:?}", found.damaged);
        assert_eq!(found.damaged[0].table, table, "{column} {flip:?}");
        let repaired = repair(&on.store, on.now(), &mut |_progress| {}).await.unwrap();
        assert!(
            repaired.set_aside.iter().any(|kept| kept.table == table),
            "{column} {flip:?}: a copy is kept"
        );
        if must_undo.contains(&column) {
            assert_eq!(seen, sound, "{column} {flip:?}: a reader gets what was written");
            assert!(repaired.after.is_sound(), "{column} {flip:?}: {:?}", repaired.after.damaged);
        }
        if repaired.after.is_sound() {
            assert_eq!(read().await, sound, "{column} {flip:?}: sound is only what was written");
        } else {
            on.scratch().flip(table.name(), column, flip, condition).await;
        }
        on.clock().advance_seconds(1);
    }
    assert_eq!(read().await, sound);
}

async fn found_alert(on: &Fixture, tenant: &Tenant, id: AlertId) -> StoredAlert {
    on.store.find_alert(tenant.scope(), id).await.unwrap().unwrap()
}

fn full_alert(on: &Fixture) -> Alert {
    let position = Latitude::from_degrees(1.5).ok().zip(Longitude::from_degrees(2.5).ok());
    let attributes = [("button".to_owned(), Attribute::Text("left".into()))].into();
    Alert { text: Some("Help, Grüße".into()), position, attributes, ..alert(on.now(), "SOSButton") }
}

pub(crate) async fn a_flipped_bit_in_an_alert_is_undone_or_stays_reported(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let one = on.add(&tenant, named("one")).await.id;
    let raised = on.store.store_alerts(&tenant.actor(), one, vec![full_alert(&on)]).await.unwrap();
    on.store.acknowledge_alert(&tenant.actor(), raised[0].1, None).await.unwrap();
    on.clock().advance_seconds(5);
    on.store.end_alert(&tenant.actor(), raised[0].1).await.unwrap();
    let written =
        ["name", "text", "hash", "attributes", "critical", "time", "received_at", "latitude", "severity"];
    let mut flips = vec![
        ("name", Flip::Text),
        ("text", Flip::Text),
        ("hash", Flip::Bytes),
        ("attributes", Flip::Bytes),
        ("critical", Flip::Truth),
        ("severity", Flip::Bit(0)),
        ("latitude", Flip::Bit(7)),
    ];
    for column in ["time", "received_at", "acknowledged_at", "ended_at", "checksum"] {
        flips.extend(BITS.map(|bit| (column, Flip::Bit(bit))));
    }
    let read = || found_alert(&on, &tenant, raised[0].1);
    undone_or_reported(&on, (Table::Alert, "id > 0"), flips, &written, read).await;
}

async fn found(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Device {
    let mut device = on.store.find_device(tenant.scope(), &DeviceRef::Id(device)).await.unwrap().unwrap();
    // The account's day continues while the test runs.
    device.counters.resets_at = device.creation;
    device
}

pub(crate) async fn a_flipped_bit_in_a_device_is_undone_or_stays_reported(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let mut settings = crate::sample::until("Bus 7", "2030-01-02");
    settings.identifier = Some("860000000000001".into());
    settings.description = Some("The öne".into());
    settings.min = Some("8816".into());
    settings.icon = Some("bus".into());
    settings.model = Some("GT-1".into());
    settings.expected_interval_s = Some(60);
    settings.retention_days = Some(400);
    settings.limits.daily = [(Channel::EMAIL, 5), (Channel::SMS, 6)].into();
    let one = on.add(&tenant, settings).await.id;
    let texts = [
        "identifier",
        "identifiers",
        "name",
        "description",
        "min",
        "tags",
        "icon",
        "model",
        "decoding",
        "daily_limits",
        "search",
    ];
    let numbers = ["expected_interval_s", "retention_days", "critical_reserve"];
    let mut flips: Vec<(&'static str, Flip)> = texts.map(|column| (column, Flip::Text)).to_vec();
    flips.push(("expiration_date", Flip::Text));
    flips.extend(numbers.map(|column| (column, Flip::Bit(2))));
    flips.push(("licensed", Flip::Truth));
    for column in ["revision", "expires", "creation", "last_modified", "checksum"] {
        flips.extend(BITS.map(|bit| (column, Flip::Bit(bit))));
    }
    let must_undo: Vec<&str> = texts.into_iter().chain(numbers).chain(["expiration_date"]).collect();
    let read = || found(&on, &tenant, one);
    undone_or_reported(&on, (Table::Device, "id > 0"), flips, &must_undo, read).await;
}

/// The deliberately wrong repair: it computes a new checksum of what it finds.
pub(crate) async fn a_new_checksum_would_hide_damage(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let one = on.add(&tenant, named("Bus 7")).await.id;
    let sound = found(&on, &tenant, one).await;
    on.scratch().flip("device", "name", Flip::Text, "id > 0").await;
    on.scratch().run("UPDATE device SET checksum = NULL").await;
    on.store.fill_checksums().await.unwrap();
    assert!(checked(&on).await.is_sound(), "nothing shows it any longer");
    assert_ne!(found(&on, &tenant, one).await, sound, "the tests above would catch it");
}
