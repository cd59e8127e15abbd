//! A simulated SMS provider that counts messages by number and sometimes fails, as real ones do.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::client::locked;

/// The body of a request to the simulated API, with placeholders.
pub(crate) const REQUEST: &str = r#"{"to":"{number}","text":"{text}"}"#;

/// The simulated provider. It runs until the process ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sink {
    received: Arc<Mutex<HashMap<String, u32>>>,
    turn: Arc<AtomicU64>,
}

impl Sink {
    /// Starts listening and returns its URL.
    pub(crate) async fn listen(&self) -> Result<String> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}/", listener.local_addr()?);
        let sink = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let sink = sink.clone();
                // Broken connections are the sender's problem.
                tokio::spawn(async move { sink.serve(stream).await });
            }
        });
        Ok(address)
    }

    /// Messages received for this number.
    pub(crate) fn of(&self, number: &str) -> u32 {
        locked(&self.received).get(number).copied().unwrap_or_default()
    }

    async fn serve(&self, mut stream: TcpStream) -> Result<()> {
        let mut buffer = Vec::new();
        loop {
            let Some(body) = read_request(&mut stream, &mut buffer).await? else { return Ok(()) };
            let message: Value = serde_json::from_slice(&body)?;
            let number = message["to"].as_str().context("a message to nobody")?.to_owned();
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            if turn % 16 == 7 {
                stream.write_all(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n").await?;
                continue;
            }
            *locked(&self.received).entry(number).or_default() += 1;
            if turn % 64 == 9 {
                // Accepted without an answer.
                return Ok(());
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").await?;
        }
    }
}

/// The body of the next request; `None` when the connection ends.
async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<Option<Vec<u8>>> {
    loop {
        if let Some(end) = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.context("a request without a length")?.trim().parse()?;
            if buffer.len() >= end + 4 + length {
                let body = buffer[end + 4..end + 4 + length].to_vec();
                buffer.drain(..end + 4 + length);
                return Ok(Some(body));
            }
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}
