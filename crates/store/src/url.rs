//! The address of a database, `sqlite:PATH` or `postgres://...`; its password is never shown.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::config::{Config, Host, SslMode, TargetSessionAttrs};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval of TCP keepalive probes, by which a vanished peer is noticed while nothing is sent.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// How long sent data may stay unacknowledged before the connection is closed.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(15);

/// The address of a database, as the operator configures it.
#[derive(Clone)]
pub struct DatabaseUrl(pub(crate) DatabaseAddress);

#[derive(Clone)]
pub(crate) enum DatabaseAddress {
    Sqlite(PathBuf),
    Postgres(Box<PostgresAddress>),
}

/// How to connect to a PostgreSQL server.
#[derive(Clone)]
pub(crate) struct PostgresAddress {
    pub(crate) config: Config,
    /// Whether the server's certificate is verified.
    pub(crate) verify: bool,
    /// A file of certificates to trust instead of the public ones.
    pub(crate) root_cert: Option<PathBuf>,
    /// Whether statements are prepared once for each connection. Behind a pooler that gives each transaction another
    /// server connection, prepared statements are lost.
    pub(crate) prepares: bool,
}

/// Why a text is not the address of a database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseUrlError {
    /// It begins with neither `sqlite:` nor `postgres://`.
    #[error("the URL of a database must be sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE")]
    UnknownScheme,
    /// `sqlite:` without a path.
    #[error("sqlite: needs the path of a file, as in sqlite:./data/perigee.db")]
    NoPath,
    /// SQLite would not treat the path as a plain file.
    #[error("sqlite: takes the path of a file only; a database in memory or with options is not supported")]
    NotAFile,
    /// The rest of a PostgreSQL address is invalid.
    #[error("the postgres:// address is wrong: {0}")]
    Postgres(String),
}

impl DatabaseUrl {
    /// The SQLite database in this file.
    pub fn sqlite(path: impl Into<PathBuf>) -> Self {
        Self(DatabaseAddress::Sqlite(path.into()))
    }

    /// The file, when it is SQLite.
    pub fn sqlite_path(&self) -> Option<&Path> {
        match &self.0 {
            DatabaseAddress::Sqlite(path) => Some(path),
            DatabaseAddress::Postgres(_) => None,
        }
    }
}

impl FromStr for DatabaseUrl {
    type Err = ParseUrlError;

    fn from_str(text: &str) -> Result<Self, ParseUrlError> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            return match path {
                "" => Err(ParseUrlError::NoPath),
                other if other.starts_with(':') || other.contains(['?', '\0']) => {
                    Err(ParseUrlError::NotAFile)
                }
                path => Ok(Self::sqlite(path)),
            };
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return parse_postgres(text).map(|address| Self(DatabaseAddress::Postgres(Box::new(address))));
        }
        Err(ParseUrlError::UnknownScheme)
    }
}

/// Handles Perigee's own parameter `prepared`, and the libpq parameters that tokio-postgres lacks: `sslrootcert` and
/// the verifying values of `sslmode`. All other parameters are passed on.
fn parse_postgres(text: &str) -> Result<PostgresAddress, ParseUrlError> {
    let (base, query) = text.split_once('?').unwrap_or((text, ""));
    let mut verify = false;
    let mut root_cert = None;
    let mut prepares = true;
    let mut rest = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslrootcert", path)) => root_cert = Some(PathBuf::from(percent_decode(path))),
            Some(("prepared", "true")) => prepares = true,
            Some(("prepared", "false")) => prepares = false,
            Some(("prepared", other)) => {
                let message = format!("prepared must be true or false, not {other}");
                return Err(ParseUrlError::Postgres(message));
            }
            Some(("sslmode", "require" | "verify-ca" | "verify-full")) => {
                verify = true;
                rest.push("sslmode=require");
            }
            Some(("sslmode", mode)) if !matches!(mode, "disable" | "prefer") => {
                let message = format!("sslmode must be disable, prefer, require or verify-full, not {mode}");
                return Err(ParseUrlError::Postgres(message));
            }
            _ => rest.push(pair),
        }
    }
    let mut config: Config = format!("{base}?{}", rest.join("&"))
        .parse()
        .map_err(|error| ParseUrlError::Postgres(crate::error::describe(&error)))?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err(ParseUrlError::Postgres("it has no host".into()));
    }
    if root_cert.is_some() {
        verify = true;
        config.ssl_mode(SslMode::Require);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(TCP_USER_TIMEOUT);
    }
    if !query.contains("keepalives") {
        config
            .keepalives_idle(KEEPALIVE_INTERVAL)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(3);
    }
    if config.get_application_name().is_none() {
        config.application_name("perigee");
    }
    // Only the primary is used if there are several hosts: a standby would refuse every write.
    if config.get_target_session_attrs() == TargetSessionAttrs::Any {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    Ok(PostgresAddress { config, verify, root_cert, prepares })
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = match (first, tail) {
            (b'%', [high, low, ..]) => {
                std::str::from_utf8(&[*high, *low]).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())
            }
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            DatabaseAddress::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            DatabaseAddress::Postgres(address) => address.fmt(f),
        }
    }
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            let password = if self.config.get_password().is_some() { ":***" } else { "" };
            write!(f, "{user}{password}@")?;
        }
        let ports = self.config.get_ports();
        for (position, host) in self.config.get_hosts().iter().enumerate() {
            if position > 0 {
                f.write_str(",")?;
            }
            match host {
                Host::Tcp(name) => f.write_str(name)?,
                #[cfg(unix)]
                Host::Unix(path) => write!(f, "{}", path.display())?,
            }
            if let Some(port) = ports.get(position).or(ports.first()) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expect: Result<&str, &str>) {
        let read = input.parse::<DatabaseUrl>();
        let shown = read.as_ref().map(ToString::to_string).map_err(ToString::to_string);
        assert_eq!(shown.as_ref().map(String::as_str).map_err(String::as_str), expect, "{input}");
        assert!(!format!("{read:?}").contains("s3cret"), "{input}");
    }

    #[test]
    fn reads_addresses_and_hides_passwords() {
        check("sqlite:./data/perigee.db", Ok("sqlite:./data/perigee.db"));
        check("sqlite:/a b/c.db", Ok("sqlite:/a b/c.db"));
        check(
            "postgres://pg:s3cret@db.example:5433/perigee",
            Ok("postgres://pg:***@db.example:5433/perigee"),
        );
        check("postgresql://pg@a,b/perigee?sslmode=verify-full", Ok("postgres://pg@a:5432,b:5432/perigee"));
        check(
            "postgres://pg@a/x?password=s3cret&sslrootcert=%2Fetc%2Fca.pem",
            Ok("postgres://pg:***@a:5432/x"),
        );
        check("postgres://pg@h/x?prepared=false", Ok("postgres://pg@h:5432/x"));
        check("postgres://pg@%2Frun%2Fpg/x", Ok("postgres://pg@/run/pg:5432/x"));
    }

    #[test]
    fn refuses_the_rest_with_advice() {
        let scheme = "the URL of a database must be sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE";
        check("", Err(scheme));
        check("mysql://root:s3cret@h/d", Err(scheme));
        check("/var/lib/perigee.db", Err(scheme));
        check("sqlite:", Err("sqlite: needs the path of a file, as in sqlite:./data/perigee.db"));
        let file =
            "sqlite: takes the path of a file only; a database in memory or with options is not supported";
        check("sqlite::memory:", Err(file));
        check("sqlite:a.db?mode=ro", Err(file));
        for wrong in [
            "postgres://pg:s3cret@h/d?sslmode=no",
            "postgres://pg:s3cret@h:port/d",
            "postgres://pg@h/d?colour=red",
            "postgres://pg@h/d?prepared=no",
            "postgres://",
        ] {
            let error = wrong.parse::<DatabaseUrl>().unwrap_err().to_string();
            assert!(error.starts_with("the postgres:// address is wrong: "), "{wrong}: {error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn certificates_are_checked_when_asked_for() {
        let address = |text: &str| match text.parse::<DatabaseUrl>().unwrap().0 {
            DatabaseAddress::Postgres(address) => {
                (address.verify, address.config.get_ssl_mode(), address.root_cert)
            }
            DatabaseAddress::Sqlite(_) => unreachable!(),
        };
        assert_eq!(address("postgres://h/d"), (false, SslMode::Prefer, None));
        assert_eq!(address("postgres://h/d?sslmode=require"), (true, SslMode::Require, None));
        assert_eq!(
            address("postgres://h/d?sslrootcert=%2Fetc%2Fca.pem"),
            (true, SslMode::Require, Some("/etc/ca.pem".into()))
        );
    }
}
