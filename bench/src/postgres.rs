//! The PostgreSQL server of a run: creates databases on it, and measures its processes.

use std::fs;

use anyhow::{Context, Result};
use tokio_postgres::{Client, NoTls};

use crate::machine::{self, Usage};

/// Connects to a database.
pub async fn connect(url: &str) -> Result<Client> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.context("cannot reach PostgreSQL")?;
    tokio::spawn(connection);
    Ok(client)
}

/// Creates an empty database on the server and returns its URL.
pub async fn own_database(url: &str, name: &str) -> Result<String> {
    let client = connect(url).await?;
    client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await?;
    client.batch_execute(&format!("CREATE DATABASE {name}")).await?;
    let (server, _) = url.rsplit_once('/').context("the URL names no database")?;
    Ok(format!("{server}/{name}"))
}

/// The parent of all processes of the server, if it runs on this machine.
pub async fn postmaster(url: &str) -> Result<Option<u32>> {
    let client = connect(url).await?;
    let backend: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await?.get(0);
    let parent = u32::try_from(backend).ok().and_then(parent_of);
    let is_postgres = |process: &u32| {
        fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name.starts_with("postgres"))
    };
    Ok(parent.filter(is_postgres))
}

/// CPU time and memory that the server's processes have used so far. Processes that ended are counted with their
/// parent.
pub fn usage(postmaster: u32) -> Usage {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let children = processes
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|process| parent_of(*process) == Some(postmaster));
    let used = std::iter::once(postmaster).chain(children).filter_map(|process| machine::usage(process).ok());
    used.fold(Usage::default(), |sum, one| Usage {
        cpu_s: sum.cpu_s + one.cpu_s,
        written: sum.written + one.written,
        resident: sum.resident + one.resident,
        peak: sum.peak + one.peak,
    })
}

fn parent_of(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // After the name in brackets, which may hold blanks, come the state and the parent.
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}
