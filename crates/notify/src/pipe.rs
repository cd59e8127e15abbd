//! Connections in both directions, encrypted or not.

use tokio::io::{AsyncRead, AsyncWrite};

/// A connection in both directions.
pub(crate) trait Pipe: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Pipe for T {}
