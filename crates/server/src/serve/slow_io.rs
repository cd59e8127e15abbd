//! The byte streams of a connection, reporting to its [`Activity`] what moves and what does not.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_rustls::server::TlsStream;

use super::activity::Activity;
use super::config::{UnreadableAnswer, after};
use super::refusal::{answer_instead, find_bare};

/// A socket whose writes are watched; below TLS, where every byte the peer takes is seen.
#[derive(Debug)]
pub(super) struct WatchedSocket {
    stream: TcpStream,
    activity: Arc<Activity>,
    lingering: Option<Pin<Box<Sleep>>>,
}

impl WatchedSocket {
    pub(super) fn new(stream: TcpStream, activity: Arc<Activity>) -> Self {
        Self { stream, activity, lingering: None }
    }

    fn report(&self, written: &Poll<io::Result<usize>>) {
        match written {
            Poll::Ready(Ok(bytes)) => self.activity.socket_took(*bytes),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.activity.socket_full(),
        }
    }

    /// Discards what the peer still sends until it ends or the time is over. Closing a socket
    /// with unread input resets the connection, and the peer loses an answer it had not read.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let timeout = self.activity.linger_timeout();
        let deadline =
            self.lingering.get_or_insert_with(|| Box::pin(sleep_until(after(Instant::now(), timeout))));
        if deadline.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let mut space = [0; 4096];
        loop {
            let mut unwanted = ReadBuf::new(&mut space);
            match ready!(Pin::new(&mut self.stream).poll_read(cx, &mut unwanted)) {
                Ok(()) if !unwanted.filled().is_empty() => {}
                _ => return Poll::Ready(()),
            }
        }
    }
}

impl Drop for WatchedSocket {
    fn drop(&mut self) {
        if self.activity.resets_on_close() {
            // Resets the connection. Otherwise the kernel keeps the unread answer until the peer reads it.
            let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
        }
    }
}

impl AsyncRead for WatchedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for WatchedSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.report(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.report(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
        }
        if self.activity.has_unread_body() {
            ready!(self.poll_linger(cx));
        }
        Poll::Ready(Ok(()))
    }
}

/// The stream HTTP is spoken on; above TLS, where the protocol can be recognised.
#[derive(Debug)]
pub(super) struct HttpStream {
    transport: Transport,
    activity: Arc<Activity>,
    /// The unwritten rest of an answer that replaces the engine's own.
    instead: Option<Bytes>,
}

#[derive(Debug)]
enum Transport {
    Plain(WatchedSocket),
    Tls(Box<TlsStream<WatchedSocket>>),
}

impl HttpStream {
    pub(super) fn plain(socket: WatchedSocket, activity: Arc<Activity>) -> Self {
        Self { transport: Transport::Plain(socket), activity, instead: None }
    }

    pub(super) fn tls(stream: TlsStream<WatchedSocket>, activity: Arc<Activity>) -> Self {
        Self { transport: Transport::Tls(Box::new(stream)), activity, instead: None }
    }

    fn poll_transport(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.transport {
            Transport::Plain(socket) => Pin::new(socket).poll_write(cx, buf),
            Transport::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    /// Writes another answer instead of the engine's own, which is all of `bare`.
    fn poll_instead(
        &mut self,
        cx: &mut Context<'_>,
        bare: &[u8],
        make: UnreadableAnswer,
        status: StatusCode,
    ) -> Poll<io::Result<usize>> {
        // The rest of the request is read and dropped, so that the peer receives the answer.
        self.activity.body_left_unread();
        let mut rest = self.instead.take().unwrap_or_else(|| answer_instead(make, status));
        while !rest.is_empty() {
            match self.poll_transport(cx, &rest) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(written)) => drop(rest.split_to(written.min(rest.len()))),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    self.instead = Some(rest);
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(Ok(bare.len()))
    }
}

impl AsyncRead for HttpStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(match &mut self.transport {
            Transport::Plain(socket) => Pin::new(socket).poll_read(cx, buf),
            Transport::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        })?;
        self.activity.received(&buf.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for HttpStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let make = self.activity.unreadable_answer();
        match make.and_then(|make| find_bare(buf).map(|found| (make, found))) {
            None => self.poll_transport(cx, buf),
            Some((make, (0, status))) => self.poll_instead(cx, buf, make, status),
            // Earlier answers in the buffer are written first.
            Some((_, (at, _))) => self.poll_transport(cx, &buf[..at]),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let last = bufs.iter().rfind(|buf| !buf.is_empty());
        if last.is_some_and(|last| find_bare(last).is_some()) {
            let first = bufs.iter().find(|buf| !buf.is_empty()).map_or(&[][..], |buf| &buf[..]);
            return self.poll_write(cx, first);
        }
        match &mut self.transport {
            Transport::Plain(socket) => Pin::new(socket).poll_write_vectored(cx, bufs),
            Transport::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.transport {
            Transport::Plain(socket) => socket.is_write_vectored(),
            Transport::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Plain(socket) => Pin::new(socket).poll_flush(cx),
            Transport::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Plain(socket) => Pin::new(socket).poll_shutdown(cx),
            Transport::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
