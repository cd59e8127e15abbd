//! Detects statements that change the columns from which the device cache is read.
//!
//! SQLite reports which tables and columns a statement changes when it prepares the statement. So no row is examined,
//! and no job has to declare what it changes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// The tables and columns that the device cache is read from.
const CACHED: [(&str, &[&str]); 4] = [
    ("account", &["id", "decided_at"]),
    ("device", &["account_id", "id", "identifier", "licensed", "expires"]),
    ("device_group", &["account_id", "id", "edition"]),
    ("group_membership", &["account_id", "group_id", "edition", "device_id"]),
];

/// The statements of a connection that change cached columns, and whether one has run.
#[derive(Debug, Default)]
pub(super) struct DeviceWrites {
    /// Set while such a statement is prepared.
    prepared: Arc<AtomicBool>,
    /// Their texts, which are few. A statement is prepared once and then taken from the connection's cache.
    statements: Mutex<Vec<Box<str>>>,
    ran: AtomicBool,
}

impl DeviceWrites {
    /// Watches the statements of a connection.
    pub(super) fn of(connection: &mut Connection) -> rusqlite::Result<Self> {
        let writes = Self::default();
        let prepared = Arc::clone(&writes.prepared);
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            if changes_cached(&context.action) {
                prepared.store(true, Ordering::Relaxed);
            }
            Authorization::Allow
        }))?;
        Ok(writes)
    }

    /// Must be called before a statement is prepared or taken from the connection's cache.
    pub(super) fn preparing(&self) {
        self.prepared.store(false, Ordering::Relaxed);
    }

    /// Must be called before a statement that writes is run.
    pub(super) fn running(&self, sql: &str) {
        let mut statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = statements.iter().any(|known| **known == *sql);
        if !is_known && self.prepared.load(Ordering::Relaxed) {
            statements.push(sql.into());
        }
        if is_known || self.prepared.load(Ordering::Relaxed) {
            self.ran.store(true, Ordering::Relaxed);
        }
    }

    /// Whether such a statement has run since the last call.
    pub(super) fn take(&self) -> bool {
        self.ran.swap(false, Ordering::Relaxed)
    }
}

fn changes_cached(action: &AuthAction<'_>) -> bool {
    let columns = |table: &str| CACHED.iter().find(|(name, _)| *name == table).map(|(_, columns)| columns);
    match action {
        AuthAction::Insert { table_name } | AuthAction::Delete { table_name } => {
            columns(table_name).is_some()
        }
        AuthAction::Update { table_name, column_name } => {
            columns(table_name).is_some_and(|columns| columns.contains(column_name))
        }
        _ => false,
    }
}

#[cfg(all(test, feature = "testing"))]
#[expect(clippy::unwrap_used, reason = "a step that cannot go on has failed")]
mod tests {
    use std::collections::{BTreeSet, HashSet};

    use futures_util::FutureExt as _;
    use perigee_core::access::actor::{Reach, Scope};
    use perigee_core::devices::device::DeviceRef;
    use perigee_core::id::{AccountId, DeviceId, GroupId};
    use perigee_core::time::MockClock;

    use super::*;
    use crate::Engine;
    use crate::job::run_now;
    use crate::sql::devices::read::find_id;
    use crate::sqlite::locations::read_visible;
    use crate::sqlite::{LocationMemory, Session};
    use crate::testing::{START, Scratch};
    use crate::tx::Tx;

    /// A new file with the tables of a store.
    async fn file() -> (Scratch, Connection) {
        let scratch = Scratch::new(Engine::Sqlite).await;
        scratch.open().await.close().await;
        let connection = Connection::open(scratch.url().sqlite_path().unwrap()).unwrap();
        (scratch, connection)
    }

    #[tokio::test]
    async fn statements_that_change_cached_columns_are_noticed_each_time() {
        let (_scratch, connection) = file().await;
        let session = Session::writer(connection).unwrap();
        let check = |sql: &str, expected: bool| {
            for _ in 0..2 {
                session.execute(sql, &[]).unwrap();
                assert_eq!(session.take_device_writes(), expected, "{sql}");
            }
            assert!(!session.take_device_writes(), "taken twice: {sql}");
        };
        check("UPDATE account SET decided_at = 0", true);
        check("UPDATE account SET api_total = 0", false);
        check("UPDATE device SET licensed = FALSE, checksum = 0", true);
        check("UPDATE device SET revision = revision + 1", false);
        check("UPDATE device_group SET edition = 1", true);
        check("UPDATE device_group SET name = ''", false);
        check("DELETE FROM group_membership", true);
        check("DELETE FROM device WHERE id IN (SELECT id FROM device)", true);
        check("INSERT INTO location_trim (account_id, number) SELECT id, 0 FROM device", false);
    }

    #[tokio::test]
    async fn the_cache_is_read_from_the_listed_columns() {
        let (_scratch, mut connection) = file().await;
        let read = Arc::new(Mutex::new(BTreeSet::new()));
        let reads = Arc::clone(&read);
        let note = move |context: AuthContext<'_>| {
            if let AuthAction::Read { table_name, column_name } = context.action {
                reads.lock().unwrap().insert((table_name.to_owned(), column_name.to_owned()));
            }
            Authorization::Allow
        };
        connection.authorizer(Some(note)).unwrap();
        let context = Arc::new(LocationMemory::new(Arc::new(MockClock::at(START)))).context();
        let tx = Tx::sqlite(Session::new(connection), START, context);
        let account = AccountId::from_i64(1);
        for reach in
            [Reach::Account, Reach::Group(GroupId::from_i64(1)), Reach::Device(DeviceId::from_i64(1))]
        {
            let mut scope = Scope::for_store_check(account);
            scope.reach = reach;
            let device = DeviceId::from_i64(1);
            run_now(
                move |tx| {
                    async move {
                        read_visible(tx, &HashSet::from([(scope, device)])).await?;
                        find_id(tx, scope, &DeviceRef::Identifier("tracker".into())).await?;
                        find_id(tx, scope, &DeviceRef::Id(device)).await
                    }
                    .boxed()
                },
                &tx,
            )
            .unwrap();
        }
        let listed = CACHED.iter().flat_map(|(table, columns)| {
            columns.iter().map(|column| (table.to_string(), column.to_string()))
        });
        let listed: BTreeSet<_> = listed.collect();
        // A view is listed by the columns of its tables.
        let read: BTreeSet<_> =
            read.lock().unwrap().iter().filter(|(table, _)| table != "group_member").cloned().collect();
        assert_eq!(read, listed);
    }
}
