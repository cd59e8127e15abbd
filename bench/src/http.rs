//! A minimal HTTP client: keep-alive, one request at a time, no copies of bodies.

use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// A connection to a server.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    request: Vec<u8>,
}

/// An answer whose body has arrived; it borrows the connection's buffer.
#[derive(Debug)]
pub struct Answer<'c> {
    /// The HTTP status of the answer.
    pub status: u16,
    /// The body; a chunked body includes the chunk headers.
    pub body: &'c [u8],
    /// When its first byte arrived.
    pub first_byte: Instant,
    /// The status line and the headers.
    head: &'c [u8],
    is_chunked: bool,
}

impl Answer<'_> {
    /// Whether the status is a success.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.head).ok()?.lines().find_map(|line| {
            let (of, value) = line.split_once(':')?;
            of.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The body as JSON.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.content())
            .with_context(|| format!("the body of a {} is not JSON", self.status))
    }

    /// The body without chunk headers.
    pub fn content(&self) -> Vec<u8> {
        if self.is_chunked { join_chunks(self.body) } else { self.body.to_vec() }
    }

    /// The body as text, for a message.
    pub fn text(&self) -> String {
        format!("{} {}", self.status, String::from_utf8_lossy(self.body))
    }
}

impl Connection {
    /// Connects to a host and port.
    pub async fn open(address: &str) -> Result<Self> {
        Self::over(TcpStream::connect(address).await.context("cannot connect")?)
    }

    /// Connects from this local address, so that the server sees another client.
    pub async fn open_from(source: IpAddr, address: &str) -> Result<Self> {
        let socket = if source.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.bind(SocketAddr::new(source, 0))?;
        Self::over(socket.connect(address.parse()?).await.context("cannot connect")?)
    }

    fn over(stream: TcpStream) -> Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(64 * 1024), request: Vec::with_capacity(64 * 1024) })
    }

    /// Sends a request, given by method and path, and reads its answer whole.
    pub async fn call(&mut self, line: &str, token: &str, body: &[u8]) -> Result<Answer<'_>> {
        self.call_with(line, token, "", body).await
    }

    /// The same with further header lines, each with its line break.
    pub async fn call_with(
        &mut self,
        line: &str,
        token: &str,
        headers: &str,
        body: &[u8],
    ) -> Result<Answer<'_>> {
        self.request.clear();
        for part in [line, " HTTP/1.1\r\nHost: localhost\r\n", headers] {
            self.request.extend_from_slice(part.as_bytes());
        }
        if !token.is_empty() {
            for part in ["Authorization: Bearer ", token, "\r\n"] {
                self.request.extend_from_slice(part.as_bytes());
            }
        }
        if body.is_empty() {
            self.request.extend_from_slice(b"\r\n");
        } else {
            let head = format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
            self.request.extend_from_slice(head.as_bytes());
            self.request.extend_from_slice(body);
        }
        self.stream.write_all(&self.request).await?;
        self.buffer.clear();
        self.read_more().await?;
        let first_byte = Instant::now();
        let (status, start, length) = self.read_head().await?;
        let is_chunked = length.is_none();
        let end = match length {
            Some(length) => start + length,
            None => 0,
        };
        // Only the end of a chunked body matters here, and it cannot occur in JSON.
        while if is_chunked { !self.buffer.ends_with(b"\r\n0\r\n\r\n") } else { self.buffer.len() < end } {
            self.read_more().await?;
        }
        let (head, body) = self.buffer.split_at(start);
        Ok(Answer { status, body, first_byte, head, is_chunked })
    }

    async fn read_head(&mut self) -> Result<(u16, usize, Option<usize>)> {
        loop {
            if let Some(end) = self.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                let head = std::str::from_utf8(&self.buffer[..end]).context("the answer is not text")?;
                let status = head.split(' ').nth(1).and_then(|text| text.parse().ok());
                let length = head.lines().find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
                });
                let status: u16 = status.context("the answer has no status")?;
                let is_empty = matches!(status, 204 | 304);
                return Ok((status, end + 4, if is_empty { Some(0) } else { length }));
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

/// The content of a complete chunked body.
fn join_chunks(mut body: &[u8]) -> Vec<u8> {
    let mut content = Vec::with_capacity(body.len());
    while let Some(end) = body.windows(2).position(|bytes| bytes == b"\r\n") {
        let size =
            std::str::from_utf8(&body[..end]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        match size.and_then(|size| body[end + 2..].split_at_checked(size)) {
            Some((chunk, rest)) if !chunk.is_empty() => {
                content.extend_from_slice(chunk);
                body = rest.get(2..).unwrap_or_default();
            }
            _ => break,
        }
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_joined() {
        assert_eq!(join_chunks(b"3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n"), b"abc0123456789");
        assert_eq!(join_chunks(b"0\r\n\r\n"), b"");
    }
}
