//! The loops of the jobs. A job returns the pause until its next run, and is stopped between two runs.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use perigee_core::notifications::notification::Channel;
use perigee_core::store::Queue;
use perigee_store::Database;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::feeds::Polls;
use super::{
    RuleEngine, TimelineEngine, Worker, announce_expiries, announce_recorded_sos, compact_locations,
    delete_expired, delete_expired_locations, delete_old_records, escalate, examine_maintenance,
    examine_plans, hand_over_messages, load_signing_keys, make_scheduled_report, note_receipts, poll_feeds,
    publish_store, purge_accounts, replay_claimed, run_commands, save_hours, save_usage,
    store_missing_alerts, trim_logs, watch_clock, watch_feeds, watch_size, watch_store, write_overview,
};
use crate::app::{App, ComposeNudge};
use crate::reports::ReadReport;
use crate::senders::{ChannelSenders, MessageCentre};
use crate::webhook;

const SAVE_USAGE_EVERY: Duration = Duration::from_secs(2);
/// A rotation takes effect on every node within five seconds, including the time of its commit.
const LOAD_KEYS_EVERY: Duration = Duration::from_secs(2);
const SAVE_HOURS_EVERY: Duration = Duration::from_mins(1);
const WATCH_CLOCK_EVERY: Duration = Duration::from_secs(10);
const PUBLISH_EVERY: Duration = Duration::from_secs(5);
const WATCH_EVERY: Duration = Duration::from_secs(30);
const WATCH_SIZE_EVERY: Duration = Duration::from_mins(5);
/// Unknown devices that were heard are saved, and those that were claimed on another node are noticed.
const REPLAY_CLAIMED_EVERY: Duration = Duration::from_secs(5);
/// An SOS that a node recorded before it stopped, or could not announce, is announced.
const ANNOUNCE_SOS_EVERY: Duration = Duration::from_secs(5);
/// A command that was given on another node reaches its device within this time.
const RUN_COMMANDS_EVERY: Duration = Duration::from_secs(2);
const WATCH_FEEDS_EVERY: Duration = Duration::from_secs(5);
const TRIM_EVERY: Duration = Duration::from_mins(10);
const DELETE_EXPIRED_EVERY: Duration = Duration::from_hours(1);
/// Deletion begins a minute after the start, so that it does not compete with more urgent work.
const DELETE_FIRST: Duration = Duration::from_mins(1);
const DELETE_EVERY: Duration = Duration::from_hours(1);
/// Pause before and between searches for accounts whose grace period has ended.
const PURGE_EVERY: Duration = Duration::from_mins(10);
/// Delay after the start before the search for alerts that earlier versions lost.
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
    /// Starts every job of the service. `read_report` reads the report of a saved report, `compose` the message that asks a
    /// traveller to check in.
    pub fn start(
        app: &App,
        database: &Database,
        senders: &ChannelSenders,
        read_report: ReadReport,
        compose: ComposeNudge,
    ) -> Self {
        let jobs = Self::default();
        for channel in Channel::all() {
            jobs.send(Worker::new(app, senders, *channel));
        }
        jobs.evaluate_rules(app);
        jobs.derive_timelines(app);
        jobs.tasks.spawn(webhook::run(Arc::clone(&app.webhooks), jobs.stop.clone()));
        jobs.start_store_jobs(app, database);
        jobs.start_record_jobs(app);
        jobs.start_device_and_feed_jobs(app);
        jobs.run(
            app,
            "announce-expiries",
            Duration::ZERO,
            |app| async move { announce_expiries(&app).await },
        );
        jobs.run(app, "write-overviews", Duration::ZERO, |app| async move { write_overview(&app).await });
        jobs.run(app, "make-reports", Duration::ZERO, move |app| async move {
            make_scheduled_report(&app, read_report).await
        });
        jobs.run(
            app,
            "examine-maintenance",
            Duration::ZERO,
            |app| async move { examine_maintenance(&app).await },
        );
        jobs.run(app, "examine-plans", Duration::ZERO, move |app| async move {
            examine_plans(&app, compose).await
        });
        jobs.run(app, "escalate-alerts", Duration::ZERO, |app| async move { escalate(&app).await });
        jobs
    }

    /// Jobs that compact, trim and delete stored data, and watch the store.
    fn start_store_jobs(&self, app: &App, database: &Database) {
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
        self.run(app, "retire-locations", DELETE_FIRST, |app| async move {
            delete_expired_locations(&app).await;
            delete_old_records(&app).await;
            DELETE_EVERY
        });
        self.run(app, "purge-accounts", PURGE_EVERY, |app| async move {
            purge_accounts(&app).await;
            PURGE_EVERY
        });
        self.run(app, "watch-store", Duration::ZERO, |app| async move {
            watch_store(&app).await;
            WATCH_EVERY
        });
        self.run(app, "watch-size", Duration::ZERO, |app| async move {
            watch_size(&app).await;
            WATCH_SIZE_EVERY
        });
        let (budget, database) = (app.budget.clone(), database.clone());
        self.repeat("publish-figures", Duration::ZERO, move || {
            publish_store(database.stats());
            budget.publish();
            std::future::ready(PUBLISH_EVERY)
        });
    }

    /// Jobs that save counters held in memory, and reload data that another node may have changed.
    fn start_record_jobs(&self, app: &App) {
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
        self.run(app, "delete-expired", Duration::ZERO, |app| async move {
            delete_expired(&app).await;
            DELETE_EXPIRED_EVERY
        });
    }

    /// Jobs that store kept messages of claimed devices, send commands, and poll feeds.
    fn start_device_and_feed_jobs(&self, app: &App) {
        self.run_when_added(app, "replay-claimed", Queue::Identifiers, |app| async move {
            replay_claimed(&app).await;
            REPLAY_CLAIMED_EVERY
        });
        self.run_when_added(app, "announce-sos", Queue::RecordedSos, |app| async move {
            announce_recorded_sos(&app).await;
            ANNOUNCE_SOS_EVERY
        });
        self.run(app, "missing-alerts", SEARCH_FIRST, |app| async move { store_missing_alerts(&app).await });
        self.run(app, "run-commands", Duration::ZERO, |app| async move {
            run_commands(&app).await;
            RUN_COMMANDS_EVERY
        });
        self.run_when_added(app, "hand-over-messages", Queue::Texts, |app| async move {
            hand_over_messages(&app).await
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
                tracing::error!(job = "send-messages", %error, "a background job ended unexpectedly");
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
                tracing::error!(job = "evaluate-rules", %error, "a background job ended unexpectedly");
                tokio::time::sleep(AFTER_PANIC).await;
            }
        });
    }

    /// Runs the timeline engine until the service stops; restarts it after a panic.
    fn derive_timelines(&self, app: &App) {
        let (stop, app) = (self.stop.clone(), app.clone());
        self.tasks.spawn(async move {
            loop {
                let engine = TimelineEngine::new(app.clone());
                let Err(error) = tokio::spawn(engine.run(stop.clone())).await else { return };
                tracing::error!(job = "derive-timelines", %error, "a background job ended unexpectedly");
                tokio::time::sleep(AFTER_PANIC).await;
            }
        });
    }

    /// Keeps the session with a message centre bound until the service stops, and records its receipts.
    pub fn stay_bound(&self, app: &App, centre: MessageCentre) {
        let (stop, app) = (self.stop.clone(), app.clone());
        self.tasks.spawn(async move {
            let MessageCentre { sender, receipts } = centre;
            tokio::select! {
                () = stop.cancelled() => {}
                () = sender.stay_bound() => {}
                () = note_receipts(&app, receipts) => {}
            }
        });
    }

    /// Runs a job of the service repeatedly, with the pause that it returns.
    fn run<F, R>(&self, app: &App, name: &'static str, first_rest: Duration, run: F)
    where
        F: Fn(App) -> R + Send + 'static,
        R: Future<Output = Duration> + Send + 'static,
    {
        let app = app.clone();
        self.repeat(name, first_rest, move || run(app.clone()));
    }

    /// The same, with a pause that ends early when a commit adds to this queue.
    fn run_when_added<F, R>(&self, app: &App, name: &'static str, queue: Queue, run: F)
    where
        F: Fn(App) -> R + Send + 'static,
        R: Future<Output = Duration> + Send + 'static,
    {
        let commits = Arc::new(Mutex::new(app.store.commit_signals().of_queue(queue)));
        let when = move || {
            let commits = Arc::clone(&commits);
            async move {
                // Never an error: the sender belongs to the store.
                let _added = commits.lock().await.changed().await.is_ok();
            }
        };
        let app = app.clone();
        self.repeat_or_when(name, Duration::ZERO, when, move || run(app.clone()));
    }

    /// Runs a job repeatedly, with the pause that it returns.
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
                    tracing::error!(job = name, %error, "a background job ended unexpectedly");
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
    async fn a_job_outlives_its_panic_and_ends_when_stopped() {
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
