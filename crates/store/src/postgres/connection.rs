//! One connection to the server, and the warnings that arrive on it.

use std::future::poll_fn;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deadpool_postgres::ClientWrapper;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_postgres::error::Severity;
use tokio_postgres::{AsyncMessage, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::describe;

/// A connection with its statement cache.
#[derive(Debug)]
pub(crate) struct Connection {
    client: ClientWrapper,
    /// Whether the server has sent a warning since this was last reset.
    warned: Arc<AtomicBool>,
}

impl Connection {
    /// Connects. A task of the current runtime reads what arrives.
    pub(crate) async fn open(config: &Config, tls: MakeRustlsConnect) -> Result<Self, tokio_postgres::Error> {
        let (client, connection) = config.connect(tls).await?;
        let warned = Arc::new(AtomicBool::new(false));
        let reading = read(connection, Arc::clone(&warned));
        Ok(Self { client: ClientWrapper::new(client, reading), warned })
    }

    /// Commits, and returns whether the server sent a warning meanwhile. It sends one when it stops waiting for a
    /// synchronous standby: the transaction is then committed on the primary, and its state on the standby is
    /// unknown.
    pub(crate) async fn commit(&self) -> Result<Committed, tokio_postgres::Error> {
        self.warned.store(false, Ordering::SeqCst);
        self.client.batch_execute("COMMIT").await?;
        // A warning arrives before the answer it belongs to, and one task reads both in order.
        let warned = self.warned.load(Ordering::SeqCst);
        Ok(if warned { Committed::WithWarning } else { Committed::Confirmed })
    }
}

/// The outcome of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Committed {
    /// Confirmed wherever the server's settings require it.
    Confirmed,
    /// Committed on this server, and perhaps on no standby.
    WithWarning,
}

impl Deref for Connection {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
        &self.client
    }
}

/// Reads from the connection until it ends.
fn read<S, T>(mut connection: tokio_postgres::Connection<S, T>, warned: Arc<AtomicBool>) -> JoinHandle<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    tokio::spawn(async move {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            match message {
                Ok(AsyncMessage::Notice(notice)) if notice.parsed_severity() == Some(Severity::Warning) => {
                    warned.store(true, Ordering::SeqCst);
                    tracing::warn!(
                        code = notice.code().code(),
                        warning = notice.message(),
                        "PostgreSQL warns"
                    );
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(error = describe(&error), "a connection to PostgreSQL was lost");
                    return;
                }
            }
        }
    })
}
