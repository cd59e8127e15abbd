//! A store beside a model that keeps everything in plain lists: random changes to both, and every read must agree.

#![expect(clippy::unwrap_used, reason = "a step that cannot go on has failed")]

mod actual;
mod chance;
mod expected;
mod steps;

use perigee_store::Engine;

/// Random steps of a run. SQLite makes more of them, because its commits cost no round trips.
const SQLITE_STEPS: usize = 1_000;
const POSTGRES_STEPS: usize = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_equals_the_model() {
    steps::run(Engine::Sqlite, seed(1), SQLITE_STEPS).await;
}

/// Another seed, which once found an unconfirmed jump that a crash brought back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_equals_the_model_after_other_steps() {
    steps::run(Engine::Sqlite, seed(25), SQLITE_STEPS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_equals_the_model() {
    steps::run(Engine::Postgres, seed(1), POSTGRES_STEPS).await;
}

/// The usual seed, or the one in `PERIGEE_MODEL_SEED`, to reproduce a failure or to try other steps.
fn seed(usual: u64) -> u64 {
    std::env::var("PERIGEE_MODEL_SEED").map_or(usual, |seed| seed.parse().expect("a number"))
}
