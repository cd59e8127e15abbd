//! Migrations: applied once however many start, refused when the database is not ours to change.

use std::sync::Arc;

use futures_util::future::join_all;
use perigee_store::testing::{START, Scratch};
use perigee_store::{Database, Engine, MigrationError, OpenError, OpenOptions, on_both_engines};

on_both_engines!(
    pending_until_opened,
    a_newer_schema_is_refused,
    a_changed_migration_is_refused,
    many_nodes_start_at_once,
);

async fn open(scratch: &Scratch, options: OpenOptions) -> Result<Database, OpenError> {
    Database::open(scratch.url(), options, Arc::new(scratch.clock().clone())).await
}

fn command(scratch: &Scratch) -> OpenOptions {
    OpenOptions { use_given_clock: scratch.options().use_given_clock, ..OpenOptions::command() }
}

async fn pending_until_opened(engine: Engine) {
    let scratch = Scratch::new(engine).await;
    let all = Database::pending_migrations(scratch.url()).await.unwrap();
    assert_eq!(all[0].version, 1);
    if let Some(path) = scratch.url().sqlite_path() {
        assert!(!path.exists(), "looking makes nothing");
    }
    let db = scratch.open().await;
    assert_eq!(Database::pending_migrations(scratch.url()).await.unwrap(), []);
    let rows = db
        .read(|tx| {
            let sql = "SELECT version, name, applied_at FROM schema_migration ORDER BY version";
            Box::pin(async move { Ok(tx.query(sql, &[]).await?) })
        })
        .await
        .unwrap();
    assert_eq!(rows.len(), all.len());
    assert_eq!(rows[0].str("name").unwrap(), all[0].name);
    assert_eq!(rows[0].timestamp("applied_at").unwrap(), START);
}

async fn a_newer_schema_is_refused(engine: Engine) {
    let scratch = Scratch::new(engine).await;
    scratch.open().await.close().await;
    scratch.run("INSERT INTO schema_migration VALUES (9999, 'later', 'x', 0)").await;
    let looked = Database::pending_migrations(scratch.url()).await.unwrap_err();
    for options in [scratch.options(), command(&scratch)] {
        let refused = open(&scratch, options).await.unwrap_err();
        let newer = MigrationError::Newer { database: 9999, program: newest() };
        assert!(matches!(&refused, OpenError::Migration(error) if *error == newer), "{refused}");
        assert_eq!(refused.to_string(), looked.to_string());
    }
}

fn newest() -> i64 {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite");
    i64::try_from(std::fs::read_dir(folder).unwrap().count()).unwrap()
}

async fn a_changed_migration_is_refused(engine: Engine) {
    let scratch = Scratch::new(engine).await;
    scratch.open().await.close().await;
    scratch.run("UPDATE schema_migration SET checksum = 'other' WHERE version = 1").await;
    let refused = open(&scratch, scratch.options()).await.unwrap_err();
    let changed = MigrationError::Changed { version: 1 };
    assert!(matches!(&refused, OpenError::Migration(error) if *error == changed), "{refused}");
}

async fn many_nodes_start_at_once(engine: Engine) {
    let scratch = Scratch::new(engine).await;
    let opening = (0..6).map(|_| open(&scratch, command(&scratch)));
    for opened in join_all(opening).await {
        let db = opened.unwrap();
        db.ping().await.unwrap();
        db.close().await;
    }
    assert_eq!(Database::pending_migrations(scratch.url()).await.unwrap(), []);
}

#[tokio::test]
async fn a_command_does_not_migrate_under_a_running_server() {
    let scratch = Scratch::new(Engine::Sqlite).await;
    let server = scratch.open().await;
    // As if the server were of an older version.
    scratch.run("DELETE FROM schema_migration").await;
    let refused = open(&scratch, command(&scratch)).await.unwrap_err();
    assert!(matches!(refused, OpenError::MigrationBlocked { .. }), "{refused}");
    server.close().await;
}
