//! Who may open a SQLite file, and beside whom.

use std::sync::Arc;

use perigee_store::testing::Scratch;
use perigee_store::{Database, Engine, OpenError, OpenOptions};

use crate::support::{add, make_tables};

async fn open(scratch: &Scratch, options: OpenOptions) -> Result<Database, OpenError> {
    Database::open(scratch.url(), options, Arc::new(scratch.clock().clone())).await
}

#[tokio::test]
async fn a_second_server_is_refused() {
    let scratch = Scratch::new(Engine::Sqlite).await;
    let first = scratch.open().await;
    let refused = open(&scratch, scratch.options()).await.unwrap_err();
    assert!(matches!(refused, OpenError::InUse { .. }), "{refused}");
    assert!(refused.to_string().contains("in use by another perigee serve"));
    first.close().await;
    open(&scratch, scratch.options()).await.unwrap().close().await;
}

#[tokio::test]
async fn the_same_file_by_another_name_is_refused_too() {
    let scratch = Scratch::new(Engine::Sqlite).await;
    let _first = scratch.open().await;
    let path = scratch.url().sqlite_path().unwrap();
    let detour = path.parent().unwrap().join(".").join(path.file_name().unwrap());
    let url = perigee_store::DatabaseUrl::sqlite(detour);
    let second = Database::open(&url, scratch.options(), Arc::new(scratch.clock().clone())).await;
    assert!(matches!(second, Err(OpenError::InUse { .. })));
}

#[tokio::test]
async fn a_second_server_is_refused_after_the_lock_file_was_deleted() {
    let scratch = Scratch::new(Engine::Sqlite).await;
    let first = scratch.open().await;
    let path = scratch.url().sqlite_path().unwrap();
    std::fs::remove_file(path.with_file_name("perigee.db.lock")).unwrap();
    let refused = open(&scratch, scratch.options()).await.unwrap_err();
    assert!(matches!(refused, OpenError::InUse { .. }), "{refused}");
    if cfg!(target_os = "linux") {
        let named = format!("(process {})", std::process::id());
        assert!(refused.to_string().contains(&named), "{refused}");
    }
    // The lock of the file is not one of SQLite's: commands continue.
    make_tables(&scratch, Engine::Sqlite).await;
    let command = open(&scratch, OpenOptions::command()).await.unwrap();
    command.write(|tx| Box::pin(async move { Ok(add(tx, 1).await?) })).await.unwrap();
    first.write(|tx| Box::pin(async move { Ok(add(tx, 2).await?) })).await.unwrap();
    command.close().await;
    first.close().await;
    open(&scratch, scratch.options()).await.unwrap().close().await;
}

#[tokio::test]
async fn the_same_file_by_a_hard_link_is_refused_too() {
    let scratch = Scratch::new(Engine::Sqlite).await;
    let first = scratch.open().await;
    let path = scratch.url().sqlite_path().unwrap();
    let linked = path.with_file_name("elsewhere.db");
    std::fs::hard_link(path, &linked).unwrap();
    let url = perigee_store::DatabaseUrl::sqlite(&linked);
    let second = Database::open(&url, scratch.options(), Arc::new(scratch.clock().clone())).await;
    assert!(matches!(second, Err(OpenError::InUse { .. })));
    first.close().await;
}

#[tokio::test]
async fn a_command_writes_beside_a_server() {
    let scratch = Scratch::new(Engine::Sqlite).await;
    make_tables(&scratch, Engine::Sqlite).await;
    let server = scratch.open().await;
    let command = open(&scratch, OpenOptions::command()).await.unwrap();
    let jobs = (0..20_i64).map(|id| {
        let db = if id % 2 == 0 { &server } else { &command };
        db.write(move |tx| Box::pin(async move { Ok(add(tx, id).await?) }))
    });
    assert!(futures_util::future::join_all(jobs).await.iter().all(Result::is_ok));
    command.close().await;
    let rows = server
        .read(|tx| Box::pin(async move { Ok(tx.query("SELECT id FROM thing", &[]).await?) }))
        .await
        .unwrap();
    assert_eq!(rows.len(), 20);
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let scratch = Scratch::new(Engine::Sqlite).await;
    let folder = scratch.url().sqlite_path().unwrap().parent().unwrap().join("new").join("deep");
    let file = folder.join("perigee.db");
    let url = perigee_store::DatabaseUrl::sqlite(&file);
    let db = Database::open(&url, scratch.options(), Arc::new(scratch.clock().clone())).await.unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(folder.parent().unwrap())), (0o700, 0o700));
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    db.close().await;
}

#[tokio::test]
async fn other_files_are_refused() {
    let scratch = Scratch::new(Engine::Sqlite).await;
    std::fs::write(scratch.url().sqlite_path().unwrap(), "this is no database, but long enough to look at")
        .unwrap();
    assert!(open(&scratch, scratch.options()).await.is_err());
}
