//! Checking a server before its use: its version, and the settings that make acknowledged data durable.

use tokio_postgres::Client;

use crate::error::OpenError;

/// The oldest supported version, as `server_version_num`.
const OLDEST_VERSION: i64 = 130_000;

/// Values of `synchronous_commit` with which a commit is confirmed only when it is on disk, here and on a synchronous
/// standby.
const SAFE_COMMITS: [&str; 2] = ["on", "remote_apply"];
/// Values of `synchronous_commit` that need the operator's permission.
pub const UNSAFE_COMMITS: [&str; 3] = ["remote_write", "local", "off"];

/// A setting with dangerous values.
struct DangerousSetting {
    setting: &'static str,
    is_bad: fn(&str) -> bool,
    advice: &'static str,
}

const DANGEROUS_SETTINGS: &[DangerousSetting] = &[
    DangerousSetting {
        setting: "fsync",
        is_bad: |value| value == "off",
        advice: "a power cut would destroy the database; set it to on in postgresql.conf",
    },
    DangerousSetting {
        setting: "full_page_writes",
        is_bad: |value| value == "off",
        advice: "a power cut could destroy pages; set it to on in postgresql.conf",
    },
    DangerousSetting {
        setting: "synchronous_commit",
        is_bad: |value| SAFE_COMMITS.iter().all(|safe| value != *safe),
        advice: "acknowledged data could be lost; set it to on, and reset it for this role and database \
                 (ALTER ROLE ... RESET, ALTER DATABASE ... RESET) and in the address's options, or allow it by name \
                 in store.allow_synchronous_commit",
    },
    DangerousSetting {
        setting: "server_encoding",
        is_bad: |value| value != "UTF8",
        advice: "text would be refused or garbled; create the database with ENCODING 'UTF8'",
    },
    DangerousSetting {
        setting: "standard_conforming_strings",
        is_bad: |value| value == "off",
        advice: "statements would be misread; set it to on",
    },
];

/// Refuses a server that could lose acknowledged data, unless the operator allows this value of `synchronous_commit`.
/// The values are those in effect for this connection, wherever they were set.
pub(crate) async fn check(client: &Client, allowed: &[String]) -> Result<(), OpenError> {
    let mut columns = String::from(
        "CAST(current_setting('server_version_num') AS BIGINT), current_setting('server_version')",
    );
    for danger in DANGEROUS_SETTINGS {
        columns.push_str(", current_setting('");
        columns.push_str(danger.setting);
        columns.push_str("')");
    }
    let row = client.query_typed_one(&format!("SELECT {columns}"), &[]).await.map_err(OpenError::other)?;
    let version: i64 = row.try_get(0).map_err(OpenError::other)?;
    if version < OLDEST_VERSION {
        return Err(OpenError::TooOld { found: row.try_get(1).map_err(OpenError::other)? });
    }
    for (position, danger) in DANGEROUS_SETTINGS.iter().enumerate() {
        let value: String = row.try_get(position + 2).map_err(OpenError::other)?;
        let is_allowed = danger.setting == "synchronous_commit" && allowed.contains(&value);
        if (danger.is_bad)(&value) && !is_allowed {
            return Err(OpenError::UnsafeSetting { setting: danger.setting, value, advice: danger.advice });
        }
    }
    Ok(())
}

/// Limits how long a statement may run or wait, and how long a dead node may hold its locks. Limits that the operator
/// has set are not changed.
const LIMITS: &str = "(VALUES ('lock_timeout', '10s'),
                              ('statement_timeout', '60s'),
                              ('idle_in_transaction_session_timeout', '10s')) AS wanted (name, value)
                      WHERE current_setting(name) = '0'";

/// Sets the limits for the connection. Warnings are switched on: a commit with a warning does not count as confirmed.
pub(crate) async fn set_limits(client: &Client) -> Result<(), tokio_postgres::Error> {
    let sql = format!(
        "SET client_min_messages = warning;
         SELECT set_config(name, value, false) FROM {LIMITS}"
    );
    client.batch_execute(&sql).await
}

/// Statements that set the same limits for one transaction, for connections that are shared through a pooler.
pub(crate) async fn local_limits(client: &Client) -> Result<String, tokio_postgres::Error> {
    let sql = format!("SELECT name || ' = ' || quote_literal(value) FROM {LIMITS}");
    let mut limits = "SET LOCAL client_min_messages = warning".to_owned();
    for row in client.query_typed(&sql, &[]).await? {
        limits.push_str("; SET LOCAL ");
        limits.push_str(row.try_get(0)?);
    }
    Ok(limits)
}
