//! A store beside a model that keeps everything in plain lists: random changes to both, and every read must agree.

#![expect(clippy::unwrap_used, reason = "a step that cannot go on has failed")]

mod actual;
mod chance;
mod expected;
mod steps;

use perigee_store::Engine;

/// Steps on the engine whose commits cost no round trips.
const SQLITE_STEPS: usize = 1_000;
const POSTGRES_STEPS: usize = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_equals_the_model() {
    steps::run(Engine::Sqlite, seed(1), SQLITE_STEPS).await;
}

/// Another walk: this one once found a doubt that a crash brought back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_equals_the_model_after_other_steps() {
    steps::run(Engine::Sqlite, seed(25), SQLITE_STEPS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_equals_the_model() {
    steps::run(Engine::Postgres, seed(1), POSTGRES_STEPS).await;
}

/// This one, or that in `PERIGEE_MODEL_SEED` to look at a failure or to run for longer.
fn seed(usual: u64) -> u64 {
    std::env::var("PERIGEE_MODEL_SEED").map_or(usual, |seed| seed.parse().expect("a number"))
}
