//! Metrics of every budget.

use std::time::Duration;

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

use super::exhausted::Bound;
use super::pool::Pool;
use super::queue::Queue;

pub(super) fn describe() {
    describe_gauge!("perigee_budget_bytes", "Bytes held by permits, by budget.");
    describe_gauge!("perigee_budget_running", "Number of running tasks, by budget.");
    describe_gauge!("perigee_budget_waiting", "Number of tasks that wait for a permit, by budget.");
    describe_counter!(
        "perigee_budget_refused_total",
        "Requests refused because a budget was exhausted, by budget and bound (total, address, account)."
    );
    describe_histogram!(
        "perigee_budget_wait_seconds",
        "Time that tasks waited for a permit, in seconds, by budget."
    );
}

pub(super) fn count_refusal(budget: &'static str, bound: Bound) {
    counter!("perigee_budget_refused_total", "budget" => budget, "bound" => bound.label()).increment(1);
}

pub(super) fn record_wait(budget: &'static str, waited: Duration) {
    histogram!("perigee_budget_wait_seconds", "budget" => budget).record(waited.as_secs_f64());
}

#[expect(clippy::cast_precision_loss, reason = "a gauge is a float; 2^53 bytes are not held")]
pub(super) fn publish_pool(pool: &Pool) {
    gauge!("perigee_budget_bytes", "budget" => pool.name()).set(pool.used() as f64);
}

#[expect(clippy::cast_precision_loss, reason = "a gauge is a float; queues are short")]
pub(super) fn publish_queue(queue: &Queue) {
    let (running, waiting) = queue.load();
    gauge!("perigee_budget_running", "budget" => queue.name()).set(running as f64);
    gauge!("perigee_budget_waiting", "budget" => queue.name()).set(waiting as f64);
}
