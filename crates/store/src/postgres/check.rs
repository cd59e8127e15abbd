//! Which servers we trust with data: recent, and set to keep what they acknowledge.

use tokio_postgres::Client;

use crate::error::OpenError;

const OLDEST: i64 = 130_000;

/// Commits that are on disk before they are confirmed, and on that of a synchronous standby if there is one.
const SAFE_COMMITS: [&str; 2] = ["on", "remote_apply"];
/// Those that need the operator's permission.
pub const UNSAFE_COMMITS: [&str; 3] = ["remote_write", "local", "off"];

/// A setting that must not have this value.
struct Danger {
    setting: &'static str,
    is_bad: fn(&str) -> bool,
    advice: &'static str,
}

const DANGERS: &[Danger] = &[
    Danger {
        setting: "fsync",
        is_bad: |value| value == "off",
        advice: "a power cut would destroy the database; set it to on in postgresql.conf",
    },
    Danger {
        setting: "full_page_writes",
        is_bad: |value| value == "off",
        advice: "a power cut could destroy pages; set it to on in postgresql.conf",
    },
    Danger {
        setting: "synchronous_commit",
        is_bad: |value| SAFE_COMMITS.iter().all(|safe| value != *safe),
        advice: "acknowledged data could be lost; set it to on, and reset it for this role and database \
                 (ALTER ROLE ... RESET, ALTER DATABASE ... RESET) and in the address's options, or allow it by name \
                 in store.allow_synchronous_commit",
    },
    Danger {
        setting: "server_encoding",
        is_bad: |value| value != "UTF8",
        advice: "text would be refused or garbled; create the database with ENCODING 'UTF8'",
    },
    Danger {
        setting: "standard_conforming_strings",
        is_bad: |value| value == "off",
        advice: "statements would be misread; set it to on",
    },
];

/// Refuses a server that would not keep the promise, unless the operator allows this value of `synchronous_commit`. The values are those in effect for this very connection,
/// wherever they were set.
pub(crate) async fn check(client: &Client, allowed: &[String]) -> Result<(), OpenError> {
    let mut columns = String::from(
        "CAST(current_setting('server_version_num') AS BIGINT), current_setting('server_version')",
    );
    for danger in DANGERS {
        columns.push_str(", current_setting('");
        columns.push_str(danger.setting);
        columns.push_str("')");
    }
    let row = client.query_one(&format!("SELECT {columns}"), &[]).await.map_err(OpenError::other)?;
    let version: i64 = row.try_get(0).map_err(OpenError::other)?;
    if version < OLDEST {
        return Err(OpenError::TooOld { found: row.try_get(1).map_err(OpenError::other)? });
    }
    for (position, danger) in DANGERS.iter().enumerate() {
        let value: String = row.try_get(position + 2).map_err(OpenError::other)?;
        let is_allowed = danger.setting == "synchronous_commit" && allowed.contains(&value);
        if (danger.is_bad)(&value) && !is_allowed {
            return Err(OpenError::UnsafeSetting { setting: danger.setting, value, advice: danger.advice });
        }
    }
    Ok(())
}

/// Bounds how long a statement may run or wait, and how long a node that died may hold its locks. What the
/// operator has set is left alone, but for warnings: a commit is not believed when there is one.
pub(crate) async fn set_limits(client: &Client) -> Result<(), tokio_postgres::Error> {
    client
        .batch_execute(
            "SET client_min_messages = warning;
             SELECT set_config(name, value, false)
             FROM (VALUES ('lock_timeout', '10s'),
                          ('statement_timeout', '60s'),
                          ('idle_in_transaction_session_timeout', '30s')) AS wanted (name, value)
             WHERE current_setting(name) = '0'",
        )
        .await
}
