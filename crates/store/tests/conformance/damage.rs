//! Bits that flipped in the store: noticed, reported, skipped and mended.

use perigee_core::devices::device::DeviceRef;
use perigee_core::events::event::{EventFilter, EventKind};
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{CompactionBudget, Location, Outcome};
use perigee_core::page::PageRequest;
use perigee_core::store::{
    Alerts as _, DamageMetrics, Devices as _, Events as _, Groups as _, LocationMaintenance as _,
    Locations as _, Maintenance as _, Metrics as _,
};
use perigee_store::testing::Flip;
use perigee_store::{Engine, Report, Table, repair, verify};

use crate::fixture::{Fixture, Tenant};
use crate::sample::{EVERYTHING, alert, fix, group_of, named, until};

const ALL: CompactionBudget = CompactionBudget { devices: 100, everything: true };

async fn checked(on: &Fixture) -> Report {
    verify(&on.store, &mut |_progress| {}).await.unwrap()
}

async fn send(on: &Fixture, tenant: &Tenant, device: DeviceId, locations: &[Location]) {
    let sent = on.store.store_locations(&tenant.actor(), device, locations.to_vec()).await.unwrap();
    assert!(sent.iter().all(|outcome| *outcome == Outcome::Accepted), "{sent:?}");
}

async fn history(on: &Fixture, tenant: &Tenant, device: DeviceId) -> usize {
    on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap().items.len()
}

fn track(on: &Fixture, seconds: impl Iterator<Item = i64>) -> Vec<Location> {
    seconds.map(|second| fix(on.now().plus_seconds(second), 1.0)).collect()
}

/// A device with a chunk, locations in the log alone, a last location and an alert.
async fn device(on: &Fixture, tenant: &Tenant, name: &str) -> DeviceId {
    let device = on.add(tenant, named(name)).await.id;
    send(on, tenant, device, &track(on, -2_000..-1_000)).await;
    on.store.compact(ALL).await.unwrap();
    send(on, tenant, device, &track(on, -10..0)).await;
    on.store.store_alerts(&tenant.actor(), device, vec![alert(on.now(), "SOSButton")]).await.unwrap();
    device
}

pub(crate) async fn a_sound_store_is_found_sound_after_every_change(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let actor = tenant.actor();
    let one = device(&on, &tenant, "one").await;
    let two = on.add(&tenant, until("two", "2026-01-02")).await;
    let group = on.add_group(&tenant, group_of("both", &[one, two.id])).await;
    let seen = on.look(&tenant, one).await;
    on.store.replace_device(&actor, one, seen.revision, named("renamed")).await.unwrap();
    on.store.delete_group(&actor, group.id, None).await.unwrap();
    let alerts = on.store.list_alerts(tenant.scope(), one, None, EVERYTHING).await.unwrap().items;
    on.store.acknowledge_alert(&actor, alerts[0].id, None).await.unwrap();
    on.store.end_alert(&actor, alerts[0].id).await.unwrap();
    // Its expiry is announced as near and as come, and its licence is taken back.
    on.store.announce_expiries().await.unwrap();
    on.clock().advance_seconds(3 * 86_400);
    on.store.announce_expiries().await.unwrap();
    assert!(!on.look(&tenant, two.id).await.licensed);
    let seen = on.look(&tenant, two.id).await;
    on.store.replace_device(&actor, two.id, seen.revision, until("two", "2026-12-31")).await.unwrap();
    on.store.delete_locations(&actor, one, perigee_core::locations::location::TimeRange::ALL).await.unwrap();
    send(&on, &tenant, one, &track(&on, -5..0)).await;
    on.restart().await;
    let report = checked(&on).await;
    assert!(report.is_sound(), "{:?}", report.damaged);
    assert_eq!(report.without_checksum, 0);
    assert!(report.rows >= 5, "{}", report.rows);
}

pub(crate) async fn every_flipped_bit_is_found_reported_and_mended(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let other = on.tenant("other").await;
    let (one, bystander) = (device(&on, &tenant, "one").await, device(&on, &other, "two").await);
    on.restart().await;
    let whole = history(&on, &other, bystander).await;
    let flips = [
        (Table::LocationLog, ("points", Flip::Bytes)),
        (Table::LocationLog, ("received_at", Flip::Bit(2))),
        (Table::LocationChunk, ("points", Flip::Bytes)),
        (Table::LastLocation, ("latitude", Flip::Bit(2))),
        (Table::Alert, ("name", Flip::Text)),
        (Table::Alert, ("received_at", Flip::Bit(2))),
        (Table::Device, ("name", Flip::Text)),
        (Table::Device, ("critical_reserve", Flip::Bit(2))),
    ];
    for (table, (column, kind)) in flips {
        let sound = checked(&on).await;
        assert!(sound.is_sound(), "before {table:?}.{column}: {:?}", sound.damaged);
        if matches!(table, Table::LocationLog | Table::LocationChunk | Table::LastLocation) {
            on.clock().advance_seconds(60);
            send(&on, &tenant, one, &track(&on, -30..0)).await;
        }
        if table == Table::LocationChunk {
            on.store.compact(ALL).await.unwrap();
        }
        let account = tenant.account.id.as_i64();
        let newest = match table {
            Table::LocationLog => "AND last_number = (SELECT MAX(last_number) FROM location_log)",
            _ => "",
        };
        let condition = format!("account_id = {account} {newest}");
        on.scratch().flip(table.name(), column, kind, &condition).await;
        let found = checked(&on).await;
        assert!(!found.is_sound(), "{table:?}.{column}");
        for damaged in &found.damaged {
            assert_eq!((damaged.table, damaged.account), (table, Some(tenant.account.id)), "{damaged}");
            let is_reported = damaged.device == Some(one) || damaged.device.is_none();
            assert!(is_reported && !damaged.reason.is_empty(), "{damaged}");
        }
        let since = on.now();
        let repaired = repair(&on.store, since, &mut |_progress| {}).await.unwrap();
        assert!(repaired.after.is_sound(), "{table:?}.{column}: {:?}", repaired.after.damaged);
        let reported = repaired.set_aside.iter().filter(|damaged| damaged.table == table).count();
        assert!(reported >= found.damaged.len(), "{:?}", repaired.set_aside);
        on.clock().advance_seconds(1);
    }
    assert_eq!(history(&on, &other, bystander).await, whole, "others lose nothing");
    let last = on.store.find_last_location(tenant.scope(), one).await.unwrap();
    assert!(last.is_some(), "the last location is found again in the history");
    assert!(on.store.find_device(tenant.scope(), &DeviceRef::Id(one)).await.unwrap().is_some());
}

pub(crate) async fn histories_go_on_past_a_damaged_chunk(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (two, one) = (device(&on, &tenant, "two").await, device(&on, &tenant, "one").await);
    let condition = format!("device_id = {}", one.as_i64());
    on.scratch().flip("location_chunk", "points", Flip::Bytes, &condition).await;
    assert_eq!(history(&on, &tenant, one).await, 10, "what is not in the chunk");
    assert_eq!(history(&on, &tenant, two).await, 1_010);
    assert_eq!(on.store.damage_metrics().await.unwrap(), DamageMetrics { passed_over: 1, set_aside: 0 });
    // A location between the damaged ones is accepted and packed: the chunk is quarantined for that.
    send(&on, &tenant, one, &[fix(on.now().plus_seconds(-1_500), 3.0)]).await;
    on.store.compact(ALL).await.unwrap();
    assert_eq!(history(&on, &tenant, one).await, 11);
    let figures = on.store.damage_metrics().await.unwrap();
    assert_eq!(figures.set_aside, 1, "{figures:?}");
    assert!(checked(&on).await.is_sound());
    assert_eq!(checked(&on).await.quarantined, 1);
    // With the device goes what was kept of it.
    on.store.delete_device(&tenant.actor(), one, None).await.unwrap();
    assert_eq!(on.store.damage_metrics().await.unwrap().set_aside, 0);
}

pub(crate) async fn the_log_is_read_past_a_damaged_row(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    send(&on, &tenant, device, &track(&on, -30..-20)).await;
    send(&on, &tenant, device, &track(&on, -20..-10)).await;
    let second = on.store.feed_end(tenant.scope()).await.unwrap();
    send(&on, &tenant, device, &track(&on, -10..0)).await;
    let end = on.store.feed_end(tenant.scope()).await.unwrap();
    on.scratch().flip("location_log", "points", Flip::Bytes, &format!("last_number = {second}")).await;
    let feed = on.store.list_location_feed(tenant.scope(), 0, 1_000).await.unwrap();
    assert_eq!((feed.items.len(), feed.next), (20, end));
    let (mut after, mut locations) = (0, 0);
    loop {
        let page = on.store.read_events(tenant.scope(), &EventFilter::default(), after, 7).await.unwrap();
        locations += page.events.iter().filter(|event| event.kind == EventKind::LocationCreated).count();
        if page.next <= after {
            break;
        }
        after = page.next;
    }
    assert_eq!((locations, after), (20, end));
    let passed_over = on.store.damage_metrics().await.unwrap().passed_over;
    assert!(passed_over >= 1, "{passed_over}");
}

pub(crate) async fn a_store_opens_without_a_damaged_row(mut on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let one = on.add(&tenant, named("one")).await.id;
    let two = on.add(&other, named("two")).await.id;
    send(&on, &tenant, one, &track(&on, -30..-20)).await;
    let end = on.store.feed_end(tenant.scope()).await.unwrap();
    send(&on, &other, two, &track(&on, -20..0)).await;
    on.scratch().flip("location_log", "points", Flip::Bytes, &format!("last_number = {end}")).await;
    on.crash().await;
    // PostgreSQL's log is read when it is packed, not when the store is opened.
    on.store.compact(ALL).await.unwrap();
    let figures = on.store.damage_metrics().await.unwrap();
    assert_eq!(figures, DamageMetrics { passed_over: 1, set_aside: 1 });
    assert_eq!(history(&on, &tenant, one).await, 0, "they were in one row");
    assert_eq!(history(&on, &other, two).await, 20);
    send(&on, &tenant, one, &track(&on, [1].into_iter())).await;
    on.crash().await;
    assert_eq!(history(&on, &tenant, one).await, 1);
    assert!(checked(&on).await.is_sound());
}

pub(crate) async fn a_damaged_last_location_is_not_believed(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (one, two) = (device(&on, &tenant, "one").await, device(&on, &tenant, "two").await);
    // Nothing is left in the log, so that opening the store reads no last location.
    on.store.compact(ALL).await.unwrap();
    on.restart().await;
    let condition = format!("device_id = {}", one.as_i64());
    on.scratch().flip("last_location", "longitude", Flip::Bit(2), &condition).await;
    assert_eq!(on.store.find_last_location(tenant.scope(), one).await.unwrap(), None);
    let filter = perigee_core::locations::location::LastFilter::default();
    let shown = on.store.list_last_locations(tenant.scope(), &filter, PageRequest::first(10)).await.unwrap();
    assert_eq!(shown.items.iter().map(|(device, _)| *device).collect::<Vec<_>>(), [two]);
    assert_eq!(on.store.damage_metrics().await.unwrap().passed_over, 1);
    send(&on, &tenant, one, &track(&on, [1].into_iter())).await;
    let last = on.store.find_last_location(tenant.scope(), one).await.unwrap();
    assert_eq!(last.map(|last| last.location.time), Some(on.now().plus_seconds(1)));
}

pub(crate) async fn checksums_of_older_rows_are_filled_in(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    device(&on, &tenant, "one").await;
    on.restart().await;
    let last = match on.store.engine() {
        Engine::Sqlite => "UPDATE last_location SET checksum = NULL",
        Engine::Postgres => "UPDATE device_live SET last_checksum = NULL",
    };
    let others = "UPDATE device SET checksum = NULL; UPDATE alert SET checksum = NULL; \
                  UPDATE device_live SET checksum = NULL";
    on.scratch().run(&format!("{others}; {last}")).await;
    assert_eq!(checked(&on).await.without_checksum, 4);
    assert_eq!(on.store.fill_checksums().await.unwrap(), 4);
    let report = checked(&on).await;
    assert!(report.is_sound() && report.without_checksum == 0, "{report:?}");
}

pub(crate) async fn a_probe_writes_and_reads(on: Fixture) {
    let tenant = on.tenant("acme").await;
    device(&on, &tenant, "one").await;
    let before = on.store.stats().commits;
    on.store.probe().await.unwrap();
    on.store.probe().await.unwrap();
    assert_eq!(on.store.stats().commits, before + 2);
}
