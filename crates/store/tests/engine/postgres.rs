//! Tests of PostgreSQL only: settings that lose data, the server's clock, connections that break.

use std::sync::Arc;

use perigee_core::error::StoreError;
use perigee_core::time::MockClock;
use perigee_store::testing::{SERVER, START, Scratch};
use perigee_store::{Database, DatabaseUrl, Engine, OpenError, OpenOptions};

use crate::support::{add, bench};

async fn open(url: &str) -> Result<Database, OpenError> {
    let url: DatabaseUrl = url.parse().unwrap();
    Database::open(&url, OpenOptions::serve(), Arc::new(MockClock::at(START))).await
}

fn server() -> String {
    std::env::var(SERVER).expect("run scripts/test")
}

#[tokio::test]
async fn asynchronous_commit_is_refused() {
    for value in ["off", "local", "remote_write"] {
        let url = format!("{}?options=-c%20synchronous_commit%3D{value}", server());
        let refused = open(&url).await.unwrap_err();
        let named = matches!(&refused, OpenError::UnsafeSetting { setting: "synchronous_commit", .. });
        assert!(named && refused.to_string().contains(value), "{refused}");
        assert!(refused.to_string().contains("ALTER ROLE"), "{refused}");
    }
}

#[tokio::test]
async fn a_commit_that_is_allowed_by_name_is_taken() {
    let scratch = Scratch::new(Engine::Postgres).await;
    scratch.open().await.close().await;
    let url = scratch.url_with("-c%20synchronous_commit%3Dlocal");
    let allow = |names: &[&str]| OpenOptions {
        allow_synchronous_commit: names.iter().map(|name| (*name).to_owned()).collect(),
        ..scratch.options()
    };
    let open = async |options| Database::open(&url, options, Arc::new(MockClock::at(START))).await;
    assert!(matches!(open(allow(&["remote_write"])).await, Err(OpenError::UnsafeSetting { .. })));
    open(allow(&["local"])).await.unwrap().ping().await.unwrap();
}

#[tokio::test]
async fn a_search_path_to_nowhere_is_refused() {
    let url = format!("{}?options=-c%20search_path%3Dno_such_schema", server());
    assert!(matches!(open(&url).await, Err(OpenError::NoSchema)));
}

#[tokio::test]
async fn an_unreachable_server_is_named_without_its_password() {
    let refused = open("postgres://pg:s3cret@127.0.0.1:1/perigee").await.unwrap_err().to_string();
    assert!(refused.starts_with("cannot connect to postgres://pg:***@127.0.0.1:1/perigee: "), "{refused}");
    assert!(!refused.contains("s3cret"));
}

#[tokio::test]
async fn the_servers_clock_is_used_unless_another_is_given() {
    let scratch = Scratch::new(Engine::Postgres).await;
    let options = OpenOptions { use_given_clock: false, ..scratch.options() };
    let db = Database::open(scratch.url(), options, Arc::new(scratch.clock().clone())).await.unwrap();
    let (ours, theirs) = db
        .write(|tx| {
            Box::pin(async move {
                let sql = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now";
                Ok((tx.now(), tx.query_one(sql, &[]).await?.timestamp("now")?))
            })
        })
        .await
        .unwrap();
    assert!(ours <= theirs && theirs < ours.plus_seconds(60), "{ours} {theirs}");
    assert_ne!(ours, START);
}

#[tokio::test]
async fn a_broken_connection_passes() {
    let bench = bench(Engine::Postgres).await;
    let broken = bench
        .db
        .write(|tx| {
            Box::pin(async move {
                add(tx, 1).await?;
                tx.query("SELECT pg_terminate_backend(pg_backend_pid())", &[]).await?;
                Ok(())
            })
        })
        .await;
    assert!(matches!(broken, Err(StoreError::Unavailable(_))), "{broken:?}");
    bench.db.write(|tx| Box::pin(async move { Ok(add(tx, 2).await?) })).await.unwrap();
    assert_eq!(bench.count().await, 1);
}

#[tokio::test]
async fn a_job_given_up_is_rolled_back_and_its_connection_usable() {
    let scratch = Scratch::new(Engine::Postgres).await;
    crate::support::make_tables(&scratch, Engine::Postgres).await;
    let options = OpenOptions { connections: 1, ..scratch.options() };
    let db = Database::open(scratch.url(), options, Arc::new(scratch.clock().clone())).await.unwrap();
    let (began, has_begun) = tokio::sync::oneshot::channel();
    let given_up = tokio::spawn({
        let db = db.clone();
        async move {
            db.write(|tx| {
                Box::pin(async move {
                    add(tx, 1).await?;
                    let _ = began.send(());
                    std::future::pending::<Result<(), StoreError>>().await
                })
            })
            .await
        }
    });
    has_begun.await.unwrap();
    given_up.abort();
    assert!(given_up.await.unwrap_err().is_cancelled());
    let made = db.write(|tx| Box::pin(async move { Ok(add(tx, 1).await?) })).await;
    assert_eq!(made.unwrap(), 1);
}

#[tokio::test]
async fn a_deadlock_passes() {
    let bench = bench(Engine::Postgres).await;
    bench.execute("INSERT INTO thing (id, num) VALUES (1, 0), (2, 0)", &[]).await.unwrap();
    let both_hold_one = Arc::new(tokio::sync::Barrier::new(2));
    let jobs = [(1_i64, 2_i64), (2, 1)].map(|(first, second)| {
        let both_hold_one = Arc::clone(&both_hold_one);
        bench.db.write(move |tx| {
            Box::pin(async move {
                let sql = "UPDATE thing SET num = num + 1 WHERE id = ?1";
                tx.execute(sql, perigee_store::params![first]).await?;
                both_hold_one.wait().await;
                Ok(tx.execute(sql, perigee_store::params![second]).await?)
            })
        })
    });
    let results = futures_util::future::join_all(jobs).await;
    let lost: Vec<_> = results.iter().filter(|result| result.is_err()).collect();
    assert!(matches!(lost[..], [Err(StoreError::Unavailable(_))]), "{results:?}");
}
