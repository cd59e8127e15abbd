//! A row of the log: the locations of one commit and account, checked before they are read.

use perigee_core::id::AccountId;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::codec::{CodecError, PointRef, scan_batch};
use crate::damage::{Damaged, Table};
use crate::error::describe;
use crate::sql::checksum::crc;
use crate::{Row, Tx, params};

/// The columns [`LogRow::of`] reads.
pub(crate) const COLUMNS: &str = "last_number, first_number, account_id, received_at, checksum, points";

/// The checksum of the columns besides the packed locations.
pub(super) fn checksum(last: i64, first: i64, account: AccountId, received_at: Timestamp) -> i64 {
    crc(params![last, first, account, received_at])
}

/// A row of the log, its packed locations unread.
pub(crate) struct LogRow<'r> {
    row: &'r Row,
    pub(crate) account: AccountId,
    pub(super) first: i64,
    pub(crate) last: i64,
    pub(super) received_at: Timestamp,
    /// Why its columns cannot be read.
    fault: Option<String>,
}

impl<'r> LogRow<'r> {
    pub(crate) fn of(row: &'r Row) -> Result<Self> {
        let last = row.i64("last_number")?;
        let (account, first, received_at) =
            (row.i64("account_id"), row.i64("first_number"), row.timestamp("received_at"));
        let fault = account.as_ref().err().or(first.as_ref().err()).or(received_at.as_ref().err());
        let fault = fault.map(|error| describe(error));
        Ok(Self {
            row,
            account: AccountId::from_i64(account.unwrap_or_default()),
            first: first.unwrap_or(last),
            last,
            received_at: received_at.unwrap_or(Timestamp::from_millis(0)),
            fault,
        })
    }

    /// Visits the locations until the visitor returns false. In a damaged row, no location after the damage is
    /// visited.
    pub(crate) fn visit(
        &self,
        visitor: impl FnMut(PointRef<'r>) -> std::result::Result<bool, CodecError>,
    ) -> std::result::Result<(), Box<Damaged>> {
        self.try_visit(visitor).map_err(|reason| Box::new(self.damaged(reason)))
    }

    /// Visits the locations, or returns what is wrong with the row.
    fn try_visit(
        &self,
        mut visitor: impl FnMut(PointRef<'r>) -> std::result::Result<bool, CodecError>,
    ) -> std::result::Result<(), String> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let kept = self.row.opt_i64("checksum").map_err(|error| error.to_string())?;
        if kept.is_some_and(|kept| kept != checksum(self.last, self.first, self.account, self.received_at)) {
            return Err("its numbers, account or time do not match their checksum".to_owned());
        }
        let points = self.row.bytes_ref("points").map_err(|error| error.to_string())?;
        let (mut failed, mut ended_early, mut count) = (None, false, 0);
        let look = |point| {
            count += 1;
            let wants_more = visitor(point).unwrap_or_else(|error| {
                failed = Some(error);
                false
            });
            ended_early = !wants_more;
            wants_more
        };
        scan_batch(points, self.first, self.received_at, look).map_err(|error| error.to_string())?;
        if let Some(error) = failed {
            return Err(error.to_string());
        }
        if !ended_early && count != self.last - self.first + 1 {
            return Err(format!("it holds {count} locations, not as many as its numbers give"));
        }
        Ok(())
    }

    /// Like [`Self::visit`]; a damaged row is recorded and skipped.
    pub(super) fn visit_or_note(
        &self,
        tx: &Tx,
        visitor: impl FnMut(PointRef<'r>) -> std::result::Result<bool, CodecError>,
    ) {
        if let Err(damaged) = self.visit(visitor) {
            tx.damage().note(&damaged);
        }
    }

    /// The identity of a row that cannot be read.
    fn damaged(&self, reason: String) -> Damaged {
        Damaged::new(Table::LocationLog, reason)
            .of(self.account, None)
            .with_numbers(self.first, self.last)
            .with_times(self.received_at, self.received_at)
            .with_count(self.last - self.first + 1)
    }
}
