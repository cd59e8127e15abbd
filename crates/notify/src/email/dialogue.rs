//! SMTP commands and replies as lines over a connection.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

use super::reply::{LINE_MAX, LINES_MAX, Reply, parse_line};
use crate::pipe::Pipe;

/// A connection as a sequence of commands and replies.
pub(super) struct Dialogue {
    pipe: BufReader<Box<dyn Pipe>>,
}

impl Dialogue {
    pub(super) fn new(pipe: Box<dyn Pipe>) -> Self {
        Self { pipe: BufReader::new(pipe) }
    }

    /// Sends a command and reads its reply. The command must not contain line breaks.
    pub(super) async fn command(&mut self, line: &str) -> io::Result<Reply> {
        self.write(format!("{line}\r\n").as_bytes()).await?;
        self.read_reply().await
    }

    /// Writes bytes and flushes them.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.pipe.get_mut().write_all(bytes).await?;
        self.pipe.get_mut().flush().await
    }

    /// Reads one reply, of one or several lines.
    pub(super) async fn read_reply(&mut self) -> io::Result<Reply> {
        let mut reply: Option<Reply> = None;
        for _ in 0..LINES_MAX {
            let line = self.read_line().await?;
            let (code, more, text) =
                parse_line(&line).ok_or_else(|| garbled("an answer of the mail server is not SMTP"))?;
            let reply = reply.get_or_insert_with(|| Reply { code, lines: Vec::new() });
            if reply.code != code {
                return Err(garbled("the lines of an answer of the mail server have different codes"));
            }
            reply.lines.push(text);
            if !more {
                return Ok(reply.clone());
            }
        }
        Err(garbled("an answer of the mail server has too many lines"))
    }

    async fn read_line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let most = u64::try_from(LINE_MAX).unwrap_or(u64::MAX);
        (&mut self.pipe).take(most).read_until(b'\n', &mut line).await?;
        if line.pop() != Some(b'\n') {
            return Err(if line.len() + 1 >= LINE_MAX {
                garbled("a line of an answer of the mail server is too long")
            } else {
                io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection")
            });
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(line)
    }

    /// The underlying connection, to encrypt it. Bytes received before the encryption could have been injected by
    /// anybody, so their presence is an error.
    pub(super) fn into_pipe(self) -> io::Result<Box<dyn Pipe>> {
        if self.pipe.buffer().is_empty() {
            Ok(self.pipe.into_inner())
        } else {
            Err(garbled("the server sent more than its answer before the encryption began"))
        }
    }
}

fn garbled(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
