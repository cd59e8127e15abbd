//! A byte stream in both directions, encrypted or not.

use tokio::io::{AsyncRead, AsyncWrite};

/// A byte stream in both directions, encrypted or not.
pub(crate) trait Pipe: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Pipe for T {}
