//! The loops of the jobs. A job gives the pause until its next run, and is stopped between two runs.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use perigee_core::notifications::notification::Channel;
use perigee_store::Database;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::feeds::Polls;
use super::{
    RuleEngine, Worker, announce_expiries, compact_locations, delete_expired_locations, delete_old_records,
    escalate, forget_expired, load_signing_keys, note_receipts, poll_feeds, publish_store, replay_claimed,
    run_commands, save_hours, save_usage, store_missing_alerts, trim_logs, watch_clock, watch_feeds,
    watch_store, write_overview,
};
use crate::app::App;
use crate::senders::{ChannelSenders, MessageCentre};
use crate::webhook;

const SAVE_USAGE_EVERY: Duration = Duration::from_secs(2);
/// A rotation takes effect on every node within five seconds, commits included.
const LOAD_KEYS_EVERY: Duration = Duration::from_secs(2);
const SAVE_HOURS_EVERY: Duration = Duration::from_mins(1);
const WATCH_CLOCK_EVERY: Duration = Duration::from_secs(10);
const PUBLISH_EVERY: Duration = Duration::from_secs(5);
const WATCH_EVERY: Duration = Duration::from_secs(30);
/// Unknown devices that were heard are saved, and those that were claimed on another node are noticed.
const REPLAY_CLAIMED_EVERY: Duration = Duration::from_secs(5);
/// A command that was given on another node reaches its device within this time.
const RUN_COMMANDS_EVERY: Duration = Duration::from_secs(2);
const WATCH_FEEDS_EVERY: Duration = Duration::from_secs(5);
const TRIM_EVERY: Duration = Duration::from_mins(10);
const FORGET_EVERY: Duration = Duration::from_hours(1);
/// Deletion begins a minute after the start, so that it does not compete with more urgent work.
const RETIRE_FIRST: Duration = Duration::from_mins(1);
const RETIRE_EVERY: Duration = Duration::from_hours(1);
/// The search for alerts that earlier versions lost begins after the start.
const SEARCH_FIRST: Duration = Duration::from_secs(10);
/// Pause of a job after a panic, which is in the log.
const AFTER_PANIC: Duration = Duration::from_secs(30);

/// The jobs of a running service.
#[derive(Debug, Default)]
pub struct Jobs {
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Jobs {
    /// Starts every job of the service.
    pub fn start(app: &App, database: &Database, senders: &ChannelSenders) -> Self {
        let jobs = Self::default();
        for channel in Channel::ALL {
            jobs.send(Worker::new(app, senders, *channel));
        }
        jobs.evaluate_rules(app);
        jobs.tasks.spawn(webhook::run(Arc::clone(&app.webhooks), jobs.stop.clone()));
        jobs.keep_store(app, database);
        jobs.keep_records(app);
        jobs.keep_devices_and_feeds(app);
        jobs.run(
            app,
            "announce-expiries",
            Duration::ZERO,
            |app| async move { announce_expiries(&app).await },
        );
        jobs.run(app, "write-overviews", Duration::ZERO, |app| async move { write_overview(&app).await });
        jobs.run(app, "escalate-alerts", Duration::ZERO, |app| async move { escalate(&app).await });
        jobs
    }

    /// Packs, trims and deletes what is stored, and watches the store.
    fn keep_store(&self, app: &App, database: &Database) {
        let (packer, pressed) = (app.clone(), app.clone());
        self.repeat_or_when(
            "compact-locations",
            Duration::ZERO,
            move || {
                let app = pressed.clone();
                async move { app.store.wait_for_compaction_pressure().await }
            },
            move || {
                let app = packer.clone();
                async move { compact_locations(&app).await }
            },
        );
        self.run(app, "trim-logs", Duration::ZERO, |app| async move {
            trim_logs(&app).await;
            TRIM_EVERY
        });
        self.run(app, "retire-locations", RETIRE_FIRST, |app| async move {
            delete_expired_locations(&app).await;
            delete_old_records(&app).await;
            RETIRE_EVERY
        });
        self.run(app, "watch-store", Duration::ZERO, |app| async move {
            watch_store(&app).await;
            WATCH_EVERY
        });
        let (budget, database) = (app.budget.clone(), database.clone());
        self.repeat("publish-figures", Duration::ZERO, move || {
            publish_store(database.stats());
            budget.publish();
            std::future::ready(PUBLISH_EVERY)
        });
    }

    /// Saves what is counted in memory, and reads again what another node may have changed.
    fn keep_records(&self, app: &App) {
        self.run(app, "save-usage", SAVE_USAGE_EVERY, |app| async move {
            save_usage(&app).await;
            SAVE_USAGE_EVERY
        });
        self.run(app, "save-hours", SAVE_HOURS_EVERY, |app| async move {
            save_hours(&app).await;
            SAVE_HOURS_EVERY
        });
        self.run(app, "load-signing-keys", LOAD_KEYS_EVERY, |app| async move {
            load_signing_keys(&app).await;
            LOAD_KEYS_EVERY
        });
        self.run(app, "watch-clock", Duration::ZERO, |app| async move {
            watch_clock(&app).await;
            WATCH_CLOCK_EVERY
        });
        self.run(app, "forget-expired", Duration::ZERO, |app| async move {
            forget_expired(&app).await;
            FORGET_EVERY
        });
    }

    /// Stores what was kept of unknown devices that were claimed, sends commands, and fetches from feeds.
    fn keep_devices_and_feeds(&self, app: &App) {
        let (claims, waiting) = (app.clone(), app.clone());
        self.repeat_or_when(
            "replay-claimed",
            Duration::ZERO,
            move || {
                let app = waiting.clone();
                async move { app.ingest.wait_for_claims().await }
            },
            move || {
                let app = claims.clone();
                async move {
                    replay_claimed(&app).await;
                    REPLAY_CLAIMED_EVERY
                }
            },
        );
        self.run(app, "missing-alerts", SEARCH_FIRST, |app| async move { store_missing_alerts(&app).await });
        self.run(app, "run-commands", Duration::ZERO, |app| async move {
            run_commands(&app).await;
            RUN_COMMANDS_EVERY
        });
        self.run(app, "watch-feeds", WATCH_FEEDS_EVERY, |app| async move {
            watch_feeds(&app).await;
            WATCH_FEEDS_EVERY
        });
        let (polls, tasks) = (Arc::new(Polls::default()), self.tasks.clone());
        self.run(app, "poll-feeds", WATCH_FEEDS_EVERY, move |app| {
            let (polls, tasks) = (Arc::clone(&polls), tasks.clone());
            async move { poll_feeds(&app, &polls, &tasks).await }
        });
    }

    /// Runs a worker until the service stops; restarts it after a panic.
    fn send(&self, worker: Worker) {
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            while let Err(error) = tokio::spawn(worker.clone().run(stop.clone())).await {
                tracing::error!(job = "send-messages", %error, "a background job broke off");
                tokio::time::sleep(AFTER_PANIC).await;
            }
        });
    }

    /// Runs the rule engine until the service stops; restarts it after a panic.
    fn evaluate_rules(&self, app: &App) {
        let (stop, app) = (self.stop.clone(), app.clone());
        self.tasks.spawn(async move {
            loop {
                let engine = Arc::new(RuleEngine::new(app.clone()));
                let Err(error) = tokio::spawn(engine.run(stop.clone())).await else { return };
                tracing::error!(job = "evaluate-rules", %error, "a background job broke off");
                tokio::time::sleep(AFTER_PANIC).await;
            }
        });
    }

    /// Keeps the session with a message centre bound until the service stops, and records its receipts.
    pub fn stay_bound(&self, app: &App, centre: MessageCentre) {
        let (stop, app) = (self.stop.clone(), app.clone());
        self.tasks.spawn(async move {
            let MessageCentre { gateway, receipts } = centre;
            tokio::select! {
                () = stop.cancelled() => {}
                () = gateway.stay_bound() => {}
                () = note_receipts(&app, receipts) => {}
            }
        });
    }

    /// Runs a job of the service repeatedly, with the pause it gives.
    fn run<F, R>(&self, app: &App, name: &'static str, first_rest: Duration, run: F)
    where
        F: Fn(App) -> R + Send + 'static,
        R: Future<Output = Duration> + Send + 'static,
    {
        let app = app.clone();
        self.repeat(name, first_rest, move || run(app.clone()));
    }

    /// Runs a job repeatedly, with the pause it gives.
    fn repeat<F, R>(&self, name: &'static str, first_rest: Duration, run: F)
    where
        F: Fn() -> R + Send + 'static,
        R: Future<Output = Duration> + Send + 'static,
    {
        self.repeat_or_when(name, first_rest, std::future::pending, run);
    }

    /// The same, with a pause that ends early when `when` resolves.
    fn repeat_or_when<W, H, F, R>(&self, name: &'static str, first_rest: Duration, when: W, run: F)
    where
        W: Fn() -> H + Send + 'static,
        H: Future<Output = ()> + Send + 'static,
        F: Fn() -> R + Send + 'static,
        R: Future<Output = Duration> + Send + 'static,
    {
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            let mut rest = first_rest;
            loop {
                tokio::select! {
                    () = stop.cancelled() => break,
                    () = tokio::time::sleep(rest) => {}
                    () = when() => {}
                }
                // A task of its own, so that a panic ends one run and not the job.
                rest = tokio::spawn(run()).await.unwrap_or_else(|error| {
                    tracing::error!(job = name, %error, "a background job broke off");
                    AFTER_PANIC
                });
            }
        });
    }

    /// Stops every job after its current run.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_job_outlives_its_panic_and_ends_when_told() {
        tokio::time::pause();
        let jobs = Jobs::default();
        let (sender, mut runs) = mpsc::unbounded_channel();
        jobs.repeat("test", Duration::ZERO, move || {
            let sender = sender.clone();
            async move {
                sender.send(()).unwrap();
                panic!("on purpose");
            }
        });
        runs.recv().await.unwrap();
        runs.recv().await.unwrap();
        jobs.stop().await;
        while runs.recv().await.is_some() {}
    }
}
