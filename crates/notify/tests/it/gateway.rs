//! An SMS provider with configurable answers.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// How the provider answers.
#[derive(Clone)]
pub(crate) enum Manner {
    /// With these bytes, once it read the request.
    Answer(String),
    /// Not at all, but it stays.
    Hang,
    /// By closing the connection once it read the request.
    Close,
    /// With a body that has no end.
    Flood,
}

pub(crate) struct FakeGateway {
    pub(crate) address: SocketAddr,
    /// Its last request: head and body.
    pub(crate) requests: Arc<Mutex<Vec<(String, String)>>>,
}

impl FakeGateway {
    pub(crate) async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let gateway = Self { address: listener.local_addr().unwrap(), requests: Arc::default() };
        let requests = gateway.requests.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, manner.clone(), requests.clone()));
            }
        });
        gateway
    }

    /// One that answers with this status and body.
    pub(crate) async fn answering(status: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        let text = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}\r\n{body}");
        Self::start(Manner::Answer(text)).await
    }
}

async fn serve(stream: TcpStream, manner: Manner, requests: Arc<Mutex<Vec<(String, String)>>>) {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if !stream.read_line(&mut head).await.is_ok_and(|length| length > 0) {
            return;
        }
    }
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    requests.lock().unwrap().push((head, String::from_utf8(body).unwrap()));
    match manner {
        Manner::Answer(text) => stream.get_mut().write_all(text.as_bytes()).await.unwrap(),
        Manner::Hang => std::future::pending().await,
        Manner::Close => {}
        Manner::Flood => {
            let head = b"HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n";
            stream.get_mut().write_all(head).await.unwrap();
            while stream.get_mut().write_all(&[b' '; 4096]).await.is_ok() {}
        }
    }
}
