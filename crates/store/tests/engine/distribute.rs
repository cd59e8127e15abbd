//! Distributing the tables by account over the servers of a Citus cluster: the layout, and that the store does without
//! the references and triggers that are dropped. `scripts/test --citus` runs these tests and, on distributed tables, those
//! of the store and of the API.

use std::collections::BTreeSet;

use perigee_core::access::actor::{Actor, Origin};
use perigee_core::access::credential::{LinkPurpose, NewLink, NewSession};
use perigee_core::access::user::{NewUser, UserProfile};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::locations::location::{Latitude, Location, Longitude, Readings};
use perigee_core::notifications::notification::Channel;
use perigee_core::store::{
    Accounts as _, Credentials as _, Devices as _, Events as _, Locations as _, Outbox as _, Reporters as _,
    RuleEngineStore as _, Users as _, WebhookWork as _,
};
use perigee_store::testing::{START, Scratch, new_account};
use perigee_store::{Database, Engine, LOCAL_TABLES, OpenError, REFERENCE_TABLES};

use crate::failover::{device, fix};

async fn texts(database: &Database, sql: &'static str) -> BTreeSet<String> {
    let rows = database.read(move |tx| Box::pin(async move { Ok(tx.query(sql, &[]).await?) })).await.unwrap();
    rows.iter().map(|row| row.text(0).unwrap()).collect()
}

const WHOLE: &str = "SELECT CAST(logicalrelid AS TEXT) FROM pg_dist_partition WHERE partmethod = 'n'";
const DISTRIBUTED: &str = "SELECT CAST(logicalrelid AS TEXT) FROM pg_dist_partition WHERE partmethod = 'h'";

#[tokio::test]
#[ignore = "needs a Citus cluster: scripts/test --citus"]
async fn every_table_is_distributed_or_copied() {
    let scratch = Scratch::on_cluster().await;
    let database = scratch.open().await;
    let done = Database::distribute(scratch.url()).await.unwrap();
    let whole = texts(&database, WHOLE).await;
    assert_eq!(whole, REFERENCE_TABLES.iter().map(ToString::to_string).collect());
    assert_eq!(whole, done.reference.into_iter().collect());
    let distributed = texts(&database, DISTRIBUTED).await;
    assert_eq!(distributed, done.distributed.into_iter().collect());
    let tables = "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = current_schema() \
                  AND tablename <> 'pg_dist_partition'";
    let left: BTreeSet<_> = &texts(&database, tables).await - &(&whole | &distributed);
    assert_eq!(left, LOCAL_TABLES.iter().map(ToString::to_string).collect());
    assert!(distributed.contains("location_log") && distributed.len() > 30, "{distributed:?}");
    let again = Database::distribute(scratch.url()).await.unwrap();
    assert!(again.reference.is_empty() && again.distributed.is_empty(), "there is nothing left to do");
}

#[tokio::test]
async fn a_database_without_citus_is_refused() {
    let scratch = Scratch::new(Engine::Postgres).await;
    scratch.open().await;
    let refused = Database::distribute(scratch.url()).await.unwrap_err();
    assert!(matches!(refused, OpenError::NoCitus), "{refused}");
    assert!(refused.to_string().contains("CREATE EXTENSION citus"), "{refused}");
    let scratch = Scratch::new(Engine::Sqlite).await;
    assert!(matches!(Database::distribute(scratch.url()).await, Err(OpenError::NoCitus)));
}

#[tokio::test]
#[ignore = "needs a Citus cluster: scripts/test --citus"]
async fn violations_are_refused_and_nothing_is_changed() {
    for odd in [
        "CREATE TABLE odd (account_id BIGINT NOT NULL, name TEXT UNIQUE)",
        "CREATE TABLE odd (name TEXT)",
        "CREATE TABLE odd (account_id BIGINT PRIMARY KEY); \
         ALTER TABLE share_directory ADD FOREIGN KEY (account_id) REFERENCES odd",
    ] {
        let scratch = Scratch::on_cluster().await;
        let database = scratch.open().await;
        scratch.run(odd).await;
        let refused = Database::distribute(scratch.url()).await.unwrap_err();
        assert!(matches!(refused, OpenError::Distribute(_)), "{odd}: {refused}");
        assert_eq!(texts(&database, DISTRIBUTED).await, BTreeSet::new(), "{odd}");
        let triggers = "SELECT CAST(tgname AS TEXT) FROM pg_trigger WHERE tgrelid = CAST('device' AS regclass) \
                        AND NOT tgisinternal";
        assert_eq!(texts(&database, triggers).await.len(), 1, "{odd}");
    }
}

/// How many rows the table has.
async fn count(database: &Database, table: &str) -> i64 {
    let sql = format!("SELECT COUNT(*) AS n FROM {table}");
    let job = database.read(move |tx| Box::pin(async move { Ok(tx.query_one(&sql, &[]).await?.i64("n")?) }));
    job.await.unwrap()
}

#[tokio::test]
#[ignore = "needs a Citus cluster: scripts/test --citus"]
async fn rows_are_deleted_without_references_and_triggers() {
    let scratch = Scratch::on_cluster().await;
    scratch.open().await.close().await;
    Database::distribute(scratch.url()).await.unwrap();
    let database = scratch.open().await;
    let new = new_account(1);
    let (account, owner) = database.create_account(&Origin::command(), new).await.unwrap();
    let actor = Actor::operator(account.id);

    let profile = UserProfile { email: "other@acme.example".parse().unwrap(), ..owner.profile };
    let new = NewUser { profile, password_hash: None };
    let user = database.create_user(&actor, new, None).await.unwrap().into_inner();
    let new = NewSession { user: user.id, hash: [1; 32], expires: START.plus_seconds(60) };
    database.create_session(&Origin::command(), new).await.unwrap();
    let new = NewLink {
        user: user.id,
        purpose: LinkPurpose::Invitation,
        hash: [2; 32],
        expires: START.plus_seconds(60),
    };
    database.create_link(&Origin::command(), new).await.unwrap();
    assert_eq!((count(&database, "session").await, count(&database, "link").await), (1, 1));
    database.delete_user(&actor, user.id, None).await.unwrap();
    assert_eq!((count(&database, "session").await, count(&database, "link").await), (0, 0));

    let identifier = Some("860000000000001".into());
    let settings = DeviceSettings { name: "device".into(), identifier, ..DeviceSettings::default() };
    let device = database.create_device(&actor, settings, None).await.unwrap().into_inner();
    let identifiers = ["860000000000001".to_owned()];
    assert!(database.find_claimed_device(&identifiers, CountedClaims::All).await.unwrap().is_some());
    let fix = Location {
        time: START,
        latitude: Latitude::from_degrees(1.0).unwrap(),
        longitude: Longitude::from_degrees(1.0).unwrap(),
        readings: Readings::default(),
    };
    database.store_locations(&actor, device.id, vec![fix]).await.unwrap();
    assert_eq!((count(&database, "location_log").await, count(&database, "identifier_claim").await), (1, 1));
    database.delete_device(&actor, device.id, None).await.unwrap();
    assert_eq!((count(&database, "location_log").await, count(&database, "identifier_claim").await), (0, 0));
    assert!(database.find_claimed_device(&identifiers, CountedClaims::All).await.unwrap().is_none());
}

/// Statements that differ where tables are distributed give the same answers.
#[tokio::test]
#[ignore = "needs a Citus cluster: scripts/test --citus"]
async fn work_is_found_in_distributed_tables() {
    let scratch = Scratch::on_cluster().await;
    scratch.open().await.close().await;
    Database::distribute(scratch.url()).await.unwrap();
    let database = scratch.open().await;
    let (actor, device) = device(&database).await;
    assert_eq!(database.accounts_with_work().await.unwrap(), [], "nothing was stored");
    database.store_locations(&actor, device, vec![fix(START)]).await.unwrap();
    let account = [actor.scope.account];
    assert_eq!(database.accounts_with_work().await.unwrap(), account);
    // Another node that sees that nothing was added for long looks at one part of the accounts after the other.
    let other = scratch.open().await;
    scratch
        .run("UPDATE rule_follower SET cursor = 1000000000; UPDATE device_watch SET due = 9000000000000")
        .await;
    scratch.run("INSERT INTO rule_follower (account_id, cursor) SELECT id, 1000000000 FROM account ON CONFLICT DO NOTHING").await;
    assert_eq!(other.accounts_with_work().await.unwrap(), []);
    scratch.clock().advance_seconds(20);
    assert_eq!(other.accounts_with_work().await.unwrap(), []);
    scratch.run("UPDATE rule_follower SET cursor = 0").await;
    let mut found = Vec::new();
    for _ in 0..100 {
        found.extend(other.accounts_with_work().await.unwrap());
    }
    assert!(found.contains(&account[0]), "{found:?}");
    assert_eq!(other.webhooks_behind().await.unwrap().len(), 0);
    assert_eq!(other.webhooks_due().await.unwrap(), []);
    assert_eq!(other.due_notifications(Channel::EMAIL, 10).await.unwrap().len(), 0);
    assert!(other.trim_events(1_000).await.unwrap() > 0, "events of 20 seconds ago");
}
