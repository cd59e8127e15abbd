//! Reading jobs: from one moment where they ask for it, and without a way to write.

use perigee_store::{Engine, Tx, on_both_engines};

use crate::support::{add, bench, internal};

on_both_engines!(reads_cannot_write, snapshots_stand_still, reads_run_beside_a_writer);

async fn reads_cannot_write(engine: Engine) {
    let bench = bench(engine).await;
    internal(bench.db.read(|tx| Box::pin(async move { Ok(add(tx, 1).await?) })).await.map_err(quiet));
    internal(
        bench.db.read_snapshot(|tx| Box::pin(async move { Ok(add(tx, 1).await?) })).await.map_err(quiet),
    );
    assert_eq!(bench.count().await, 0);
}

/// PostgreSQL calls a write in a read-only transaction what it calls one on a standby, which passes.
fn quiet(error: perigee_core::error::StoreError) -> perigee_core::error::StoreError {
    use perigee_core::error::StoreError::{Internal, Unavailable};
    match error {
        Unavailable(cause) => Internal(cause),
        other => other,
    }
}

async fn count(tx: &Tx) -> Result<i64, perigee_core::error::StoreError> {
    Ok(tx.query_one("SELECT COUNT(*) AS n FROM thing", &[]).await?.i64("n")?)
}

async fn snapshots_stand_still(engine: Engine) {
    let bench = bench(engine).await;
    let writer = bench.db.clone();
    let runtime = tokio::runtime::Handle::current();
    let counts = bench
        .db
        .read_snapshot(move |tx| {
            Box::pin(async move {
                let before = count(tx).await?;
                // A commit in the middle of the job, finished before the job continues.
                let (done, wait) = std::sync::mpsc::channel();
                runtime.spawn(async move {
                    let made = writer.write(|tx| Box::pin(async move { Ok(add(tx, 1).await?) })).await;
                    let _ = done.send(made.is_ok());
                });
                assert!(tokio::task::block_in_place(|| wait.recv()).unwrap());
                Ok((before, count(tx).await?))
            })
        })
        .await
        .unwrap();
    assert_eq!(counts, (0, 0));
    assert_eq!(bench.count().await, 1);
}

async fn reads_run_beside_a_writer(engine: Engine) {
    let bench = bench(engine).await;
    let reader = bench.db.clone();
    let runtime = tokio::runtime::Handle::current();
    let seen = bench
        .db
        .write(move |tx| {
            Box::pin(async move {
                add(tx, 1).await?;
                let (done, wait) = std::sync::mpsc::channel();
                runtime.spawn(async move {
                    let _ = done.send(reader.read(|tx| Box::pin(count(tx))).await.unwrap());
                });
                Ok(tokio::task::block_in_place(|| wait.recv()).unwrap())
            })
        })
        .await
        .unwrap();
    assert_eq!(seen, 0, "what is not committed is not seen");
    assert_eq!(bench.count().await, 1);
}
