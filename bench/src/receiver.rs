//! A receiver of webhooks that records requests and answers as configured.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::numbered::number_in;

/// The reaction of the receiver to a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// Accepts everything.
    Takes,
    /// Fails half of the first attempts and half of the second; accepts the third, so that a run ends.
    FailsHalf,
    /// Never answers.
    Hangs,
}

/// The deliveries of one location.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrival {
    /// The IDs of the messages that contained it; more than one is a defect.
    pub(crate) names: Vec<String>,
    pub(crate) attempts: u32,
    pub(crate) taken: u32,
    pub(crate) first_taken: Option<Instant>,
}

#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    arrivals: Arc<Mutex<HashMap<usize, Arrival>>>,
    accepting: JoinHandle<()>,
}

impl Receiver {
    pub(crate) async fn new(manner: Manner) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/", listener.local_addr()?);
        let arrivals = Arc::new(Mutex::new(HashMap::new()));
        let noted = Arc::clone(&arrivals);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, manner, Arc::clone(&noted)));
            }
        });
        Ok(Self { url, arrivals, accepting })
    }

    /// The messages received so far.
    pub(crate) fn arrivals(&self) -> HashMap<usize, Arrival> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many locations were accepted so far.
    pub(crate) fn taken(&self) -> usize {
        let arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        arrivals.values().filter(|arrival| arrival.taken > 0).count()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    manner: Manner,
    noted: Arc<Mutex<HashMap<usize, Arrival>>>,
) -> Option<()> {
    let mut buffer = Vec::with_capacity(16 * 1024);
    loop {
        let end = loop {
            if let Some(end) = buffer.windows(4).position(|part| part == b"\r\n\r\n") {
                break end;
            }
            stream.read_buf(&mut buffer).await.ok().filter(|read| *read > 0)?;
        };
        let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
        let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let length: usize = header("content-length:")?.parse().ok()?;
        // IDs are case-sensitive, so that this one is read from the original bytes and not from the lower-case copy.
        let start = head.find("webhook-id:")? + "webhook-id:".len();
        let name = String::from_utf8_lossy(&buffer[start..end]).lines().next()?.trim().to_owned();
        while buffer.len() < end + 4 + length {
            stream.read_buf(&mut buffer).await.ok().filter(|read| *read > 0)?;
        }
        let number = number_in(&buffer[end + 4..end + 4 + length])?;
        buffer.drain(..end + 4 + length);
        if matches!(manner, Manner::Hangs) {
            std::future::pending::<()>().await;
        }
        let is_taken = note(&noted, number, name, manner);
        let status = if is_taken { "200 OK" } else { "500 Error" };
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        stream.write_all(answer.as_bytes()).await.ok()?;
    }
}

fn note(noted: &Mutex<HashMap<usize, Arrival>>, number: usize, name: String, manner: Manner) -> bool {
    let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
    let arrival = noted.entry(number).or_default();
    arrival.attempts += 1;
    if !arrival.names.contains(&name) {
        arrival.names.push(name);
    }
    let fails = matches!(manner, Manner::FailsHalf) && arrival.attempts < 3 && rand::random::<bool>();
    if !fails {
        arrival.taken += 1;
        arrival.first_taken.get_or_insert_with(Instant::now);
    }
    !fails
}
