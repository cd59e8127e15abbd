//! A bound connection to a message centre: our requests, their answers and the centre's requests.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use parking_lot::Mutex;
use perigee_core::notifications::notification::Receipt;
use rusmpp::pdus::{BindTransceiver, DeliverSm, DeliverSmResp};
use rusmpp::tokio_codec::CommandCodec;
use rusmpp::{Command, CommandStatus, Pdu};
use tokio::io::{ReadHalf, WriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::codec::{FramedRead, FramedWrite};
use tokio_util::sync::CancellationToken;

use super::receipt;
use crate::pipe::Pipe;

/// Maximum number of bytes of a packet; a full receipt has a few hundred.
const PACKET_MAX: usize = 65_536;

type Reader = FramedRead<ReadHalf<Box<dyn Pipe>>, CommandCodec>;
type Writer = FramedWrite<WriteHalf<Box<dyn Pipe>>, CommandCodec>;

/// A bound connection to a message centre.
pub(super) struct Session {
    writer: tokio::sync::Mutex<Writer>,
    waiting: Mutex<HashMap<u32, oneshot::Sender<Command>>>,
    sequence: AtomicU32,
    over: CancellationToken,
    time_out: Duration,
}

/// Why a request has no answer.
#[derive(Debug)]
pub(super) enum Lost {
    /// Not written: the connection had ended.
    Unsent,
    /// Written, at least in part, without an answer.
    Unanswered,
}

impl Session {
    /// Binds, and starts reading packets and sending keep-alives.
    pub(super) async fn bind(
        pipe: Box<dyn Pipe>,
        bind: BindTransceiver,
        time_out: Duration,
        enquire_every: Duration,
        receipts: mpsc::Sender<Receipt>,
    ) -> Result<Arc<Self>, String> {
        let codec = || CommandCodec::new().with_max_length(PACKET_MAX);
        let (read, write) = tokio::io::split(pipe);
        let session = Arc::new(Self {
            writer: tokio::sync::Mutex::new(FramedWrite::new(write, codec())),
            waiting: Mutex::default(),
            sequence: AtomicU32::new(1),
            over: CancellationToken::new(),
            time_out,
        });
        tokio::spawn(Arc::clone(&session).listen(FramedRead::new(read, codec()), receipts));
        match session.request(bind).await {
            Ok(answer) if answer.status() == CommandStatus::EsmeRok => {
                tokio::spawn(Arc::clone(&session).enquire(enquire_every));
                Ok(session)
            }
            Ok(answer) => {
                session.close();
                Err(format!(
                    "the message centre refused the connection: {}",
                    super::verdict::name(answer.status())
                ))
            }
            Err(_) => {
                session.close();
                Err("the message centre did not answer the bind request".to_owned())
            }
        }
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn request(&self, pdu: impl Into<Pdu>) -> Result<Command, Lost> {
        if self.over.is_cancelled() {
            return Err(Lost::Unsent);
        }
        // Sequence numbers go from 1 to 0x7FFFFFFF and wrap around.
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed) & 0x7FFF_FFFF;
        let (sender, answer) = oneshot::channel();
        self.waiting.lock().insert(sequence, sender);
        let command = Command::builder().status(CommandStatus::EsmeRok).sequence_number(sequence).pdu(pdu);
        let answered = async {
            self.write(command).await.ok()?;
            tokio::select! {
                answer = timeout(self.time_out, answer) => answer.ok()?.ok(),
                () = self.over.cancelled() => None,
            }
        }
        .await;
        self.waiting.lock().remove(&sequence);
        answered.ok_or(Lost::Unanswered)
    }

    /// Writes a whole packet, or ends the session: the centre could not parse anything after half a packet.
    async fn write(&self, command: Command) -> Result<(), ()> {
        let written = timeout(self.time_out, async { self.writer.lock().await.send(command).await });
        if matches!(written.await, Ok(Ok(()))) {
            return Ok(());
        }
        self.close();
        Err(())
    }

    async fn answer(&self, to: &Command, status: CommandStatus, pdu: impl Into<Pdu>) {
        let command = Command::builder().status(status).sequence_number(to.sequence_number()).pdu(pdu);
        // If the answer cannot be written, the session has ended and the centre sends the request again.
        let _over = self.write(command).await;
    }

    async fn listen(self: Arc<Self>, mut reader: Reader, receipts: mpsc::Sender<Receipt>) {
        loop {
            let command = tokio::select! {
                command = reader.next() => command,
                () = self.over.cancelled() => break,
            };
            let command = match command {
                Some(Ok(command)) => command,
                Some(Err(error)) => {
                    tracing::warn!(%error, "the message centre sent what cannot be read");
                    break;
                }
                None => break,
            };
            match command.pdu() {
                Some(Pdu::DeliverSm(packet)) => self.take(&command, packet, &receipts).await,
                Some(Pdu::EnquireLink) => {
                    self.answer(&command, CommandStatus::EsmeRok, Pdu::EnquireLinkResp).await;
                }
                Some(Pdu::Unbind) => {
                    self.answer(&command, CommandStatus::EsmeRok, Pdu::UnbindResp).await;
                    break;
                }
                _ => {
                    let waiting = self.waiting.lock().remove(&command.sequence_number());
                    if let Some(waiting) = waiting {
                        let _nobody_waits_any_more = waiting.send(command);
                    }
                }
            }
        }
        self.close();
    }

    /// Passes a receipt on. If the queue is full or closed, asks the centre to send it again.
    async fn take(&self, command: &Command, packet: &DeliverSm, receipts: &mpsc::Sender<Receipt>) {
        let missed = receipt::read(packet).is_some_and(|receipt| receipts.try_send(receipt).is_err());
        let status = if missed { CommandStatus::EsmeRxTAppn } else { CommandStatus::EsmeRok };
        self.answer(command, status, DeliverSmResp::default()).await;
    }

    async fn enquire(self: Arc<Self>, every: Duration) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = self.over.cancelled() => return,
            }
            if self.request(Pdu::EnquireLink).await.is_err() {
                tracing::warn!("the message centre no longer answers");
                self.close();
            }
        }
    }

    /// Whether the session has ended.
    pub(super) fn is_over(&self) -> bool {
        self.over.is_cancelled()
    }

    /// Waits until the session has ended.
    pub(super) async fn ended(&self) {
        self.over.cancelled().await;
    }

    /// Unbinds and ends the session.
    pub(super) async fn unbind(&self) {
        let _ends_anyway = self.request(Pdu::Unbind).await;
        self.close();
    }

    /// Ends the session at once.
    pub(super) fn close(&self) {
        self.over.cancel();
    }
}
