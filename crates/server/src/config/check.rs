//! Checks of settings beyond their types, and their conversion for the parts they configure.

use std::net::SocketAddr;
use std::time::Duration;

use perigee_core::accounts::account::LICENSES_MAX;
use perigee_core::accounts::retention::{RETENTION_DAYS_MAX, RecordRetention};
use perigee_store::{DatabaseUrl, ParseUrlError, UNSAFE_COMMITS};
use secrecy::ExposeSecret;
use url::Url;

use super::{
    Auth, BaseUrl, Config, ConfigError, Events, FirstStart, ForwardedBy, Limits, Metrics, Notifications,
    Retention, Server, Store, Webhooks,
};
use crate::serve::{ForwardedHeader, Network, NetworkError, ServeConfig, TrustedProxies};

/// The longest wait for a database, a day.
const WAIT_MAX_S: u64 = 86_400;
/// The largest price of a unit of a channel.
const PRICE_MAX: f64 = 1e6;
/// The longest wait for the replica, in milliseconds.
const REPLICA_LAG_MAX_MS: u64 = 10_000;

impl Config {
    /// Checks rules that types cannot express.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.server.validate()?;
        self.store.validate()?;
        self.first_start.validate()?;
        self.auth.validate()?;
        self.limits.validate()?;
        self.budget.validate()?;
        self.events.validate()?;
        self.retention.validate()?;
        self.notifications.validate()?;
        self.email.validate()?;
        self.sms.validate()?;
        self.push.validate()?;
        self.validate_channels()?;
        self.webhooks.validate()?;
        self.gateways.validate()?;
        if !self.gateways.tls.is_empty() && self.server.tls_certificate.is_none() {
            return refuse(
                "gateways.tls",
                "requires server.tls_certificate and server.tls_key: the same certificate is used for trackers; set both",
            );
        }
        self.map.validate()?;
        self.metrics.validate()
    }
}

/// Whether a text is an origin as browsers write it: scheme, host, and the port unless it is the usual one.
fn is_origin(text: &str) -> bool {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.is_some_and(|url| url.origin().ascii_serialization() == text)
}

impl Server {
    fn validate(&self) -> Result<(), ConfigError> {
        if self.tls_certificate.is_some() != self.tls_key.is_some() {
            return refuse("server.tls_key", "set both tls_certificate and tls_key, or neither");
        }
        if self.max_connections == 0 || self.max_connections_per_address == 0 {
            return refuse(
                "server.max_connections",
                "max_connections and max_connections_per_address must be at least 1",
            );
        }
        self.limits()?;
        if let Some(wrong) = self.cors_origins.iter().find(|origin| !is_origin(origin)) {
            return refuse(
                "server.cors_origins",
                format!(
                    "{wrong:?} is not an origin; give one such as \"https://fleet.example.com\", without a path and without \"*\""
                ),
            );
        }
        if !self.base_url.is_empty() {
            BaseUrl::parse(&self.base_url)?;
        }
        Ok(())
    }

    /// The limits on connections from these settings.
    pub fn limits(&self) -> Result<ServeConfig, ConfigError> {
        let networks: Result<Vec<Network>, _> =
            self.trusted_proxies.iter().map(|network| network.parse()).collect();
        let networks =
            networks.or_else(|error: NetworkError| refuse("server.trusted_proxies", error.to_string()))?;
        Ok(ServeConfig {
            shutdown_timeout: Duration::from_secs(self.shutdown_seconds),
            max_connections: self.max_connections,
            max_connections_per_address: self.max_connections_per_address,
            trusted_proxies: TrustedProxies::new(networks),
            forwarded_header: match self.forwarded_header {
                ForwardedBy::XForwardedFor => ForwardedHeader::XForwarded,
                ForwardedBy::Forwarded => ForwardedHeader::Rfc7239,
            },
            ..ServeConfig::default()
        })
    }

    /// The public URL if the service listens on this address.
    pub fn base_url_at(&self, address: SocketAddr) -> Result<BaseUrl, ConfigError> {
        if !self.base_url.is_empty() {
            return BaseUrl::parse(&self.base_url);
        }
        let scheme = if self.tls_certificate.is_some() { "https" } else { "http" };
        // Clients cannot connect to the unspecified address.
        let host = if address.ip().is_unspecified() {
            format!("localhost:{}", address.port())
        } else {
            address.to_string()
        };
        BaseUrl::parse(&format!("{scheme}://{host}"))
    }
}

impl Store {
    fn validate(&self) -> Result<(), ConfigError> {
        if !(1..=1_000).contains(&self.connections) {
            return refuse("store.connections", "must be between 1 and 1000");
        }
        if self.wait_seconds > WAIT_MAX_S {
            return refuse("store.wait_seconds", "must be between 0 and 86400");
        }
        if !(1..=REPLICA_LAG_MAX_MS).contains(&self.replica_lag_ms) {
            return refuse("store.replica_lag_ms", "must be between 1 and 10000");
        }
        self.replica()?;
        let known = |value: &String| UNSAFE_COMMITS.contains(&value.as_str());
        if !self.allow_synchronous_commit.iter().all(known) {
            return refuse(
                "store.allow_synchronous_commit",
                "must contain only \"off\", \"local\" and \"remote_write\"",
            );
        }
        if self.warn_free_percent > 100 {
            return refuse("store.warn_free_percent", "must be between 0 and 100");
        }
        self.database_url().map(drop)
    }

    /// Where the database is.
    pub fn database_url(&self) -> Result<DatabaseUrl, ConfigError> {
        if self.database.is_empty() {
            return Ok(DatabaseUrl::sqlite(self.data.join("perigee.db")));
        }
        self.database.parse().or_else(|error: ParseUrlError| refuse("store.database", error.to_string()))
    }

    /// The standby that histories are read from, if one is configured.
    pub fn replica(&self) -> Result<Option<DatabaseUrl>, ConfigError> {
        if self.replica_url.is_empty() {
            return Ok(None);
        }
        let parsed: Result<DatabaseUrl, _> = self.replica_url.parse();
        let url = parsed.or_else(|error: ParseUrlError| refuse("store.replica_url", error.to_string()))?;
        if url.sqlite_path().is_some() || self.database_url()?.sqlite_path().is_some() {
            return refuse(
                "store.replica_url",
                "must be a PostgreSQL URL, and store.database must be one as well",
            );
        }
        Ok(Some(url))
    }
}

impl Metrics {
    /// The secret can be guessed from anywhere, so it must be long.
    const LEAST_SECRET: usize = 16;

    /// The address of the listener of `/metrics`, if one is configured.
    pub fn listen_at(&self) -> Result<Option<SocketAddr>, ConfigError> {
        if self.listen.is_empty() {
            return Ok(None);
        }
        match self.listen.parse() {
            Ok(address) => Ok(Some(address)),
            Err(_other) => {
                refuse("metrics.listen", "must be empty or an address and a port such as 127.0.0.1:9090")
            }
        }
    }

    fn validate(&self) -> Result<(), ConfigError> {
        self.listen_at()?;
        let length = self.secret.expose_secret().len();
        if length != 0 && length < Self::LEAST_SECRET {
            return refuse("metrics.secret", "must be empty or have at least 16 characters");
        }
        Ok(())
    }
}

impl FirstStart {
    fn validate(&self) -> Result<(), ConfigError> {
        if self.account_name.is_empty() {
            return refuse("first_start.account_name", "must not be empty");
        }
        if self.licenses > LICENSES_MAX {
            return refuse("first_start.licenses", format!("must be at most {LICENSES_MAX}"));
        }
        Ok(())
    }
}

impl Auth {
    fn validate(&self) -> Result<(), ConfigError> {
        if !(60..=86_400).contains(&self.token_seconds) {
            return refuse("auth.token_seconds", "must be between 60 and 86400");
        }
        let lifetimes = [
            ("auth.session_seconds", self.session_seconds),
            ("auth.reset_link_seconds", self.reset_link_seconds),
            ("auth.invitation_seconds", self.invitation_seconds),
        ];
        match lifetimes.into_iter().find(|(_, seconds)| *seconds < 300) {
            Some((key, _)) => refuse(key, "must be at least 300"),
            None => Ok(()),
        }
    }
}

impl Limits {
    fn validate(&self) -> Result<(), ConfigError> {
        let above_zero = [
            ("limits.requests_per_second", self.requests_per_second),
            ("limits.burst", self.burst),
            ("limits.token_failures_per_minute", self.token_failures_per_minute),
            ("limits.bad_tokens_per_second", self.bad_tokens_per_second),
        ];
        match above_zero.into_iter().find(|(_, value)| *value == 0) {
            Some((key, _)) => refuse(key, "must be at least 1"),
            None => Ok(()),
        }
    }
}

impl Events {
    /// A year: the log is for resuming after an outage, not for history.
    const MOST_HOURS: u32 = 8_760;

    fn validate(&self) -> Result<(), ConfigError> {
        if !(1..=Self::MOST_HOURS).contains(&self.retention_hours) {
            return refuse("events.retention_hours", "must be between 1 and 8760");
        }
        Ok(())
    }

    /// How long events are kept, in milliseconds.
    pub fn kept_ms(&self) -> i64 {
        i64::from(self.retention_hours) * 60 * 60 * 1000
    }
}

impl Retention {
    /// Rules are evaluated again up to seven days back when a location is late, and compared with the stored
    /// episodes.
    const LEAST_OCCURRENCE_DAYS: u32 = 30;
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;

    fn validate(&self) -> Result<(), ConfigError> {
        let days = [
            ("retention.audit_days", self.audit_days),
            ("retention.alert_days", self.alert_days),
            ("retention.rule_occurrence_days", self.rule_occurrence_days),
            ("retention.raw_message_days", self.raw_message_days),
            ("retention.unused_message_days", self.unused_message_days),
        ];
        if let Some((key, _)) = days.into_iter().find(|(_, days)| *days > RETENTION_DAYS_MAX) {
            return refuse(key, "must be at most 36500; 0 keeps everything");
        }
        if (1..Self::LEAST_OCCURRENCE_DAYS).contains(&self.rule_occurrence_days) {
            return refuse("retention.rule_occurrence_days", "must be 0 (for ever) or at least 30");
        }
        Ok(())
    }

    /// The same in milliseconds.
    pub fn records(&self) -> RecordRetention {
        let span = |days: u32| (days > 0).then(|| i64::from(days) * Self::DAY_MS);
        RecordRetention {
            audits_ms: span(self.audit_days),
            alerts_ms: span(self.alert_days),
            occurrences_ms: span(self.rule_occurrence_days),
            messages_ms: span(self.raw_message_days),
            unused_messages_ms: span(self.unused_message_days),
        }
    }
}

impl Notifications {
    fn validate(&self) -> Result<(), ConfigError> {
        if !(1..=1_000).contains(&self.concurrency) {
            return refuse("notifications.concurrency", "must be between 1 and 1000");
        }
        if self.retention_days > RETENTION_DAYS_MAX {
            return refuse("notifications.retention_days", "must be at most 36500");
        }
        let is_code = self.currency.len() == 3 && self.currency.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_unused = self.currency.is_empty() && self.prices.is_empty();
        if !is_code && !is_unused {
            return refuse("notifications.currency", "must be the code of a currency, such as EUR");
        }
        if self.prices.values().any(|price| !(0.0..=PRICE_MAX).contains(price)) {
            return refuse("notifications.prices", "must be from 0 to 1000000 each");
        }
        Ok(())
    }
}

impl Webhooks {
    const MOST_SECONDS: u32 = 60;
    const MOST_AT_ONCE: usize = 10_000;

    fn validate(&self) -> Result<(), ConfigError> {
        let wrong = self.allowed_networks.iter().find_map(|text| text.parse::<Network>().err());
        if let Some(error) = wrong {
            return refuse("webhooks.allowed_networks", error.to_string());
        }
        if self.concurrency_per_endpoint == 0 {
            return refuse("webhooks.concurrency_per_endpoint", "must be 1 or more");
        }
        if self.concurrency_per_account == 0 {
            return refuse("webhooks.concurrency_per_account", "must be 1 or more");
        }
        if !(1..=Self::MOST_AT_ONCE).contains(&self.concurrency) {
            return refuse("webhooks.concurrency", "must be between 1 and 10000");
        }
        if !(1..=Self::MOST_SECONDS).contains(&self.timeout_seconds) {
            return refuse("webhooks.timeout_seconds", "must be between 1 and 60");
        }
        Ok(())
    }

    /// The networks that webhooks may always be sent to.
    pub fn networks(&self) -> Vec<Network> {
        self.allowed_networks.iter().filter_map(|text| text.parse().ok()).collect()
    }
}

pub(super) fn refuse<T>(key: &'static str, problem: impl Into<String>) -> Result<T, ConfigError> {
    Err(ConfigError { key, problem: problem.into() })
}
