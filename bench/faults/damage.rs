//! Flips bits in the store of a server that was killed: in the state of a device, which the next start must rebuild, or
//! in a last location, which `perigee repair` must rebuild.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use perigee_bench::postgres::connect;
use perigee_bench::server::Server;
use rand::Rng;
use rand::rngs::StdRng;

/// Number columns of a state that both engines have. Each engine has one more.
const STATE: [&str; 2] = ["last_seen", "packed_to"];
const OF_SQLITE: &str = "observed_to";
const OF_POSTGRES: &str = "newest_time";
const LAST: [&str; 4] = ["number", "time", "received_at", "checksum"];
/// Bits of a number that are flipped; the highest would make it negative.
const BITS: u32 = 63;

/// The store of a server.
pub(crate) enum Store {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Store {
    pub(crate) fn of(server: &Server, database: Option<&String>) -> Self {
        match database {
            Some(url) => Self::Postgres(url.clone()),
            None => Self::Sqlite(server.folder().join("data/perigee.db")),
        }
    }

    /// Flips one bit in a column of a random row. Returns whether there was a row.
    async fn flip(&self, table: &str, column: &str, random: &mut StdRng) -> Result<bool> {
        let bit = random.random_range(0..BITS);
        match self {
            Self::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path)?;
                let sql = format!(
                    "UPDATE {table} SET {column} = ({column} | (1 << {bit})) - ({column} & (1 << {bit})) \
                     WHERE device_id = (SELECT device_id FROM {table} ORDER BY random() LIMIT 1)"
                );
                Ok(connection.execute(&sql, [])? > 0)
            }
            Self::Postgres(url) => {
                let sql = format!(
                    "UPDATE {table} SET {column} = {column} # (CAST(1 AS BIGINT) << {bit}) \
                     WHERE device_id = (SELECT device_id FROM {table} ORDER BY random() LIMIT 1)"
                );
                Ok(connect(url).await?.execute(&sql, &[]).await? > 0)
            }
        }
    }

    /// Damages the state of a device.
    pub(crate) async fn damage_state(&self, random: &mut StdRng) -> Result<bool> {
        let own = match self {
            Self::Sqlite(_) => OF_SQLITE,
            Self::Postgres(_) => OF_POSTGRES,
        };
        let column = STATE.get(random.random_range(0..=STATE.len())).copied().unwrap_or(own);
        self.flip("device_live", column, random).await
    }

    /// Damages a last location.
    pub(crate) async fn damage_last(&self, random: &mut StdRng) -> Result<bool> {
        let column = LAST[random.random_range(0..LAST.len())];
        self.flip("last_location", column, random).await
    }
}

/// Runs `perigee repair` on the store of a server that does not run. No damage may be left.
pub(crate) fn repair(server: &Server) -> Result<()> {
    let output = server.command().arg("repair").output().context("perigee repair")?;
    if !output.status.success() {
        bail!(
            "perigee repair left damage: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}
