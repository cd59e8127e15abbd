//! The server's health for operators: backlogs, disk space and lag.

use perigee_core::notifications::notification::Channel;
use perigee_core::store::{Backlog, StoreMetrics};
use perigee_core::time::Timestamp;

use crate::disk::DiskSpace;
use crate::http::extract::OperatorCaller;
use crate::http::prelude::*;

/// The file beside the store in which a backup records when it was made.
pub const LAST_BACKUP: &str = "last-backup.txt";

/// State of the server.
#[derive(Serialize, ToSchema)]
#[schema(as = OneHealth)]
pub struct HealthAnswer {
    /// State of the server.
    health: HealthView,
}

/// State of the server. Members about a node describe the node that answers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Health)]
pub struct HealthView {
    /// Version of the program that the node runs.
    #[schema(example = "0.1.0")]
    version: &'static str,
    /// Time at which the node was started.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    started_at: String,
    /// Time since the node was started, in seconds.
    #[schema(example = 86_400)]
    uptime_seconds: i64,
    /// Size and state of the store.
    store: StoreView,
    /// Changes and locations that wait for their commit on the node.
    intake: IntakeView,
    /// Notifications to people that wait or are being sent.
    messages: MessagesView,
    /// Deliveries to webhooks that wait or are being sent.
    webhooks: BacklogView,
    /// Age of the oldest location that rules have not evaluated yet, in seconds. 0 if none waits.
    #[schema(example = 0)]
    rules_lag_seconds: i64,
    /// Compaction of locations by the node.
    packing: PackingView,
    /// Connections of clients to the node.
    connections: ConnectionsView,
    /// Time of the last copy made with `perigee backup`. Null if there is none, or if the engine is not `sqlite`.
    #[schema(example = "2026-05-01T03:00:00Z", format = DateTime)]
    last_backup: Option<String>,
}

/// Size and state of the store.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HealthStore)]
pub struct StoreView {
    /// Database engine: `sqlite` or `postgresql`.
    #[schema(example = "sqlite", pattern = "^(sqlite|postgresql)$")]
    engine: &'static str,
    /// Size of the store, in bytes.
    #[schema(example = 52_428_800)]
    bytes: u64,
    /// Free space on the disk of the store, in bytes. Null if the disk belongs to another machine.
    #[schema(example = 107_374_182_400_u64)]
    free_bytes: Option<u64>,
    /// Size of the disk of the store, in bytes. Null if the disk belongs to another machine.
    #[schema(example = 214_748_364_800_u64)]
    disk_bytes: Option<u64>,
    /// Whether the free space is below the threshold in the server's settings.
    #[schema(example = false)]
    space_low: bool,
    /// Whether the node stores raw messages within their quotas. It does not while more than 90 % of the disk is used,
    /// or while the database has 90 % of the size limit in the server's settings. Locations and alerts are stored in
    /// any case.
    #[schema(example = true)]
    raw_messages_stored: bool,
    /// Damaged rows that the node skipped since it was started. `perigee verify` lists them.
    #[schema(example = 0)]
    damaged_rows: u64,
    /// Damaged rows that were moved to the table `quarantine`, by any node and at any time.
    #[schema(example = 0)]
    quarantined_rows: u64,
    /// Number of accounts.
    #[schema(example = 4)]
    accounts: u64,
    /// Number of users of all accounts.
    #[schema(example = 12)]
    users: u64,
    /// Number of devices of all accounts.
    #[schema(example = 250)]
    devices: u64,
}

/// Work that waits for its commit.
#[derive(Serialize, ToSchema)]
#[schema(as = HealthIntake)]
pub struct IntakeView {
    /// Number of changes of all kinds that wait for their commit.
    #[schema(example = 0)]
    writes: u64,
    /// Number of locations that wait for their commit.
    #[schema(example = 0)]
    locations: u64,
}

/// Notifications that wait or are being sent, by channel.
#[derive(Serialize, ToSchema)]
#[schema(as = HealthMessages)]
pub struct MessagesView {
    /// E-mails that wait or are being sent.
    email: BacklogView,
    /// SMS that wait or are being sent.
    sms: BacklogView,
    /// Messages by all other channels that wait or are being sent.
    others: BacklogView,
}

/// Messages of one kind that wait or are being sent.
#[derive(Serialize, ToSchema)]
#[schema(as = HealthBacklog)]
pub struct BacklogView {
    /// Number of messages that wait or are being sent.
    #[schema(example = 0)]
    waiting: u64,
    /// Time at which the oldest of these messages was queued. Null if none is waiting.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    oldest: Option<String>,
}

/// Compaction of locations into chunks, a background job.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HealthPacking)]
pub struct PackingView {
    /// Whether compaction is running at this moment.
    #[schema(example = false)]
    at_work: bool,
    /// Number of locations compacted since the node was started.
    #[schema(example = 1_000_000)]
    packed: u64,
}

/// Connections of clients to the node.
#[derive(Serialize, ToSchema)]
#[schema(as = HealthConnections)]
pub struct ConnectionsView {
    /// Number of open connections.
    #[schema(example = 12)]
    open: usize,
    /// Maximum number of open connections, from the server's settings.
    #[schema(example = 10_000)]
    limit: usize,
}

impl From<Backlog> for BacklogView {
    fn from(backlog: Backlog) -> Self {
        Self { waiting: backlog.waiting, oldest: backlog.oldest.map(|instant| instant.to_string()) }
    }
}

fn messages(metrics: &StoreMetrics) -> MessagesView {
    let of = |wanted: Channel| {
        let found = metrics.messages.iter().find(|(channel, _)| *channel == wanted);
        BacklogView::from(found.map(|(_, backlog)| *backlog).unwrap_or_default())
    };
    let others =
        metrics.messages.iter().filter(|(channel, _)| !matches!(*channel, Channel::EMAIL | Channel::SMS));
    let others = others.fold(Backlog::default(), |sum, (_, one)| Backlog {
        waiting: sum.waiting + one.waiting,
        oldest: [sum.oldest, one.oldest].into_iter().flatten().min(),
    });
    MessagesView { email: of(Channel::EMAIL), sms: of(Channel::SMS), others: others.into() }
}

fn last_backup(app: &App) -> Option<String> {
    let url = app.config.store.database_url().ok()?;
    let note = std::fs::read_to_string(url.sqlite_path()?.with_file_name(LAST_BACKUP)).ok()?;
    note.trim().parse::<Timestamp>().ok().map(|instant| instant.to_string())
}

/// Retrieve the health of the server
///
/// Returns the size of the store, backlogs, lag and connections. Requires an operator of the server with a console
/// session.
#[utoipa::path(get, path = "/api/operator/health", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "The health of the server.", body = HealthAnswer)))]
pub async fn get_operator_health(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    params: Params,
) -> ApiReply<HealthAnswer> {
    params.finish()?;
    let metrics = app.store.store_metrics().await?;
    let disk = DiskSpace::of_store(&app.config);
    let (intake, now) = (app.store.pending_writes(), caller.now());
    let uptime = app.clock.monotonic().since(app.health.started_monotonic);
    let seconds_since = |instant: Timestamp| (now.as_millis() - instant.as_millis()).max(0) / 1_000;
    let health = HealthView {
        version: env!("CARGO_PKG_VERSION"),
        started_at: app.health.started.to_string(),
        uptime_seconds: i64::try_from(uptime.as_secs()).unwrap_or(i64::MAX),
        messages: messages(&metrics),
        webhooks: BacklogView::from(metrics.deliveries),
        rules_lag_seconds: metrics.oldest_unevaluated.map_or(0, seconds_since),
        store: StoreView {
            engine: metrics.engine,
            bytes: metrics.bytes,
            free_bytes: disk.map(|disk| disk.free),
            disk_bytes: disk.map(|disk| disk.total),
            space_low: disk.is_some_and(|disk| disk.is_low(&app.config.store)),
            raw_messages_stored: app.ingest.raw.keeps_messages(),
            damaged_rows: metrics.damage.passed_over,
            quarantined_rows: metrics.damage.set_aside,
            accounts: metrics.accounts,
            users: metrics.users,
            devices: metrics.devices,
        },
        intake: IntakeView { writes: intake.writes, locations: intake.locations },
        packing: PackingView {
            at_work: app.health.compaction.is_running(),
            packed: app.health.compaction.locations(),
        },
        connections: ConnectionsView {
            open: app.health.connections.now(),
            limit: app.config.server.max_connections,
        },
        last_backup: last_backup(&app),
    };
    Ok(caller.reply(HealthAnswer { health }))
}
