//! A row per location in plain PostgreSQL: prepared statements, batches as arrays, synced commits, several writers.

use std::time::{Duration, Instant};

use anyhow::Result;
use perigee_bench::postgres::{connect, own_database};
use perigee_simulator::fleet::Fix;
use tokio::task::JoinSet;
use tokio_postgres::{Client, Statement};

use super::figures::Peer;
use super::source::{DAY, DAY_MS, READ_DEVICE, Source, TABLE};
use crate::body::{INTERVAL_MS, fixes};
use crate::floor::DAY_POINTS;
use crate::load::number;

const WRITERS: u32 = 4;
const SINGLE_WRITERS: u32 = 32;
/// The first device of the writers of singles, which share no device with the other writers.
const SINGLES_FROM: i32 = 1000;

const INSERT: &str =
    "INSERT INTO location SELECT $1, * FROM unnest($2::bigint[], $3::int[], $4::int[], $5::int[], $6::int[],
     $7::int[], $8::int[], $9::int[], $10::boolean[], $11::bigint[]) ON CONFLICT DO NOTHING";

struct Writer {
    client: Client,
    insert: Statement,
}

impl Writer {
    async fn open(url: &str) -> Result<Self> {
        let client = connect(url).await?;
        let insert = client.prepare(INSERT).await?;
        Ok(Self { client, insert })
    }

    async fn write(&self, device: i32, fixes: &[Fix]) -> Result<()> {
        let column = |of: fn(&Fix) -> i32| fixes.iter().map(of).collect::<Vec<i32>>();
        let times: Vec<i64> = fixes.iter().map(|fix| fix.time_ms).collect();
        let ignitions: Vec<Option<bool>> = fixes.iter().map(|fix| fix.ignition).collect();
        let mileages: Vec<Option<i64>> = fixes.iter().map(|fix| fix.mileage_m).collect();
        let (latitudes, longitudes) = (column(|fix| fix.latitude_e7), column(|fix| fix.longitude_e7));
        let (altitudes, speeds) = (column(|fix| fix.altitude_dm), column(|fix| fix.speed_dkmh));
        let (courses, accuracies) = (column(|fix| fix.course_ddeg), column(|fix| fix.accuracy_dm));
        let satellites = column(|fix| i32::try_from(fix.satellites).unwrap_or(0));
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 11] = [
            &device,
            &times,
            &latitudes,
            &longitudes,
            &altitudes,
            &speeds,
            &courses,
            &accuracies,
            &satellites,
            &ignitions,
            &mileages,
        ];
        self.client.execute(&self.insert, &values).await?;
        Ok(())
    }
}

pub(super) async fn measure(server: &str, run: Duration) -> Result<Peer> {
    let url = own_database(server, "perigee_bench_plain").await?;
    let client = connect(&url).await?;
    client.batch_execute(TABLE).await?;
    let (rows, batches) = write(&url, run, WRITERS, 0, usize::MAX).await?;
    let (singles, single_rate) = write(&url, run, SINGLE_WRITERS, SINGLES_FROM, 1).await?;
    let day = fixes(0, DAY_POINTS, INTERVAL_MS);
    Writer::open(&url).await?.write(READ_DEVICE, &day).await?;
    client.batch_execute("VACUUM ANALYZE location").await?;
    let size: i64 = client.query_one("SELECT pg_total_relation_size('location')", &[]).await?.get(0);
    let version: String = client.query_one("SHOW server_version", &[]).await?.get(0);
    let points = rows + singles + day.len() as u64;
    Ok(Peer {
        name: format!("PostgreSQL {}", version.split(' ').next().unwrap_or_default()),
        singles: single_rate,
        batches,
        bytes_a_point: number(u64::try_from(size).unwrap_or(0)) / number(points),
        day_ms: read_day(&client, day[0].time_ms).await?,
    })
}

/// Writes from several connections for a time. Returns the rows, and the rows a second.
async fn write(
    url: &str,
    run: Duration,
    writers: u32,
    first_device: i32,
    at_once: usize,
) -> Result<(u64, f64)> {
    let mut tasks = JoinSet::new();
    for index in 0..writers {
        let (writer, mut source) = (Writer::open(url).await?, Source::new(index, writers));
        tasks.spawn(async move {
            let (mut rows, began) = (0_u64, Instant::now());
            loop {
                let (device, fixes) = source.batch();
                for part in fixes.chunks(at_once.min(fixes.len())) {
                    if began.elapsed() >= run {
                        return Ok::<u64, anyhow::Error>(rows);
                    }
                    writer.write(first_device + device, part).await?;
                    rows += part.len() as u64;
                }
            }
        });
    }
    let mut rows = 0;
    while let Some(done) = tasks.join_next().await {
        rows += done??;
    }
    Ok((rows, number(rows) / run.as_secs_f64()))
}

async fn read_day(client: &Client, from: i64) -> Result<f64> {
    let read = client.prepare(DAY).await?;
    let (mut repeats, began) = (0, Instant::now());
    while began.elapsed() < Duration::from_secs(1) {
        let rows = client.query(&read, &[&READ_DEVICE, &from, &(from + DAY_MS)]).await?;
        let fix = |row: &tokio_postgres::Row| Fix {
            time_ms: row.get(0),
            latitude_e7: row.get(1),
            longitude_e7: row.get(2),
            altitude_dm: row.get(3),
            speed_dkmh: row.get(4),
            course_ddeg: row.get(5),
            accuracy_dm: row.get(6),
            satellites: u32::try_from(row.get::<_, i32>(7)).unwrap_or(0),
            battery: None,
            ignition: row.get(8),
            mileage_m: row.get(9),
        };
        std::hint::black_box(rows.iter().map(fix).collect::<Vec<_>>());
        repeats += 1;
    }
    Ok(began.elapsed().as_secs_f64() * 1000.0 / number(repeats))
}
