//! A row per location in plain SQLite: WAL, synced commits, rows clustered by device and time.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use perigee_simulator::fleet::Fix;
use rusqlite::{Connection, params};

use super::figures::Peer;
use super::source::{DAY, DAY_MS, READ_DEVICE, Source, TABLE};
use crate::body::{INTERVAL_MS, fixes};
use crate::floor::DAY_POINTS;
use crate::load::number;

const INSERT: &str = "INSERT OR IGNORE INTO location VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

pub(super) fn measure(scratch: &Path, run: Duration) -> Result<Peer> {
    let folder = tempfile::tempdir_in(scratch)?;
    let path = folder.path().join("plain.db");
    let mut connection = Connection::open(&path)?;
    connection.query_row("PRAGMA journal_mode = WAL", [], |_row| Ok(()))?;
    let tuning = "PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 4000";
    connection.execute_batch(&format!("{tuning}; {TABLE} WITHOUT ROWID;"))?;
    let mut source = Source::new(0, 1);
    let (mut points, began) = (0_u64, Instant::now());
    while began.elapsed() < run {
        let (device, fixes) = source.batch();
        insert(&mut connection, device, &fixes)?;
        points += fixes.len() as u64;
    }
    let batches = number(points) / began.elapsed().as_secs_f64();
    let (mut singles, began) = (0_u64, Instant::now());
    'run: loop {
        let (device, fixes) = source.batch();
        for fix in &fixes {
            if began.elapsed() >= run {
                break 'run;
            }
            insert(&mut connection, device, std::slice::from_ref(fix))?;
            singles += 1;
        }
    }
    let single_rate = number(singles) / began.elapsed().as_secs_f64();
    let day = fixes(0, DAY_POINTS, INTERVAL_MS);
    insert(&mut connection, READ_DEVICE, &day)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_row| Ok(()))?;
    let size = std::fs::metadata(path)?.len();
    Ok(Peer {
        name: format!("SQLite {}", rusqlite::version()),
        singles: single_rate,
        batches,
        bytes_a_point: number(size) / number(points + singles + day.len() as u64),
        day_ms: read_day(&connection, day[0].time_ms)?,
    })
}

fn insert(connection: &mut Connection, device: i32, fixes: &[Fix]) -> Result<()> {
    let transaction = connection.transaction()?;
    let mut statement = transaction.prepare_cached(INSERT)?;
    for fix in fixes {
        statement.execute(params![
            device,
            fix.time_ms,
            fix.latitude_e7,
            fix.longitude_e7,
            fix.altitude_dm,
            fix.speed_dkmh,
            fix.course_ddeg,
            fix.accuracy_dm,
            fix.satellites,
            fix.ignition,
            fix.mileage_m
        ])?;
    }
    drop(statement);
    Ok(transaction.commit()?)
}

fn read_day(connection: &Connection, from: i64) -> Result<f64> {
    let mut statement = connection.prepare(DAY)?;
    let (mut repeats, began) = (0, Instant::now());
    while began.elapsed() < Duration::from_secs(1) {
        let rows = statement.query_map(params![READ_DEVICE, from, from + DAY_MS], |row| {
            Ok(Fix {
                time_ms: row.get(0)?,
                latitude_e7: row.get(1)?,
                longitude_e7: row.get(2)?,
                altitude_dm: row.get(3)?,
                speed_dkmh: row.get(4)?,
                course_ddeg: row.get(5)?,
                accuracy_dm: row.get(6)?,
                satellites: row.get(7)?,
                battery: None,
                ignition: row.get(8)?,
                mileage_m: row.get(9)?,
            })
        })?;
        std::hint::black_box(rows.collect::<rusqlite::Result<Vec<_>>>()?);
        repeats += 1;
    }
    Ok(began.elapsed().as_secs_f64() * 1000.0 / number(repeats))
}
