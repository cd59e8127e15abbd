//! The alternative to chunks: a row for each location, clustered by device and time.

use std::error::Error;
use std::hint::black_box;

use perigee_core::locations::location::StoredLocation;
use perigee_store::codec::pack_readings;
use rusqlite::{Connection, params};

use crate::points_per_s;

pub(crate) struct Found {
    pub(crate) bytes: usize,
    pub(crate) inserted_per_s: f64,
    pub(crate) read_per_s: f64,
}

const TABLE: &str = "CREATE TABLE location (
    device INTEGER NOT NULL, time INTEGER NOT NULL, number INTEGER NOT NULL,
    latitude INTEGER NOT NULL, longitude INTEGER NOT NULL, received_at INTEGER NOT NULL,
    late INTEGER NOT NULL, suspect INTEGER NOT NULL, readings BLOB NOT NULL,
    PRIMARY KEY (device, time, number)
) STRICT, WITHOUT ROWID";

/// Stores the tracks in memory, in the order in which they are best packed, and reads when and where back.
pub(crate) fn measure(tracks: &[Vec<StoredLocation>]) -> Result<Found, Box<dyn Error>> {
    let mut database = Connection::open_in_memory()?;
    database.execute_batch(TABLE)?;
    let count = tracks.iter().map(Vec::len).sum();
    let start = std::time::Instant::now();
    insert(&mut database, tracks)?;
    let inserted_s = start.elapsed().as_secs_f64();
    let read_per_s = points_per_s(count, &[()], |()| read(&database))?;
    let bytes: i64 = database.query_row(
        "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
        [],
        |row| row.get(0),
    )?;
    #[expect(clippy::cast_precision_loss, reason = "a count of points is far below 2^53")]
    let inserted_per_s = count as f64 / inserted_s;
    Ok(Found { bytes: usize::try_from(bytes)?, inserted_per_s, read_per_s })
}

fn insert(database: &mut Connection, tracks: &[Vec<StoredLocation>]) -> rusqlite::Result<()> {
    let transaction = database.transaction()?;
    let mut statement = transaction.prepare("INSERT INTO location VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for (device, track) in (1_i64..).zip(tracks) {
        for stored in track {
            statement.execute(params![
                device,
                stored.location.time.as_millis(),
                stored.number,
                stored.location.latitude.as_e7(),
                stored.location.longitude.as_e7(),
                stored.received_at.as_millis(),
                stored.trust.late,
                stored.trust.suspect,
                pack_readings(&stored.location.readings),
            ])?;
        }
    }
    drop(statement);
    transaction.commit()
}

fn read(database: &Connection) -> rusqlite::Result<()> {
    let mut statement = database.prepare_cached("SELECT time, latitude, longitude FROM location")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        black_box((row.get::<_, i64>(0)?, row.get::<_, i32>(1)?, row.get::<_, i32>(2)?));
    }
    Ok(())
}
