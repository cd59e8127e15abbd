//! A row of the log: the locations of one commit, checked before they are shown.

use perigee_core::id::AccountId;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::codec::{CodecError, Glimpse, look_through};
use crate::damage::{Damaged, Table};
use crate::sql::checksum::crc;
use crate::{Row, Tx, params};

/// The columns [`LogRow::of`] reads.
pub(crate) const COLUMNS: &str = "last_number, first_number, account_id, received_at, checksum, points";

/// The checksum of the columns beside the packed locations.
pub(super) fn checksum(last: i64, first: i64, account: AccountId, received_at: Timestamp) -> i64 {
    crc(params![last, first, account, received_at])
}

/// A row of the log.
pub(crate) struct LogRow<'r> {
    row: &'r Row,
    pub(crate) account: AccountId,
    pub(super) first: i64,
    pub(crate) last: i64,
    pub(super) received_at: Timestamp,
}

impl<'r> LogRow<'r> {
    pub(crate) fn of(row: &'r Row) -> Result<Self> {
        Ok(Self {
            row,
            account: AccountId::from_i64(row.i64("account_id")?),
            first: row.i64("first_number")?,
            last: row.i64("last_number")?,
            received_at: row.timestamp("received_at")?,
        })
    }

    /// Shows its locations for as long as more are wanted. When the row is damaged, none is shown, or the rest is
    /// not.
    pub(crate) fn show(
        &self,
        wants_more: impl FnMut(Glimpse<'r>) -> std::result::Result<bool, CodecError>,
    ) -> std::result::Result<(), Box<Damaged>> {
        self.walk(wants_more).map_err(|reason| Box::new(self.damaged(reason)))
    }

    /// Shows its locations, or says what is wrong.
    fn walk(
        &self,
        mut wants_more: impl FnMut(Glimpse<'r>) -> std::result::Result<bool, CodecError>,
    ) -> std::result::Result<(), String> {
        let kept = self.row.opt_i64("checksum").map_err(|error| error.to_string())?;
        if kept.is_some_and(|kept| kept != checksum(self.last, self.first, self.account, self.received_at)) {
            return Err("its numbers, account or time do not match their checksum".to_owned());
        }
        let points = self.row.bytes_ref("points").map_err(|error| error.to_string())?;
        let (mut failed, mut ended_early, mut count) = (None, false, 0);
        let look = |glimpse| {
            count += 1;
            let goes_on = wants_more(glimpse).unwrap_or_else(|error| {
                failed = Some(error);
                false
            });
            ended_early = !goes_on;
            goes_on
        };
        look_through(points, self.first, self.received_at, look).map_err(|error| error.to_string())?;
        if let Some(error) = failed {
            return Err(error.to_string());
        }
        if !ended_early && count != self.last - self.first + 1 {
            return Err(format!("it holds {count} locations"));
        }
        Ok(())
    }

    /// The same; a damaged row is noted and passed over.
    pub(super) fn show_or_note(
        &self,
        tx: &Tx,
        wants_more: impl FnMut(Glimpse<'r>) -> std::result::Result<bool, CodecError>,
    ) {
        if let Err(damaged) = self.show(wants_more) {
            tx.damage().note(&damaged);
        }
    }

    /// What is known of it when it cannot be read.
    fn damaged(&self, reason: String) -> Damaged {
        Damaged::new(Table::LocationLog, reason)
            .of(self.account, None)
            .with_numbers(self.first, self.last)
            .with_times(self.received_at, self.received_at)
            .with_count(self.last - self.first + 1)
    }
}
