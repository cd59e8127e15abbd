//! The schema migrations, and which of them a database still needs.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// One numbered migration of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The number of the migration, from 1 without gaps.
    pub version: i64,
    /// The name, as in the file name.
    pub name: &'static str,
    pub(crate) sql: &'static str,
}

/// Why a schema does not fit this program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MigrationError {
    /// A newer program has migrated the database.
    #[error(
        "the database has schema version {database}, this program knows {program}; use the newer perigee"
    )]
    Newer {
        /// The schema version of the database.
        database: i64,
        /// The newest version this program knows.
        program: i64,
    },
    /// An applied migration differs from this program's.
    #[error(
        "migration {version} of the database differs from that of this program; use the program that applied it, or restore a backup"
    )]
    Changed {
        /// The number of the migration.
        version: i64,
    },
    /// A migration failed and was rolled back.
    #[error("migration {version} ({name}) failed: {reason}")]
    Failed {
        /// The number of the migration.
        version: i64,
        /// The name of the migration.
        name: &'static str,
        /// The error message of the database.
        reason: String,
    },
}

/// A migration as recorded in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) version: i64,
    pub(crate) checksum: String,
}

/// Generates the lists of both engines from one list, so that neither engine can lack a migration.
macro_rules! migrations {
    ($($version:literal $name:literal $file:literal;)+) => {
        /// The migrations of SQLite.
        pub(crate) const SQLITE: &[Migration] = &[$(Migration {
            version: $version,
            name: $name,
            sql: include_str!(concat!("../migrations/sqlite/", $file)),
        }),+];

        /// The migrations of PostgreSQL.
        pub(crate) const POSTGRES: &[Migration] = &[$(Migration {
            version: $version,
            name: $name,
            sql: include_str!(concat!("../migrations/postgres/", $file)),
        }),+];
    };
}

migrations! {
    1 "foundation" "0001_foundation.sql";
    2 "locations" "0002_locations.sql";
    3 "notifications" "0003_notifications.sql";
    4 "webhooks" "0004_webhooks.sql";
    5 "rules" "0005_rules.sql";
    6 "console" "0006_console.sql";
    7 "alert_place" "0007_alert_place.sql";
    8 "clock" "0008_clock.sql";
    9 "signing_key_expiry" "0009_signing_key_expiry.sql";
    10 "group_editions" "0010_group_editions.sql";
    11 "integrity" "0011_integrity.sql";
    12 "refusals" "0012_refusals.sql";
    13 "email_caps" "0013_email_caps.sql";
    14 "packed_log" "0014_packed_log.sql";
    15 "geofence_positions" "0015_geofence_positions.sql";
    16 "gateways" "0016_gateways.sql";
    17 "account_gateways" "0017_account_gateways.sql";
    18 "commands" "0018_commands.sql";
    19 "feeds" "0019_feeds.sql";
    20 "who_is_told" "0020_who_is_told.sql";
    21 "side_by_side" "0021_side_by_side.sql";
    22 "decoding" "0022_decoding.sql";
    23 "in_place" "0023_in_place.sql";
    24 "device_files" "0024_device_files.sql";
    25 "one_state" "0025_one_state.sql";
    26 "device_photo" "0026_device_photo.sql";
    27 "licence_beside_state" "0027_licence_beside_state.sql";
    28 "age_by_time" "0028_age_by_time.sql";
    29 "poll_turns" "0029_poll_turns.sql";
    30 "later_fix" "0030_later_fix.sql";
    31 "alert_search" "0031_alert_search.sql";
    32 "sos_notice" "0032_sos_notice.sql";
    33 "state_checksum" "0033_state_checksum.sql";
    34 "mail_ceiling" "0034_mail_ceiling.sql";
    35 "claim_proofs" "0035_claim_proofs.sql";
    36 "gateway_changes" "0036_gateway_changes.sql";
    37 "raw_usage" "0037_raw_usage.sql";
    38 "message_devices" "0038_message_devices.sql";
    39 "sos_outbox" "0039_sos_outbox.sql";
    40 "claim_networks" "0040_claim_networks.sql";
    41 "session_address" "0041_session_address.sql";
    42 "timeline" "0042_timeline.sql";
    43 "held_licenses" "0043_held_licenses.sql";
    44 "emergency_procedure" "0044_emergency_procedure.sql";
    45 "index_of_keys" "0045_index_of_keys.sql";
    46 "timeline_edits" "0046_timeline_edits.sql";
    47 "channel_rows" "0047_channel_rows.sql";
    48 "push_subscriptions" "0048_push_subscriptions.sql";
    49 "conversations" "0049_conversations.sql";
    50 "saved_reports" "0050_saved_reports.sql";
    51 "maintenance" "0051_maintenance.sql";
    52 "shared_trips" "0052_shared_trips.sql";
    53 "drivers" "0053_drivers.sql";
    54 "plans" "0054_plans.sql";
    55 "account_standing" "0055_account_standing.sql";
    56 "conversation_kinds" "0056_conversation_kinds.sql";
    57 "shared_conversations" "0057_shared_conversations.sql";
}

impl Migration {
    /// The SHA-256 of the text, by which a change after its application is noticed.
    pub(crate) fn checksum(&self) -> String {
        Sha256::digest(self.sql.as_bytes()).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// The error of a migration that could not be applied.
    pub(crate) fn failed(&self, reason: &impl ToString) -> MigrationError {
        MigrationError::Failed { version: self.version, name: self.name, reason: reason.to_string() }
    }
}

/// The migrations that are not applied yet. `applied` must be in ascending order.
pub(crate) fn pending<'m>(
    known: &'m [Migration],
    applied: &[Applied],
) -> Result<&'m [Migration], MigrationError> {
    let program = known.last().map_or(0, |last| last.version);
    if let Some(newest) = applied.last().filter(|newest| newest.version > program) {
        return Err(MigrationError::Newer { database: newest.version, program });
    }
    for (position, done) in applied.iter().enumerate() {
        match known.get(position) {
            Some(ours) if ours.version == done.version && ours.checksum() == done.checksum => {}
            _ => return Err(MigrationError::Changed { version: done.version }),
        }
    }
    Ok(known.get(applied.len()..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const THREE: &[Migration] = &[
        Migration { version: 1, name: "a", sql: "one" },
        Migration { version: 2, name: "b", sql: "two" },
        Migration { version: 3, name: "c", sql: "three" },
    ];

    fn applied(count: usize) -> Vec<Applied> {
        let done = THREE.iter().take(count);
        done.map(|known| Applied { version: known.version, checksum: known.checksum() }).collect()
    }

    #[test]
    fn the_rest_is_pending() {
        for count in 0..=3 {
            assert_eq!(pending(THREE, &applied(count)), Ok(&THREE[count..]));
        }
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let mut newer = applied(3);
        newer.push(Applied { version: 4, checksum: String::new() });
        assert_eq!(pending(THREE, &newer), Err(MigrationError::Newer { database: 4, program: 3 }));

        let mut changed = applied(3);
        changed[1].checksum = "other".into();
        assert_eq!(pending(THREE, &changed), Err(MigrationError::Changed { version: 2 }));

        assert_eq!(pending(THREE, &applied(3)[1..]), Err(MigrationError::Changed { version: 2 }));
    }

    #[test]
    fn every_file_is_listed_and_numbered_alike() {
        let listed: BTreeSet<String> =
            SQLITE.iter().map(|known| format!("{:04}_{}.sql", known.version, known.name)).collect();
        let versions: Vec<i64> = SQLITE.iter().map(|known| known.version).collect();
        assert_eq!(versions, (1..).take(SQLITE.len()).collect::<Vec<i64>>());
        for engine in ["sqlite", "postgres"] {
            let folder = format!("{}/migrations/{engine}", env!("CARGO_MANIFEST_DIR"));
            let files: BTreeSet<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|file| file.unwrap().file_name().into_string().unwrap())
                .collect();
            assert_eq!(files, listed, "{engine}");
        }
    }
}
