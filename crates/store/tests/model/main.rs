//! A store beside a model that keeps everything in plain lists: random changes to both, and every read must agree.

#![expect(clippy::unwrap_used, reason = "a step that cannot go on has failed")]

mod actual;
mod chance;
mod expected;
mod steps;

/// Steps on the engine whose commits cost no round trips.
const SQLITE_STEPS: usize = 1_000;
const POSTGRES_STEPS: usize = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_equals_the_model() {
    for seed in seeds(1) {
        steps::run(perigee_store::Engine::Sqlite, seed, SQLITE_STEPS).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_equals_the_model() {
    for seed in seeds(1) {
        steps::run(perigee_store::Engine::Postgres, seed, POSTGRES_STEPS).await;
    }
}

/// Fixed seeds, or the one in `PERIGEE_MODEL_SEED` to look at a failure or to run for longer.
fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("PERIGEE_MODEL_SEED") {
        Ok(seed) => vec![seed.parse().expect("a number")],
        Err(_unset) => (1..=count).collect(),
    }
}
