//! An HTTP/2 client that sends many simultaneous requests on one connection, and bodies that never end.

use std::future::{pending, poll_fn};

use anyhow::{Context, Result};
use bytes::Bytes;
use h2::client::SendRequest;
use tokio::net::TcpStream;

/// Bytes of a body that are sent at a time.
const PIECE: usize = 16 * 1024;

/// A connection that is cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Http2 {
    sender: SendRequest<Bytes>,
    authority: String,
}

/// The body of a request.
#[derive(Debug)]
pub(crate) enum Sent {
    /// These bytes as the whole body.
    Whole(Bytes),
    /// This many spaces, without ever ending the body.
    Endless(usize),
}

impl Http2 {
    /// Connects to a host and port.
    pub(crate) async fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        let (sender, connection) = h2::client::handshake(stream).await?;
        // Runs until the server closes the connection or it is no longer used.
        tokio::spawn(async move { drop(connection.await) });
        Ok(Self { sender, authority: address.to_owned() })
    }

    /// Posts a body and returns the status; `None` if the connection or stream was closed without one.
    pub(crate) async fn send(self, path: &str, token: &str, sent: Sent) -> Result<Option<u16>> {
        let mut request = http::Request::post(format!("http://{}{path}", self.authority))
            .header("content-type", "application/json");
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(())?;
        let Ok(mut sender) = self.sender.ready().await else { return Ok(None) };
        let Ok((answer, mut body)) = sender.send_request(request, false) else { return Ok(None) };
        let feed = async move {
            match sent {
                Sent::Whole(bytes) => drop(body.send_data(bytes, true)),
                Sent::Endless(mut left) => {
                    while left > 0 {
                        body.reserve_capacity(left.min(PIECE));
                        let Some(Ok(room)) = poll_fn(|context| body.poll_capacity(context)).await else {
                            break;
                        };
                        let piece = room.min(left);
                        if body.send_data(Bytes::from(vec![b' '; piece]), false).is_err() {
                            break;
                        }
                        left -= piece;
                    }
                }
            }
            pending::<()>().await;
        };
        tokio::select! {
            answer = answer => Ok(answer.ok().map(|answer| answer.status().as_u16())),
            () = feed => Ok(None),
        }
    }
}
