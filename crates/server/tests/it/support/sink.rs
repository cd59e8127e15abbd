//! A receiver of webhooks on a real socket that answers as configured: it accepts, refuses, hangs, closes or sends too
//! much.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The reaction of the receiver to a message.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Answers with this status and these headers.
    Status(u16, &'static str),
    /// Accepts the request and never answers.
    Hang,
    /// Closes the connection instead of answering.
    Close,
    /// Answers 200 and then talks without end.
    Endless,
}

/// A message as received in.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) headers: HashMap<String, String>,
    pub(crate) bytes: Vec<u8>,
    /// The bytes as text, with a mark for what is not UTF-8.
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("messages are JSON")
    }
}

pub(crate) struct Sink {
    pub(crate) address: SocketAddr,
    reply: Arc<Mutex<Reply>>,
    received: mpsc::UnboundedReceiver<Received>,
    accepting: JoinHandle<()>,
}

impl Sink {
    pub(crate) async fn new(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let (sender, received) = mpsc::unbounded_channel();
        let reply = Arc::new(Mutex::new(reply));
        let current = Arc::clone(&reply);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (current, sender) = (Arc::clone(&current), sender.clone());
                tokio::spawn(async move { serve(stream, &current, &sender).await });
            }
        });
        Self { address, reply, received, accepting }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Does this with every message from now on.
    pub(crate) fn set_reply(&self, reply: Reply) {
        *self.reply.lock().unwrap() = reply;
    }

    /// Waits for the next message.
    pub(crate) async fn next(&mut self) -> Received {
        self.received.recv().await.expect("the receiver goes on")
    }

    /// A message that has come already.
    pub(crate) fn try_next(&mut self) -> Option<Received> {
        self.received.try_recv().ok()
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(
    stream: TcpStream,
    current: &Mutex<Reply>,
    sender: &mpsc::UnboundedSender<Received>,
) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let received = read(&mut stream).await?;
        sender.send(received).ok()?;
        let reply = current.lock().unwrap().clone();
        match reply {
            Reply::Status(status, headers) => {
                let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 2\r\n{headers}\r\nok");
                stream.write_all(answer.as_bytes()).await.ok()?;
            }
            Reply::Hang => std::future::pending().await,
            Reply::Close => return None,
            Reply::Endless => {
                stream.write_all(b"HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\n").await.ok()?;
                let chunk = format!("1000\r\n{}\r\n", "x".repeat(4096));
                loop {
                    stream.write_all(chunk.as_bytes()).await.ok()?;
                }
            }
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut headers = HashMap::new();
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
    loop {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    stream.read_exact(&mut body).await.ok()?;
    Some(Received { headers, body: String::from_utf8_lossy(&body).into_owned(), bytes: body })
}
