//! A row of the log: the locations of one device and commit, checked before they are read.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::codec::{Point, PointRef, read_device_batch};
use crate::damage::{Damaged, Table};
use crate::sql::checksum::crc;
use crate::{Row, Tx, params};

/// The columns [`LogRow::of`] reads.
pub(crate) const COLUMNS: &str = "account_id, device_id, first_number, last_number, first_time, last_time, count, received_at, checksum, points";

/// The columns besides the packed locations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) account: AccountId,
    pub(super) device: DeviceId,
    /// The lowest and the highest log number.
    pub(super) numbers: (i64, i64),
    /// The earliest and the latest fix time.
    pub(super) times: (Timestamp, Timestamp),
    pub(super) count: i32,
    pub(super) received_at: Timestamp,
}

impl Header {
    /// The header of these locations, whose numbers ascend; `None` if there are none.
    pub(super) fn of(account: AccountId, device: DeviceId, points: &[Point]) -> Option<Self> {
        let (first, last) = (points.first()?, points.last()?);
        let earliest = points.iter().map(|point| point.time).min()?;
        let latest = points.iter().map(|point| point.time).max()?;
        Some(Self {
            account,
            device,
            numbers: (first.number, last.number),
            times: (earliest, latest),
            count: i32::try_from(points.len()).ok()?,
            received_at: first.received_at,
        })
    }

    pub(super) fn checksum(&self) -> i64 {
        let Self { account, device, numbers, times, count, received_at } = *self;
        crc(params![account, device, numbers.0, numbers.1, times.0, times.1, i64::from(count), received_at])
    }
}

/// A row of the log, its packed locations unread.
pub(crate) struct LogRow<'r> {
    row: &'r Row,
    pub(super) header: Header,
}

impl<'r> LogRow<'r> {
    pub(crate) fn of(row: &'r Row) -> Result<Self> {
        let header = Header {
            account: AccountId::from_i64(row.i64("account_id")?),
            device: DeviceId::from_i64(row.i64("device_id")?),
            numbers: (row.i64("first_number")?, row.i64("last_number")?),
            times: (row.timestamp("first_time")?, row.timestamp("last_time")?),
            count: row.int("count")?,
            received_at: row.timestamp("received_at")?,
        };
        Ok(Self { row, header })
    }

    /// The locations in the order of arrival, or what is known of the row if it is damaged.
    pub(crate) fn points(&self) -> std::result::Result<Vec<PointRef<'r>>, Box<Damaged>> {
        self.read().map_err(|reason| Box::new(self.damaged(reason)))
    }

    fn read(&self) -> std::result::Result<Vec<PointRef<'r>>, String> {
        let header = &self.header;
        let kept = self.row.i64("checksum").map_err(|error| error.to_string())?;
        if kept != header.checksum() {
            return Err("its account, device, numbers or times do not match their checksum".to_owned());
        }
        let bytes = self.row.bytes_ref("points").map_err(|error| error.to_string())?;
        let points =
            read_device_batch(bytes, header.device, header.received_at).map_err(|error| error.to_string())?;
        let numbers = points.first().map(|point| point.number).zip(points.last().map(|point| point.number));
        if numbers != Some(header.numbers) || i32::try_from(points.len()) != Ok(header.count) {
            return Err(format!("it holds {} locations, not those that its columns give", points.len()));
        }
        Ok(points)
    }

    /// Like [`Self::points`]; a damaged row is recorded and skipped.
    pub(super) fn points_or_note(&self, tx: &Tx) -> Vec<PointRef<'r>> {
        self.points().unwrap_or_else(|damaged| {
            tx.damage().note(&damaged);
            Vec::new()
        })
    }

    /// The identity of a row that cannot be read.
    pub(crate) fn damaged(&self, reason: impl std::fmt::Display) -> Damaged {
        let header = &self.header;
        Damaged::new(Table::LocationLog, reason)
            .of(header.account, Some(header.device))
            .with_numbers(header.numbers.0, header.numbers.1)
            .with_times(header.times.0, header.times.1)
            .with_count(i64::from(header.count))
    }
}
