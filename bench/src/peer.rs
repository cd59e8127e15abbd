//! What a user would do instead: a row per location in a plain table, written and read without any HTTP or JSON,
//! which favours it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use perigee_cli::fleet::Fix;
use rusqlite::{Connection, params};
use tokio_postgres::{Client, NoTls};

use crate::Options;
use crate::body::fixes;
use crate::load::number;
use crate::read::DAY_POINTS;

const DEVICES: u32 = 200;
const BATCH: usize = 1000;
const RUN: Duration = Duration::from_secs(4);

/// What a plain table does.
pub(crate) struct Peer {
    pub(crate) name: String,
    /// Locations a second, each in a synced transaction of its own, from one writer.
    pub(crate) singles: f64,
    /// Locations a second in transactions of 1,000.
    pub(crate) batches: f64,
    pub(crate) bytes_a_point: f64,
    /// Milliseconds to read a device-day into memory.
    pub(crate) day_ms: f64,
}

const TABLE: &str = "CREATE TABLE location (device INTEGER NOT NULL, time BIGINT NOT NULL, latitude INTEGER NOT NULL,
    longitude INTEGER NOT NULL, altitude INTEGER, speed INTEGER, course INTEGER, accuracy INTEGER, satellites INTEGER,
    ignition BOOLEAN, mileage BIGINT, PRIMARY KEY (device, time))";
const DAY: &str =
    "SELECT time, latitude, longitude, altitude, speed, course, accuracy, satellites, ignition, mileage
    FROM location WHERE device = $1 AND time BETWEEN $2 AND $3 ORDER BY time";
const DAY_MS: i64 = 86_400_000;

/// Batches of devices in turn, each later than the one before of the same device.
struct Source {
    days: Vec<Vec<Fix>>,
    round: i64,
    next: usize,
}

impl Source {
    fn new() -> Self {
        Self { days: (0..DEVICES).map(|device| fixes(device, BATCH)).collect(), round: 0, next: 0 }
    }

    fn batch(&mut self) -> (i32, Vec<Fix>) {
        let device = self.next % self.days.len();
        let shift = self.round * DAY_MS;
        let fixes =
            self.days[device].iter().map(|fix| Fix { time_ms: fix.time_ms + shift, ..*fix }).collect();
        self.next += 1;
        self.round += i64::from(self.next.is_multiple_of(self.days.len()));
        (i32::try_from(device).unwrap_or(0), fixes)
    }
}

/// Plain SQLite: WAL, synced commits, rows clustered by device and time.
pub(crate) fn sqlite(options: &Options) -> Result<Peer> {
    eprintln!("a row per location in SQLite");
    let folder = tempfile::tempdir_in(&options.scratch)?;
    let mut connection = Connection::open(folder.path().join("plain.db"))?;
    connection.query_row("PRAGMA journal_mode = WAL", [], |_row| Ok(()))?;
    connection.execute_batch(&format!(
        "PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; {TABLE} WITHOUT ROWID;"
    ))?;
    let mut source = Source::new();
    let mut insert = |fixes: &[Fix], device: i32| -> Result<()> {
        let transaction = connection.transaction()?;
        let mut statement = transaction.prepare_cached(
            "INSERT OR IGNORE INTO location VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?;
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
    };
    let (mut points, began) = (0_u64, Instant::now());
    while began.elapsed() < RUN {
        let (device, fixes) = source.batch();
        insert(&fixes, device)?;
        points += fixes.len() as u64;
    }
    let batches = number(points) / began.elapsed().as_secs_f64();
    let (mut singles, began) = (0_u64, Instant::now());
    'run: loop {
        let (device, fixes) = source.batch();
        for fix in &fixes {
            if began.elapsed() >= RUN {
                break 'run;
            }
            insert(std::slice::from_ref(fix), device)?;
            singles += 1;
        }
    }
    let single_rate = number(singles) / began.elapsed().as_secs_f64();
    let day = fixes(0, DAY_POINTS as usize);
    insert(&day, 99_999)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_row| Ok(()))?;
    let size = std::fs::metadata(folder.path().join("plain.db"))?.len();
    let mut statement = connection.prepare(DAY)?;
    let (mut repeats, began) = (0, Instant::now());
    while began.elapsed() < Duration::from_secs(1) {
        let rows = statement.query_map(params![99_999, day[0].time_ms, day[0].time_ms + DAY_MS], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?))
        })?;
        std::hint::black_box(rows.collect::<rusqlite::Result<Vec<_>>>()?);
        repeats += 1;
    }
    Ok(Peer {
        name: format!("SQLite {}", rusqlite::version()),
        singles: single_rate,
        batches,
        bytes_a_point: number(size) / number(points + singles + u64::from(DAY_POINTS)),
        day_ms: began.elapsed().as_secs_f64() * 1000.0 / number(repeats),
    })
}

/// Makes an empty database on the server and gives its URL.
pub(crate) async fn own_database(url: &str, name: &str) -> Result<String> {
    let client = connect(url).await?;
    client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await?;
    client.batch_execute(&format!("CREATE DATABASE {name}")).await?;
    let (server, _) = url.rsplit_once('/').context("the URL names no database")?;
    Ok(format!("{server}/{name}"))
}

async fn connect(url: &str) -> Result<Client> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.context("cannot reach PostgreSQL")?;
    tokio::spawn(connection);
    Ok(client)
}

/// Plain PostgreSQL: prepared statements, batches as arrays, commits synced.
pub(crate) async fn postgres(url: &str) -> Result<Peer> {
    eprintln!("a row per location in PostgreSQL");
    let client = connect(&own_database(url, "perigee_bench_plain").await?).await?;
    client.batch_execute(TABLE).await?;
    let insert = client
        .prepare(
            "INSERT INTO location SELECT $1, * FROM unnest($2::bigint[], $3::int[], $4::int[], $5::int[], $6::int[],
             $7::int[], $8::int[], $9::int[], $10::boolean[], $11::bigint[]) ON CONFLICT DO NOTHING",
        )
        .await?;
    let write = async |device: i32, fixes: &[Fix]| -> Result<()> {
        let column = |of: fn(&Fix) -> i32| fixes.iter().map(of).collect::<Vec<i32>>();
        let times: Vec<i64> = fixes.iter().map(|fix| fix.time_ms).collect();
        let ignitions: Vec<Option<bool>> = fixes.iter().map(|fix| fix.ignition).collect();
        let mileages: Vec<Option<i64>> = fixes.iter().map(|fix| fix.mileage_m).collect();
        let satellites = column(|fix| i32::try_from(fix.satellites).unwrap_or(0));
        client
            .execute(
                &insert,
                &[
                    &device,
                    &times,
                    &column(|fix| fix.latitude_e7),
                    &column(|fix| fix.longitude_e7),
                    &column(|fix| fix.altitude_dm),
                    &column(|fix| fix.speed_dkmh),
                    &column(|fix| fix.course_ddeg),
                    &column(|fix| fix.accuracy_dm),
                    &satellites,
                    &ignitions,
                    &mileages,
                ],
            )
            .await?;
        Ok(())
    };
    let mut source = Source::new();
    let (mut points, began) = (0_u64, Instant::now());
    while began.elapsed() < RUN {
        let (device, fixes) = source.batch();
        write(device, &fixes).await?;
        points += fixes.len() as u64;
    }
    let batches = number(points) / began.elapsed().as_secs_f64();
    let (mut singles, began) = (0_u64, Instant::now());
    'run: loop {
        let (device, fixes) = source.batch();
        for fix in &fixes {
            if began.elapsed() >= RUN {
                break 'run;
            }
            write(device, std::slice::from_ref(fix)).await?;
            singles += 1;
        }
    }
    let single_rate = number(singles) / began.elapsed().as_secs_f64();
    let day = fixes(0, DAY_POINTS as usize);
    write(99_999, &day).await?;
    let size: i64 = client.query_one("SELECT pg_total_relation_size('location')", &[]).await?.get(0);
    let version: String = client.query_one("SHOW server_version", &[]).await?.get(0);
    let read = client.prepare(DAY).await?;
    let (mut repeats, began) = (0, Instant::now());
    while began.elapsed() < Duration::from_secs(1) {
        let rows = client.query(&read, &[&99_999_i32, &day[0].time_ms, &(day[0].time_ms + DAY_MS)]).await?;
        std::hint::black_box(rows.iter().map(|row| row.get::<_, i64>(0)).max());
        repeats += 1;
    }
    Ok(Peer {
        name: format!("PostgreSQL {}", version.split(' ').next().unwrap_or_default()),
        singles: single_rate,
        batches,
        bytes_a_point: number(u64::try_from(size).unwrap_or(0))
            / number(points + singles + u64::from(DAY_POINTS)),
        day_ms: began.elapsed().as_secs_f64() * 1000.0 / number(repeats),
    })
}
