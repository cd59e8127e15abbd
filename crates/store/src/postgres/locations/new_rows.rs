//! New rows of the log, column by column, as one statement inserts them.

use perigee_core::id::{AccountId, DeviceId};
use tokio_postgres::types::ToSql;

use super::log_row::Header;
use crate::batch_statement::BatchStatement;
use crate::codec::{Point, pack_device_batch};
use crate::error::DbError;
use crate::postgres::{Param, Session};

macro_rules! insert {
    ($rest:literal) => {
        concat!(
            "INSERT INTO location_log (account_id, device_id, first_number, last_number, first_time, last_time, ",
            "count, received_at, checksum, points) ",
            $rest
        )
    };
}

/// Inserts rows, given an array for each column.
pub(super) const INSERT: BatchStatement = BatchStatement {
    any_account: insert!(
        "SELECT * FROM unnest( \
            CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[]), \
            CAST($5 AS BIGINT[]), CAST($6 AS BIGINT[]), CAST($7 AS INTEGER[]), CAST($8 AS BIGINT[]), \
            CAST($9 AS BIGINT[]), CAST($10 AS BYTEA[]))"
    ),
    one_account: insert!(
        "SELECT a.id, w.* FROM account a CROSS JOIN unnest( \
            CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[]), \
            CAST($5 AS BIGINT[]), CAST($6 AS BIGINT[]), CAST($7 AS INTEGER[]), CAST($8 AS BIGINT[]), \
            CAST($9 AS BIGINT[]), CAST($10 AS BYTEA[])) w \
        WHERE a.id = (CAST($1 AS BIGINT[]))[1]"
    ),
};

/// Prepares the statement that inserts.
pub(super) async fn prepare(session: &Session) -> Result<(), DbError> {
    session.prepare_native([INSERT.of(session.is_distributed())]).await.map(drop)
}

/// Rows to insert. Those of one account must not overlap in their numbers, because the log is read row by row.
#[derive(Default)]
pub(super) struct NewRows {
    account: Vec<i64>,
    device: Vec<i64>,
    first_number: Vec<i64>,
    last_number: Vec<i64>,
    first_time: Vec<i64>,
    last_time: Vec<i64>,
    count: Vec<i32>,
    received_at: Vec<i64>,
    checksum: Vec<i64>,
    points: Vec<Vec<u8>>,
}

impl NewRows {
    /// Adds a row with these locations, received in one commit and with ascending numbers; none if there are none.
    pub(super) fn push(&mut self, account: AccountId, device: DeviceId, points: &[Point]) {
        let Some(header) = Header::of(account, device, points) else { return };
        self.account.push(account.as_i64());
        self.device.push(device.as_i64());
        self.first_number.push(header.numbers.0);
        self.last_number.push(header.numbers.1);
        self.first_time.push(header.times.0.as_millis());
        self.last_time.push(header.times.1.as_millis());
        self.count.push(header.count);
        self.received_at.push(header.received_at.as_millis());
        self.checksum.push(header.checksum());
        self.points.push(pack_device_batch(points));
    }

    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// The parameters of [`INSERT`].
    pub(super) fn parameters(&self) -> [&(dyn ToSql + Sync); 10] {
        [
            &self.account,
            &self.device,
            &self.first_number,
            &self.last_number,
            &self.first_time,
            &self.last_time,
            &self.count,
            &self.received_at,
            &self.checksum,
            &self.points,
        ]
    }

    /// Inserts the rows with the commit, if there are any.
    pub(super) async fn insert_with_commit(self, session: &Session) -> Result<(), DbError> {
        if self.len() == 0 {
            return Ok(());
        }
        let [statement] = session.prepare_native([INSERT.of(session.is_distributed())]).await?;
        let params: Vec<Param> = vec![
            Box::new(self.account),
            Box::new(self.device),
            Box::new(self.first_number),
            Box::new(self.last_number),
            Box::new(self.first_time),
            Box::new(self.last_time),
            Box::new(self.count),
            Box::new(self.received_at),
            Box::new(self.checksum),
            Box::new(self.points),
        ];
        session.defer(statement, params);
        Ok(())
    }

    /// Inserts the rows, if there are any.
    pub(super) async fn insert(&self, session: &Session) -> Result<(), DbError> {
        if self.len() == 0 {
            return Ok(());
        }
        let [statement] = session.prepare_native([INSERT.of(session.is_distributed())]).await?;
        session.run(&statement, &self.parameters()).await.map(drop)
    }
}
