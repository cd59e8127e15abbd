//! Write jobs: committed before they are answered, alone in failure, together where that saves a sync.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use perigee_core::error::StoreError;
use perigee_store::testing::{START, Scratch};
use perigee_store::{Database, Engine, OpenOptions, on_both_engines, params};

use crate::support::{add, bench, internal, make_tables};

on_both_engines!(
    answers_after_the_commit,
    failing_jobs_do_not_harm_their_neighbours,
    a_panic_stays_in_its_job,
    a_failed_statement_cannot_be_swept_aside,
    the_clock_is_read_once,
    closed_means_refused,
    clones_are_the_same_database,
);

async fn answers_after_the_commit(engine: Engine) {
    let bench = bench(engine).await;
    let made = bench.db.write(|tx| Box::pin(async move { Ok(add(tx, 7).await?) })).await.unwrap();
    assert_eq!((made, bench.count().await), (1, 1));
    let stats = bench.db.stats();
    assert_eq!((stats.commits, stats.jobs_committed, stats.jobs_failed), (1, 1, 0));
}

async fn failing_jobs_do_not_harm_their_neighbours(engine: Engine) {
    let bench = bench(engine).await;
    let jobs = (0..60_i64).map(|id| {
        bench.db.write(move |tx| {
            Box::pin(async move {
                add(tx, id).await?;
                match id % 3 {
                    0 => Ok(()),
                    1 => Err(StoreError::LastOwner),
                    _ => Ok(tx.execute("INSERT INTO nowhere VALUES (1)", &[]).await.map(drop)?),
                }
            })
        })
    });
    for (id, result) in join_all(jobs).await.into_iter().enumerate() {
        match id % 3 {
            0 => result.unwrap(),
            1 => assert!(matches!(result, Err(StoreError::LastOwner))),
            _ => assert!(internal(result).contains("nowhere")),
        }
    }
    let rows = bench.query("SELECT id FROM thing ORDER BY id", &[]).await.unwrap();
    let kept: Vec<i64> = rows.iter().map(|row| row.i64("id").unwrap()).collect();
    assert_eq!(kept, (0..60).filter(|id| id % 3 == 0).collect::<Vec<i64>>());
    assert_eq!((bench.db.stats().jobs_committed, bench.db.stats().jobs_failed), (20, 40));
}

async fn a_panic_stays_in_its_job(engine: Engine) {
    let bench = bench(engine).await;
    let jobs = (0..20_i64).map(|id| {
        bench.db.write(move |tx| {
            Box::pin(async move {
                add(tx, id).await?;
                assert!(id != 9, "nine is no good");
                Ok(())
            })
        })
    });
    let results = join_all(jobs).await;
    let failed: Vec<usize> = (0..20).filter(|id| results[*id].is_err()).collect();
    assert_eq!(failed, [9]);
    let ninth = results.into_iter().nth(9).unwrap();
    assert!(internal(ninth).contains("nine is no good"));
    assert_eq!(bench.count().await, 19);

    let before_any_await = bench.db.write::<(), _>(|_tx| panic!("at once")).await;
    assert!(internal(before_any_await).contains("at once"));
    let reading = bench.db.read::<(), _>(|_tx| panic!("while reading")).await;
    assert!(internal(reading).contains("while reading"));
    bench.db.write(|tx| Box::pin(async move { Ok(add(tx, 100).await?) })).await.unwrap();
    assert_eq!(bench.count().await, 20);
}

async fn a_failed_statement_cannot_be_swept_aside(engine: Engine) {
    let bench = bench(engine).await;
    let result = bench
        .db
        .write(|tx| {
            Box::pin(async move {
                add(tx, 1).await?;
                let _ignored = add(tx, 1).await;
                assert!(add(tx, 2).await.is_err(), "nothing may run after a failure");
                Ok(())
            })
        })
        .await;
    assert!(internal(result).contains("success after a statement had failed"));
    assert_eq!(bench.count().await, 0);
}

async fn the_clock_is_read_once(engine: Engine) {
    let bench = bench(engine).await;
    let clock = bench.scratch.clock().clone();
    let (early, late) = bench
        .db
        .write(move |tx| {
            Box::pin(async move {
                let early = tx.now();
                clock.advance_seconds(5);
                add(tx, 1).await?;
                Ok((early, tx.now()))
            })
        })
        .await
        .unwrap();
    assert_eq!((early, late), (START, START));
    let next = bench.db.read(|tx| Box::pin(async move { Ok(tx.now()) })).await.unwrap();
    assert_eq!(next, START.plus_seconds(5));
}

async fn closed_means_refused(engine: Engine) {
    let bench = bench(engine).await;
    bench.db.ping().await.unwrap();
    bench.db.close().await;
    bench.db.close().await;
    let written = bench.execute("INSERT INTO thing (id) VALUES (1)", &[]).await;
    assert!(matches!(written, Err(StoreError::Unavailable(_))), "{written:?}");
    assert!(matches!(bench.db.ping().await, Err(StoreError::Unavailable(_))));
}

async fn clones_are_the_same_database(engine: Engine) {
    let bench = bench(engine).await;
    let clone = bench.db.clone();
    clone.write(|tx| Box::pin(async move { Ok(add(tx, 1).await?) })).await.unwrap();
    assert_eq!((bench.count().await, bench.db.engine()), (1, engine));
}

/// A job that keeps the writer busy until it is released, so that others must queue behind it.
async fn hold(db: &Database) -> (tokio::task::JoinHandle<()>, mpsc::Sender<()>) {
    let (release, released) = mpsc::channel::<()>();
    let (began, has_begun) = tokio::sync::oneshot::channel();
    let db = db.clone();
    let held = tokio::spawn(async move {
        db.write(move |_tx| {
            let _ = began.send(());
            let _ = released.recv();
            Box::pin(async { Ok(()) })
        })
        .await
        .unwrap();
    });
    has_begun.await.unwrap();
    (held, release)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_jobs_share_one_commit() {
    let bench = bench(Engine::Sqlite).await;
    let (held, release) = hold(&bench.db).await;
    let mut jobs: Vec<_> = (0..500_i64)
        .map(|id| Box::pin(bench.db.write(move |tx| Box::pin(async move { Ok(add(tx, id).await?) }))))
        .collect();
    // Polled once, each is in the queue and none is answered.
    for job in &mut jobs {
        assert!(job.now_or_never().is_none());
    }
    release.send(()).unwrap();
    held.await.unwrap();
    assert!(join_all(jobs).await.iter().all(Result::is_ok));
    let stats = bench.db.stats();
    assert_eq!((stats.commits, stats.jobs_committed), (2, 501));
    assert_eq!(bench.count().await, 500);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_refuses() {
    let scratch = Scratch::new(Engine::Sqlite).await;
    make_tables(&scratch, Engine::Sqlite).await;
    let options = OpenOptions { queue: 3, ..scratch.options() };
    let db = Database::open(scratch.url(), options, Arc::new(scratch.clock().clone())).await.unwrap();
    let (held, release) = hold(&db).await;
    let mut jobs: Vec<_> = (0..4_i64)
        .map(|id| Box::pin(db.write(move |tx| Box::pin(async move { Ok(add(tx, id).await?) }))))
        .collect();
    for job in jobs.iter_mut().take(3) {
        assert!(job.now_or_never().is_none());
    }
    let fourth = jobs.pop().unwrap().await;
    assert!(matches!(fourth, Err(StoreError::Unavailable(_))), "{fourth:?}");
    assert_eq!(db.stats().jobs_refused, 1);
    release.send(()).unwrap();
    held.await.unwrap();
    assert!(join_all(jobs).await.iter().all(Result::is_ok));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_finishes_accepted_work_and_empties_the_log() {
    let bench = bench(Engine::Sqlite).await;
    let (held, release) = hold(&bench.db).await;
    let mut job = Box::pin(bench.db.write(|tx| Box::pin(async move { Ok(add(tx, 1).await?) })));
    assert!((&mut job).now_or_never().is_none());
    let closing = tokio::spawn({
        let db = bench.db.clone();
        async move { db.close().await }
    });
    release.send(()).unwrap();
    held.await.unwrap();
    closing.await.unwrap();
    assert_eq!(job.await.unwrap(), 1);
    let log = format!("{}-wal", bench.scratch.url().sqlite_path().unwrap().display());
    let left = std::fs::metadata(log).map_or(0, |file| file.len());
    assert_eq!(left, 0);
    let again = bench.scratch.open().await;
    let count = again
        .read(|tx| Box::pin(async move { Ok(tx.query_one("SELECT COUNT(*) AS n FROM thing", &[]).await?) }))
        .await
        .unwrap();
    assert_eq!(count.i64("n").unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_waits_for_something_else_is_refused_on_sqlite() {
    let bench = bench(Engine::Sqlite).await;
    let ran_on = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ran_on);
    let result = bench
        .db
        .write(move |tx| {
            Box::pin(async move {
                add(tx, 1).await?;
                tokio::task::yield_now().await;
                flag.store(true, Ordering::SeqCst);
                Ok(())
            })
        })
        .await;
    assert!(internal(result).contains("waited for something other"));
    assert!(!ran_on.load(Ordering::SeqCst));
    assert_eq!(bench.count().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checkpoints_run_beside_the_writer() {
    let bench = bench(Engine::Sqlite).await;
    let blob = vec![7_u8; 1_000_000];
    for id in 0..8_i64 {
        let sql = "INSERT INTO thing (id, blob) VALUES (?1, ?2)";
        bench.execute(sql, params![id, blob.clone()]).await.unwrap();
    }
    bench.db.close().await;
    // Eight megabytes are two thousand pages, and a checkpoint is due each thousand; one more is at the end.
    let checkpoints = bench.db.stats().checkpoints;
    assert!((2..=4).contains(&checkpoints), "{checkpoints}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_commit_fails_everyone_and_keeps_nothing() {
    let bench = bench(Engine::Sqlite).await;
    let (held, release) = hold(&bench.db).await;
    let mut jobs: Vec<_> = (0..10_i64)
        .map(|id| {
            Box::pin(bench.db.write(move |tx| {
                Box::pin(async move {
                    add(tx, id).await?;
                    if id == 4 {
                        // A deferred constraint, which SQLite checks only at the commit.
                        tx.execute("PRAGMA defer_foreign_keys = ON", &[]).await?;
                        tx.execute("UPDATE thing SET parent = 99 WHERE id = 4", &[]).await?;
                    }
                    Ok(())
                })
            }))
        })
        .collect();
    for job in &mut jobs {
        assert!(job.now_or_never().is_none());
    }
    release.send(()).unwrap();
    held.await.unwrap();
    for result in join_all(jobs).await {
        assert!(internal(result).contains("the commit failed"));
    }
    assert_eq!(bench.count().await, 0);
    bench.execute("INSERT INTO thing (id) VALUES (1)", &[]).await.unwrap();
    assert_eq!(bench.count().await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_passes() {
    let bench = bench(Engine::Sqlite).await;
    let limit = |pages: &'static str| {
        bench.db.write(move |tx| Box::pin(async move { Ok(tx.query(pages, &[]).await?) }))
    };
    limit("PRAGMA max_page_count = 60").await.unwrap();
    let sql = "INSERT INTO thing (id, blob) VALUES (?1, ?2)";
    let full = bench.execute(sql, params![1_i64, vec![0_u8; 1_000_000]]).await;
    assert!(matches!(full, Err(StoreError::Unavailable(_))), "{full:?}");
    bench.execute(sql, params![2_i64, vec![0_u8; 10]]).await.unwrap();
    limit("PRAGMA max_page_count = 100000").await.unwrap();
    bench.execute(sql, params![1_i64, vec![0_u8; 1_000_000]]).await.unwrap();
    assert_eq!(bench.count().await, 2);
}
