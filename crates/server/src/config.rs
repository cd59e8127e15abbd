//! The settings of the server. The defaults and their explanation are in `config.default.toml`.

mod base_url;
mod budget;
mod channels;
mod check;
mod email;
mod gateways;
mod map;
mod map_layer;
mod push;
mod redact;
mod secret;
mod sms;

pub use base_url::BaseUrl;
pub use budget::Budget as BudgetSection;
pub use channels::ChannelSection;
pub use email::{Email as EmailSection, EmailSecurity};
pub use gateways::{ANY_PROTOCOL, ClaimRule, Gateways as GatewaysSection};
pub use map::Map;
pub use map_layer::{LayerSource, MapLayer};
pub use push::Push as PushSection;
pub use sms::{Sms, SmsGateway};

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::path::PathBuf;

use perigee_core::id::AccountId;
use perigee_core::notifications::notification::{Channel, ConfirmationPolicy};
use perigee_core::text::Email;
use perigee_core::zone::Zone;
use perigee_reports::MessagePrices;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

/// All settings of the server.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// How the service is reached.
    pub server: Server,
    /// Where data is kept.
    pub store: Store,
    /// The account that the first start creates.
    pub first_start: FirstStart,
    /// Lifetimes of tokens, sessions and links.
    pub auth: Auth,
    /// Rate limits by account and address.
    pub limits: Limits,
    /// Memory and work of requests that run at the same time.
    pub budget: BudgetSection,
    /// Retention of the event log, and limits on streams and polls.
    pub events: Events,
    /// How long records are kept.
    pub retention: Retention,
    /// Channels, caps and retention of messages to people.
    pub notifications: Notifications,
    /// How e-mail is sent.
    pub email: EmailSection,
    /// How SMS are sent.
    pub sms: Sms,
    /// Section `[push]`: notifications in browsers.
    pub push: PushSection,
    /// The other channels that are set up, by their names.
    #[serde(default)]
    pub channels: BTreeMap<Channel, ChannelSection>,
    /// Section `[webhooks]`.
    pub webhooks: Webhooks,
    /// Section `[gateways]`: ports to which trackers connect.
    pub gateways: GatewaysSection,
    /// Maps the console shows.
    pub map: Map,
    /// Section `[metrics]`: who may read `/metrics`.
    pub metrics: Metrics,
    /// Settings of the log.
    pub log: Log,
}

/// How the service is reached.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The address clients use, with a path prefix if there is one; empty for the listening address.
    pub base_url: String,
    /// Certificate chain in PEM; TLS is on when this and the key are set.
    pub tls_certificate: Option<PathBuf>,
    /// Its private key in PEM.
    pub tls_key: Option<PathBuf>,
    /// Addresses or networks whose forwarding headers are trusted.
    pub trusted_proxies: Vec<String>,
    /// The header those proxies write.
    pub forwarded_header: ForwardedBy,
    /// Origins whose pages may read answers of the API.
    pub cors_origins: Vec<String>,
    /// Connections open at the same time.
    pub max_connections: usize,
    /// Connections open at the same time from one address.
    pub max_connections_per_address: usize,
    /// Seconds that accepted work has to finish when the service is stopped.
    pub shutdown_seconds: u64,
}

/// The header in which trusted proxies report the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedBy {
    /// `X-Forwarded-For` and its companions.
    XForwardedFor,
    /// The `Forwarded` header of RFC 7239.
    Forwarded,
}

/// Where data is kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// The folder of the embedded store and of files the service writes.
    pub data: PathBuf,
    /// `sqlite:PATH` or `postgres://...`; empty for `sqlite:` in the data folder.
    #[serde(serialize_with = "redact::database")]
    pub database: String,
    /// `postgres://...` of a streaming standby that histories are read from; empty for none.
    #[serde(serialize_with = "redact::database")]
    pub replica_url: String,
    /// Milliseconds that a read waits until the standby has everything that was committed before.
    pub replica_lag_ms: u64,
    /// Connections to PostgreSQL, or readers of SQLite.
    pub connections: usize,
    /// Seconds to wait at the start for a PostgreSQL that cannot be reached; 0 not to wait.
    pub wait_seconds: u64,
    /// Values of PostgreSQL's `synchronous_commit` that are accepted although they can lose acknowledged data.
    pub allow_synchronous_commit: Vec<String>,
    /// MiB free on the disk of the embedded store below which the operator is warned; 0 for never.
    pub warn_free_mib: u64,
    /// The same as a share of the disk in per cent.
    pub warn_free_percent: u8,
    /// Size that the database may have, in MiB; from 90 % of it on, raw messages are not kept. 0: no limit.
    pub size_limit_mib: u64,
}

/// The account that the first start creates.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FirstStart {
    /// Name of the first account.
    pub account_name: String,
    /// E-mail address with which its owner signs in.
    pub owner_email: Email,
    /// Devices the account may have active.
    pub licenses: u32,
    /// Time zone of the account's days.
    pub time_zone: Zone,
}

/// Lifetimes of tokens, sessions and links.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// Seconds for which a token is valid.
    pub token_seconds: u32,
    /// Seconds for which a console session is valid.
    pub session_seconds: u32,
    /// Seconds for which a link to set a new password is valid.
    pub reset_link_seconds: u32,
    /// Seconds for which an invitation is valid.
    pub invitation_seconds: u32,
}

/// Rate limits by account and address.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Calls an account may make each second, on average.
    pub requests_per_second: u32,
    /// Calls an account may make in a burst.
    pub burst: u32,
    /// Submissions of locations and alerts a second; 0 for no limit but the queue.
    pub submissions_per_second: u32,
    /// Submissions an account may make in a burst.
    pub submissions_burst: u32,
    /// Failed attempts a minute, per address and per name and address.
    pub token_failures_per_minute: u32,
    /// Bad tokens a second, per address.
    pub bad_tokens_per_second: u32,
    /// Accounts with limits of their own.
    pub accounts: HashMap<AccountId, AccountLimit>,
}

/// An account's own limit.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AccountLimit {
    /// Calls each second, on average.
    pub requests_per_second: u32,
    /// Calls the account may make in a burst.
    pub burst: u32,
}

/// Retention of the event log, and limits on streams and polls.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// Retention of events and of the location feed, in hours.
    pub retention_hours: u32,
    /// Streams one user may have open on a node.
    pub streams_per_user: usize,
    /// Streams the users of one account may have open on a node.
    pub streams_per_account: usize,
    /// Requests with `wait` one user may have waiting on a node.
    pub polls_per_user: usize,
    /// Requests with `wait` the users of one account may have waiting on a node.
    pub polls_per_account: usize,
}

/// How long records are kept, in days; 0 for ever.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// Entries of the audit log.
    pub audit_days: u32,
    /// Alerts, from when they were received.
    pub alert_days: u32,
    /// Episodes of rules, from when they ended.
    pub rule_occurrence_days: u32,
    /// Raw messages of trackers and satellite networks, from when they were received.
    pub raw_message_days: u32,
    /// The same for messages that stored nothing new.
    pub unused_message_days: u32,
}

/// Channels, caps and retention of messages to people.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Notifications {
    /// Whether e-mails are sent at all.
    pub email: bool,
    /// Whether SMS are sent at all.
    pub sms: bool,
    /// Segments of SMS each account may send a day; 0 for no cap.
    pub sms_daily_segments: u32,
    /// Segments of SMS each account may send a calendar month; 0 for no cap.
    pub sms_monthly_segments: u32,
    /// E-mails each account may send a day; 0 for no cap.
    pub email_daily: u32,
    /// E-mails of critical alerts each account may send a day beyond the other caps; 0 for no cap.
    pub email_critical_daily: u32,
    /// E-mails each account may send a day in total, critical alerts too; 0 for no ceiling.
    pub email_ceiling_daily: u32,
    /// E-mails each account may send one recipient an hour; 0 for no cap.
    pub email_recipient_hourly: u32,
    /// Whether recipients who are not users of the account get e-mail only after they confirmed once by a link.
    pub confirm_recipients: bool,
    /// Recipients of each account who are not users and get e-mail without that; 0 for no limit.
    pub unconfirmed_recipients: u32,
    /// Messages of one channel that are sent at the same time.
    pub concurrency: usize,
    /// Days that messages are kept after they were written; 0 for as long as their device.
    pub retention_days: u32,
    /// ISO 4217 code of the currency of the prices; empty without prices.
    pub currency: String,
    /// What a unit of a channel costs: a segment of SMS, a message of another channel.
    pub prices: BTreeMap<Channel, f64>,
}

impl Notifications {
    /// What messages cost, for reports.
    pub fn message_prices(&self) -> MessagePrices {
        MessagePrices { currency: self.currency.clone(), by_channel: self.prices.clone() }
    }

    /// Which recipients must confirm before they receive e-mail.
    pub fn confirmation(&self) -> ConfirmationPolicy {
        let most = self.unconfirmed_recipients;
        ConfirmationPolicy { all: self.confirm_recipients, free: (most > 0).then_some(most) }
    }

    /// Whether messages are sent by this channel at all.
    pub const fn is_on(&self, channel: Channel) -> bool {
        match channel {
            Channel::EMAIL => self.email,
            Channel::SMS => self.sms,
            _ => true,
        }
    }
}

/// Settings of webhooks.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Webhooks {
    /// Whether addresses without TLS may be sent to.
    pub allow_http: bool,
    /// Whether addresses of private and special networks may be sent to.
    pub allow_private: bool,
    /// Addresses or networks that webhooks may always be sent to.
    pub allowed_networks: Vec<String>,
    /// Messages sent to one address at the same time.
    pub concurrency_per_endpoint: usize,
    /// Messages sent for one account at the same time.
    pub concurrency_per_account: usize,
    /// Messages sent for all accounts at the same time.
    pub concurrency: usize,
    /// Seconds to wait for an answer.
    pub timeout_seconds: u32,
}

/// Access to `/metrics`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// The address of a listener that serves only `/metrics`; empty for none. The main listener then serves it only
    /// with the secret.
    pub listen: String,
    /// A bearer secret with which `/metrics` can be read from any address; empty for loopback only.
    #[serde(serialize_with = "redact::secret")]
    pub secret: SecretString,
}

/// Settings of the log.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// `error`, `warn`, `info`, `debug`, `trace`, or a filter such as `info,perigee_store=debug`.
    pub level: String,
    /// How lines are written.
    pub format: LogFormat,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people to read.
    Text,
    /// One JSON object on each line.
    Json,
}

/// A setting that is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct ConfigError {
    /// The setting, as `section.key`.
    pub key: &'static str,
    /// The problem, and the values that are accepted.
    pub problem: String,
}
