//! A server on a real socket, and requests to it as bytes.

use std::net::SocketAddr;

use perigee_server::serve::{Listener, ServeConfig, serve};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::support::TestApp;

/// A service that answers on a socket.
pub(super) struct GatewayServer {
    pub(super) app: TestApp,
    address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) body: String,
}

impl GatewayServer {
    pub(super) async fn open(app: TestApp) -> Self {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let (address, router) = (listener.local_addr(), app.router.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async move { drop(stopped.await) };
        tokio::spawn(async move { serve(listener, None, router, ServeConfig::default(), stopped).await });
        Self { app, address, _stop: stop }
    }

    /// Sends a recorded request to the address of a gateway.
    pub(super) async fn send(&self, path: &str, row: &Value, headers: &Value) -> Reply {
        let body = row["body"].as_str().unwrap_or_default();
        let query = row["uri"].as_str().and_then(|uri| uri.split_once('?')).map(|(_, query)| query);
        let query = query.map_or_else(String::new, |query| format!("?{query}"));
        let headers: Vec<String> = headers
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| format!("{name}: {}\r\n", value.as_str().unwrap()))
            .collect();
        let head = format!(
            "{} {path}{query} HTTP/1.1\r\nHost: perigee.test\r\nConnection: close\r\nContent-Length: {}\r\n{}",
            row["method"].as_str().unwrap_or("POST"),
            body.len(),
            headers.concat()
        );
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let content_type = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-type: ").map(str::to_owned));
        Reply { status, content_type: content_type.unwrap_or_default(), body: body.to_owned() }
    }
}
