//! Tiles that the server fetches with the operator's key: strangers request them, with and without guessed share links,
//! and several users of one account request more than they may.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use perigee_bench::http::Connection;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

const STRANGERS: u32 = 32;
/// Requests of each stranger.
const GUESSES: u32 = 100;
const USERS: u32 = 8;
/// Connections of each user.
const CONNECTIONS: u32 = 2;
/// How long the users request tiles.
const WITHIN: Duration = Duration::from_secs(10);
/// Tiles that one account may have fetched: at once, and in a second.
const ACCOUNT_BURST: u64 = 2_000;
const ACCOUNT_RATE: u64 = 100;
/// Bytes of a detailed tile.
const TILE_BYTES: usize = 60 * 1024;
const ZOOM: u32 = 12;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let fetched = Arc::new(AtomicU64::new(0));
    let serving = tokio::spawn(serve(Arc::clone(&stage.tiles), Arc::clone(&fetched)));
    let console = stage.connect().await?.call("GET /api/console", "", b"").await?.json()?;
    let layer = console["map"]["layers"][0]["url"].as_str().context("no layer of tiles")?.to_owned();
    // Before the strangers, whose guesses use up the requests of this address.
    let mut tokens = Vec::new();
    for user in 0..USERS {
        tokens.push(stage.make_user(&format!("reader{user}@localhost"), &["api"]).await?);
    }
    let strangers = ask_as_strangers(stage, &layer).await?;
    let of_strangers = fetched.load(Ordering::Relaxed);
    ensure!(of_strangers == 0, "strangers had {of_strangers} tiles fetched");

    let began = Instant::now();
    let users = ask_as_users(stage, &layer, &tokens).await?;
    let of_users = fetched.load(Ordering::Relaxed);
    serving.abort();
    let most = ACCOUNT_BURST + ACCOUNT_RATE * (began.elapsed().as_secs() + 1);
    ensure!(of_users > 0 && of_users <= most, "users had {of_users} tiles fetched, at most {most} expected");
    Ok(format!("strangers: {strangers}, no tile fetched; {USERS} users: {users}, {of_users} tiles fetched"))
}

/// The request for the tile with this number.
fn line(layer: &str, number: u32) -> String {
    let side = 1 << ZOOM;
    let (x, y) = (number % side, number / side % side);
    let path =
        layer.replace("{z}", &ZOOM.to_string()).replace("{x}", &x.to_string()).replace("{y}", &y.to_string());
    format!("GET /{path}")
}

async fn ask_as_strangers(stage: &Stage, layer: &str) -> Result<String> {
    let mut strangers = JoinSet::new();
    for stranger in 0..STRANGERS {
        let (mut connection, layer) = (stage.connect().await?, layer.to_owned());
        strangers.spawn(async move {
            let mut statuses = Vec::new();
            for guess in 0..GUESSES {
                let number = stranger * GUESSES + guess;
                let share =
                    if guess.is_multiple_of(2) { String::new() } else { format!("?share={number:032}") };
                let line = format!("{}{share}", line(&layer, number));
                statuses.push(connection.call(&line, "", b"").await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    collect(strangers, &[401, 404, 429, 503]).await
}

async fn ask_as_users(stage: &Stage, layer: &str, tokens: &[String]) -> Result<String> {
    let mut readers = JoinSet::new();
    for (user, token) in (0..).zip(tokens) {
        for connection in 0..CONNECTIONS {
            let (token, layer, address) = (token.clone(), layer.to_owned(), stage.server.address.clone());
            readers.spawn(async move {
                let mut connection_to = Connection::open(&address).await?;
                let (began, mut statuses) = (Instant::now(), Vec::new());
                let mut number = user * CONNECTIONS + connection;
                while began.elapsed() < WITHIN {
                    statuses.push(connection_to.call(&line(&layer, number), &token, b"").await?.status);
                    number += USERS * CONNECTIONS;
                }
                anyhow::Ok(statuses)
            });
        }
    }
    collect(readers, &[200, 429, 503]).await
}

async fn collect(mut clients: JoinSet<Result<Vec<u16>>>, expected: &[u16]) -> Result<String> {
    let mut statuses = Vec::new();
    while let Some(done) = clients.join_next().await {
        statuses.extend(done??);
    }
    count_by_status(statuses, expected)
}

/// A tile server that counts the requested tiles.
async fn serve(listener: Arc<TcpListener>, fetched: Arc<AtomicU64>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(answer(stream, Arc::clone(&fetched)));
    }
}

async fn answer(mut stream: TcpStream, fetched: Arc<AtomicU64>) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: {TILE_BYTES}\r\n\r\n");
    let tile = [head.into_bytes(), vec![7; TILE_BYTES]].concat();
    let (mut request, mut chunk) = (Vec::new(), [0; 4_096]);
    loop {
        match stream.read(&mut chunk).await? {
            0 => return Ok(()),
            count => request.extend_from_slice(&chunk[..count]),
        }
        if request.ends_with(b"\r\n\r\n") {
            fetched.fetch_add(1, Ordering::Relaxed);
            request.clear();
            stream.write_all(&tile).await?;
        }
    }
}
