//! The server's health for operators: backlogs, disk space and lag.

use axum::extract::State;
use perigee_core::notification::Channel;
use perigee_core::store::{Backlog, StoreMetrics};
use perigee_core::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::disk::DiskSpace;
use crate::http::error::ApiResult;
use crate::http::extract::{OperatorCaller, Params};
use crate::http::reply::Reply;

/// The file beside the store in which a backup notes when it was made.
pub const LAST_BACKUP: &str = "last-backup.txt";

/// How the server is, as it is answered.
#[derive(Serialize, ToSchema)]
#[schema(as = OneHealth)]
pub struct HealthAnswer {
    /// How the server is.
    health: HealthView,
}

/// How the server is. What is of one node is of the node that answers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Health)]
pub struct HealthView {
    /// The version of the node.
    #[schema(example = "0.1.0")]
    version: &'static str,
    /// When the node was started.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    started_at: String,
    /// Seconds since the node was started.
    #[schema(example = 86_400)]
    uptime_seconds: i64,
    /// Size and state of the store.
    store: StoreView,
    /// What waits for its commit on the node.
    intake: IntakeView,
    /// Messages to people that wait or are under way.
    messages: MessagesView,
    /// Messages to webhooks that wait or are under way.
    webhooks: BacklogView,
    /// Seconds that the oldest location has waited to be judged by rules; 0 when none waits.
    #[schema(example = 0)]
    rules_lag_seconds: i64,
    /// Locations being packed away by the node.
    packing: PackingView,
    /// Connections to the node.
    connections: ConnectionsView,
    /// When the embedded store was last copied by `perigee backup`; null when it never was, or not from here.
    #[schema(example = "2026-05-01T03:00:00Z", format = DateTime)]
    last_backup: Option<String>,
}

/// Size and state of the store.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HealthStore)]
pub struct StoreView {
    /// The engine: `sqlite` or `postgresql`.
    #[schema(example = "sqlite", pattern = "^(sqlite|postgresql)$")]
    engine: &'static str,
    /// Its size in bytes.
    #[schema(example = 52_428_800)]
    bytes: u64,
    /// Bytes free on the disk it lies on; null when that is another machine's.
    #[schema(example = 107_374_182_400_u64)]
    free_bytes: Option<u64>,
    /// Bytes of that disk.
    #[schema(example = 214_748_364_800_u64)]
    disk_bytes: Option<u64>,
    /// Whether less is free there than the operator set to be warned of.
    #[schema(example = false)]
    space_low: bool,
    /// Damaged rows that the node passed over since it was started; `perigee verify` lists them.
    #[schema(example = 0)]
    damaged_rows: u64,
    /// Damaged rows that were set aside into the table `quarantine`, by any node and at any time.
    #[schema(example = 0)]
    quarantined_rows: u64,
    /// The number of accounts.
    #[schema(example = 4)]
    accounts: u64,
    /// Users of all accounts.
    #[schema(example = 12)]
    users: u64,
    /// Devices of all accounts.
    #[schema(example = 250)]
    devices: u64,
}

/// What waits for its commit.
#[derive(Serialize, ToSchema)]
#[schema(as = HealthIntake)]
pub struct IntakeView {
    /// Changes of all kinds.
    #[schema(example = 0)]
    writes: u64,
    /// The number of stored locations.
    #[schema(example = 0)]
    locations: u64,
}

/// Messages to people, by channel.
#[derive(Serialize, ToSchema)]
#[schema(as = HealthMessages)]
pub struct MessagesView {
    /// E-mails that wait to be sent.
    email: BacklogView,
    /// SMS that wait to be sent.
    sms: BacklogView,
}

/// Messages of one kind that wait.
#[derive(Serialize, ToSchema)]
#[schema(as = HealthBacklog)]
pub struct BacklogView {
    /// Messages that wait to be sent.
    #[schema(example = 0)]
    waiting: u64,
    /// Since when the oldest of them does.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    oldest: Option<String>,
}

/// Locations being packed away.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HealthPacking)]
pub struct PackingView {
    /// Whether some are at this moment.
    #[schema(example = false)]
    at_work: bool,
    /// How many were since the start.
    #[schema(example = 1_000_000)]
    packed: u64,
}

/// Connections of clients to this node.
#[derive(Serialize, ToSchema)]
#[schema(as = HealthConnections)]
pub struct ConnectionsView {
    /// Those that are open.
    #[schema(example = 12)]
    open: usize,
    /// Those that may be.
    #[schema(example = 10_000)]
    limit: usize,
}

impl From<Backlog> for BacklogView {
    fn from(backlog: Backlog) -> Self {
        Self { waiting: backlog.waiting, oldest: backlog.oldest.map(|instant| instant.to_string()) }
    }
}

fn messages(figures: &StoreMetrics) -> MessagesView {
    let of = |wanted: Channel| {
        let found = figures.messages.iter().find(|(channel, _)| *channel == wanted);
        BacklogView::from(found.map(|(_, backlog)| *backlog).unwrap_or_default())
    };
    MessagesView { email: of(Channel::Email), sms: of(Channel::Sms) }
}

fn last_backup(app: &App) -> Option<String> {
    let url = app.config.store.database_url().ok()?;
    let note = std::fs::read_to_string(url.sqlite_path()?.with_file_name(LAST_BACKUP)).ok()?;
    note.trim().parse::<Timestamp>().ok().map(|instant| instant.to_string())
}

/// Read how the server is.
#[utoipa::path(get, path = "/api/operator/health", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "How the server is.", body = HealthAnswer)))]
pub async fn get_operator_health(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    params: Params,
) -> ApiResult<Reply<HealthAnswer>> {
    params.finish()?;
    let figures = app.store.store_metrics().await?;
    let disk = DiskSpace::of_store(&app.config);
    let (intake, now) = (app.store.pending_writes(), caller.now());
    let uptime = app.clock.monotonic().since(app.started_monotonic);
    let seconds_since = |instant: Timestamp| (now.as_millis() - instant.as_millis()).max(0) / 1_000;
    let health = HealthView {
        version: env!("CARGO_PKG_VERSION"),
        started_at: app.started.to_string(),
        uptime_seconds: i64::try_from(uptime.as_secs()).unwrap_or(i64::MAX),
        messages: messages(&figures),
        webhooks: BacklogView::from(figures.deliveries),
        rules_lag_seconds: figures.oldest_unevaluated.map_or(0, seconds_since),
        store: StoreView {
            engine: figures.engine,
            bytes: figures.bytes,
            free_bytes: disk.map(|disk| disk.free),
            disk_bytes: disk.map(|disk| disk.total),
            space_low: disk.is_some_and(|disk| disk.is_low(&app.config.store)),
            damaged_rows: figures.damage.passed_over,
            quarantined_rows: figures.damage.set_aside,
            accounts: figures.accounts,
            users: figures.users,
            devices: figures.devices,
        },
        intake: IntakeView { writes: intake.writes, locations: intake.locations },
        packing: PackingView { at_work: app.compaction.is_running(), packed: app.compaction.locations() },
        connections: ConnectionsView {
            open: app.connections.now(),
            limit: app.config.server.max_connections,
        },
        last_backup: last_backup(&app),
    };
    Ok(caller.reply(HealthAnswer { health }))
}
