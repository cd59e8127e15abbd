//! Connections without HTTP to hosts that users set, with the guard of webhooks: one message, and one answer.

use std::net::{IpAddr, SocketAddr};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::client::{CONNECT_TIMEOUT, Client};
use super::fetch::PostError;

impl Client {
    /// Connects to a host that the guard allows, sends these bytes once, and reads an answer of this length. It is
    /// shorter if the peer closes the connection.
    pub async fn exchange(
        &self,
        (host, port): (&str, u16),
        bytes: &[u8],
        answer_bytes: usize,
    ) -> Result<Vec<u8>, PostError> {
        let mut stream = self.connect(host, port).await?;
        let talk = async {
            stream.write_all(bytes).await?;
            let mut answer = Vec::with_capacity(answer_bytes);
            let limit = u64::try_from(answer_bytes).unwrap_or(u64::MAX);
            match (&mut stream).take(limit).read_to_end(&mut answer).await {
                // What came before the connection broke may be a whole answer.
                Err(error) if answer.is_empty() => Err(error),
                _ => Ok(answer),
            }
        };
        match timeout(self.timeout, talk).await {
            Ok(Ok(answer)) if answer.is_empty() => {
                Err(PostError::Unclear("The connection was closed before the receiver answered.".to_owned()))
            }
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_broken)) => {
                Err(PostError::Unclear("The connection broke before the receiver answered.".to_owned()))
            }
            Err(_elapsed) => {
                let seconds = self.timeout.as_secs();
                Err(PostError::Unclear(format!("The receiver did not answer within {seconds} seconds.")))
            }
        }
    }

    async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, PostError> {
        let mut addresses = match host.parse::<IpAddr>() {
            Ok(address) => {
                self.guard.check(address).map_err(|refused| {
                    PostError::Refused(format!("Nothing was sent: the address {refused}."))
                })?;
                vec![SocketAddr::new(address, port)]
            }
            Err(_a_name) => self.names.addresses(host).await.map_err(|_none| {
                PostError::NotSent(
                    "Nothing was sent: the host name has no address on the public Internet.".to_owned(),
                )
            })?,
        };
        for address in &mut addresses {
            address.set_port(port);
        }
        match timeout(CONNECT_TIMEOUT.min(self.timeout), TcpStream::connect(addresses.as_slice())).await {
            Ok(Ok(stream)) => Ok(stream),
            _ => Err(PostError::NotSent("The connection failed: the receiver does not answer.".to_owned())),
        }
    }
}
