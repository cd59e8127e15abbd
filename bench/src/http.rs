//! A client with as little work of its own as can be: keep-alive, one request at a time, no copies of bodies.

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A connection to a server.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    request: Vec<u8>,
}

/// The status of an answer, and its body.
pub(crate) struct Answer<'c> {
    pub(crate) status: u16,
    pub(crate) body: &'c [u8],
}

impl Connection {
    pub(crate) async fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(64 * 1024), request: Vec::with_capacity(64 * 1024) })
    }

    /// Sends a request and reads its answer whole.
    pub(crate) async fn call(&mut self, line: &str, token: &str, body: &[u8]) -> Result<Answer<'_>> {
        self.request.clear();
        let head = format!(
            "{line} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.request.extend_from_slice(head.as_bytes());
        self.request.extend_from_slice(body);
        self.stream.write_all(&self.request).await?;
        self.buffer.clear();
        let (status, start, length) = self.read_head().await?;
        if let Some(length) = length {
            while self.buffer.len() < start + length {
                self.read_more().await?;
            }
            return Ok(Answer { status, body: &self.buffer[start..start + length] });
        }
        // Chunked: only its end matters here, and no JSON text holds it.
        while !self.buffer.ends_with(b"\r\n0\r\n\r\n") {
            self.read_more().await?;
        }
        Ok(Answer { status, body: &self.buffer[start..] })
    }

    async fn read_head(&mut self) -> Result<(u16, usize, Option<usize>)> {
        loop {
            if let Some(end) = self.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                let head = std::str::from_utf8(&self.buffer[..end]).context("the answer is no text")?;
                let status = head.split(' ').nth(1).and_then(|text| text.parse().ok());
                let length = head.lines().find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
                });
                return Ok((status.context("the answer has no status")?, end + 4, length));
            }
            self.read_more().await?;
        }
    }

    async fn read_more(&mut self) -> Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            bail!("the server closed the connection");
        }
        Ok(())
    }
}
