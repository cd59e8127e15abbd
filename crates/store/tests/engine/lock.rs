//! The lock of an account keeps what was read true until the commit; without it PostgreSQL loses updates.

use std::sync::Arc;

use futures_util::future::join_all;
use perigee_core::id::AccountId;
use perigee_store::{Engine, on_both_engines, params};
use tokio::sync::Barrier;

use crate::support::{Bench, add, bench};

on_both_engines!(locked_updates_are_all_kept, a_missing_account_is_no_error);

const ACCOUNT: AccountId = AccountId::from_i64(1);

async fn prepare(bench: &Bench) {
    let account =
        "INSERT INTO account (id, revision, name, time_zone, expiry_notice_days, licenses, creation,
             last_modified)
         VALUES (1, 1, 'account', 'UTC', 0, 0, 0, 0)";
    bench.execute(account, &[]).await.unwrap();
    bench.execute("INSERT INTO thing (id, num) VALUES (1, 0)", &[]).await.unwrap();
}

async fn number(bench: &Bench) -> i64 {
    bench.query("SELECT num FROM thing WHERE id = 1", &[]).await.unwrap()[0].i64("num").unwrap()
}

async fn locked_updates_are_all_kept(engine: Engine) {
    let bench = bench(engine).await;
    prepare(&bench).await;
    let jobs = (0..40).map(|_| {
        bench.db.write(|tx| {
            Box::pin(async move {
                tx.lock_account(ACCOUNT).await?;
                let seen = tx.query_one("SELECT num FROM thing WHERE id = 1", &[]).await?.i64("num")?;
                Ok(tx.execute("UPDATE thing SET num = ?1 WHERE id = 1", params![seen + 1]).await?)
            })
        })
    });
    assert!(join_all(jobs).await.iter().all(Result::is_ok));
    assert_eq!(number(&bench).await, 40);
}

async fn a_missing_account_is_no_error(engine: Engine) {
    let bench = bench(engine).await;
    let job = bench.db.write(|tx| {
        Box::pin(async move {
            tx.lock_account(ACCOUNT).await?;
            Ok(add(tx, 1).await?)
        })
    });
    job.await.unwrap();
}

/// Shows that the test above can fail: both read before either writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unlocked_updates_are_lost_on_postgres() {
    let bench = bench(Engine::Postgres).await;
    prepare(&bench).await;
    let both_have_read = Arc::new(Barrier::new(2));
    let jobs = (0..2).map(|_| {
        let both_have_read = Arc::clone(&both_have_read);
        bench.db.write(move |tx| {
            Box::pin(async move {
                let seen = tx.query_one("SELECT num FROM thing WHERE id = 1", &[]).await?.i64("num")?;
                both_have_read.wait().await;
                Ok(tx.execute("UPDATE thing SET num = ?1 WHERE id = 1", params![seen + 1]).await?)
            })
        })
    });
    assert!(join_all(jobs).await.iter().all(Result::is_ok));
    assert_eq!(number(&bench).await, 1);
}
