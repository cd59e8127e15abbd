//! Tests the effect on existing devices of the migration that finds advance notices by an index.

use perigee_core::access::actor::{Actor, Origin};
use perigee_core::accounts::limits::Limits;
use perigee_core::devices::device::DeviceSettings;
use perigee_core::store::{Accounts as _, Devices as _};

use crate::Engine;
use crate::testing::{Scratch, new_account};

/// Restores the tables of the previous version. The dropped indexes have the column in their conditions.
const BEFORE: &str =
    "DROP INDEX device_by_near; DROP INDEX device_by_lapse; ALTER TABLE device DROP COLUMN near_at;";
/// PostgreSQL also copies licences to the states of devices.
const BEFORE_POSTGRES: &str = "ALTER TABLE device_live DROP COLUMN licensed, DROP COLUMN expires;";

#[tokio::test]
async fn notices_are_kept() {
    for (engine, before, migration) in [
        (
            Engine::Sqlite,
            BEFORE.to_owned(),
            include_str!("../../../../migrations/sqlite/0027_licence_beside_state.sql"),
        ),
        (
            Engine::Postgres,
            format!("{BEFORE}{BEFORE_POSTGRES}"),
            include_str!("../../../../migrations/postgres/0027_licence_beside_state.sql"),
        ),
    ] {
        let scratch = Scratch::new(engine).await;
        let store = scratch.open().await;
        let mut new = new_account(2);
        new.settings.expiry_notice_days = 7;
        let actor = Actor::operator(store.create_account(&Origin::command(), new).await.unwrap().0.id);
        let expiration_date = Some("2026-03-01".parse().unwrap());
        for limits in [Limits { expiration_date, ..Limits::default() }, Limits::default()] {
            let settings = DeviceSettings { name: "device".into(), limits, ..DeviceSettings::default() };
            store.create_device(&actor, settings, None).await.unwrap();
        }
        let next = store.next_expiry().await.unwrap();
        assert!(next.is_some(), "{engine:?}");
        store.close().await;
        drop(store);
        scratch.run(&before).await;
        scratch.run(migration).await;
        let store = scratch.open().await;
        assert_eq!(store.next_expiry().await.unwrap(), next, "{engine:?}");
        store.close().await;
    }
}
