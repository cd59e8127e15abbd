//! Decodes the frames of a connection or a datagram, stores their content, and only then replies.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::future::join_all;
use perigee_core::error::StoreError;
use perigee_core::gateways::gateway::{MessageResult, NewMessage, Reporter};
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::locations::location::DuplicateRule;
use perigee_gateways::{Context, DecodeError, Decoded, Decoder, Protocol};
use tokio::sync::Notify;

use crate::budget::Permit;
use crate::ingest::{
    Arrival, Attachment, CommandTarget, DeviceDecoding, Ingest, NextCommand, Outgoing, SelfReport, SosSign,
    UnknownDevice, frame_error, text_of_frame, valid_files, valid_reports,
};

/// The state of a connection, or of one datagram.
pub(super) struct Session {
    ingest: Arc<Ingest>,
    protocol: &'static Protocol,
    decoder: Box<dyn Decoder>,
    peer: SocketAddr,
    datagram: bool,
    /// The identifiers that the connection sent, known or not.
    identifiers: Vec<String>,
    /// The model, if a frame reported it.
    model: Option<String>,
    device: Option<Arc<Reporter>>,
    /// The decoding settings: those of the device, once it is known.
    settings: DeviceDecoding,
    /// While it is set, `wake` is notified when commands wait for the device.
    attachment: Option<Attachment>,
    wake: Arc<Notify>,
    /// Whether the device may still answer a command.
    awaits_answer: bool,
    /// Memory of incomplete files in the decoder.
    held: Option<Permit>,
    /// Memory of a long incomplete frame.
    held_frame: Option<Permit>,
}

/// Bytes of an incomplete frame that every connection may have. A connection of a known device may have more.
const FRAME_BYTES: usize = 8 * 1024;

/// The answer to some frames.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Replies to send, each in a write of its own.
    pub(super) replies: Vec<Vec<u8>>,
    /// Whether the store failed. The connection is then closed, so that the tracker sends unacknowledged frames again.
    pub(super) failed: bool,
}

/// What of a datagram is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admitted {
    /// Everything, within the rate of its device.
    All,
    /// Only an SOS, because its address and its device send too many datagrams.
    Sos,
}

/// A frame of a known device that waits to be stored.
struct Pending {
    reporter: Arc<Reporter>,
    message: NewMessage,
    decoded: Decoded,
}

impl Session {
    pub(super) fn new(
        ingest: Arc<Ingest>,
        protocol: &'static Protocol,
        peer: SocketAddr,
        datagram: bool,
    ) -> Self {
        Self {
            settings: ingest.decodings.of_reporter(protocol, None, None),
            ingest,
            protocol,
            decoder: (protocol.decoder)(),
            peer,
            datagram,
            identifiers: Vec::new(),
            model: None,
            device: None,
            attachment: None,
            wake: Arc::default(),
            awaits_answer: true,
            held: None,
            held_frame: None,
        }
    }

    pub(super) fn protocol(&self) -> &'static Protocol {
        self.protocol
    }

    pub(super) fn ingest(&self) -> Arc<Ingest> {
        Arc::clone(&self.ingest)
    }

    /// The device, once a known one was identified.
    pub(super) fn device(&self) -> Option<&Reporter> {
        self.device.as_deref()
    }

    /// Stores the frames of a datagram together and returns the replies of those that are stored, in their order.
    /// Datagrams do not wait, because one device could then block the datagrams of others. Frames above the rate are not
    /// acknowledged, and are sent again; an SOS above the rate is stored within an allowance of its own.
    pub(super) async fn handle_datagram(&mut self, frames: Vec<Vec<u8>>, admitted: Admitted) -> Answer {
        let (mut pending, answer) = self.read_all(frames).await;
        if !self.is_within_rate(&pending, admitted) {
            metrics::counter!("perigee_gateway_datagrams_dropped_total", "source" => self.protocol.name)
                .increment(1);
            let at = self.ingest.now();
            pending.retain(|pending| {
                SosSign::of(valid_reports(&pending.decoded), at).is_some()
                    && self.ingest.admission.admits_sos_of(pending.reporter.device)
            });
        }
        self.store(pending, answer).await
    }

    fn is_within_rate(&self, pending: &[Pending], admitted: Admitted) -> bool {
        let Some(first) = pending.first() else { return true };
        admitted == Admitted::All && self.ingest.admission.pause(&first.reporter, pending.len()).is_none()
    }

    /// Stores the frames of a connection together, when it is the turn of its device, and returns the replies of those
    /// that are stored, in their order.
    pub(super) async fn handle(&mut self, frames: Vec<Vec<u8>>) -> Answer {
        let (pending, answer) = self.read_all(frames).await;
        let Some(first) = pending.first() else { return answer };
        let _turn = self.ingest.admission.turn(&first.reporter, pending.len()).await;
        self.store(pending, answer).await
    }

    /// Decodes frames. Returns those of known devices; frames of unknown devices are kept elsewhere.
    async fn read_all(&mut self, frames: Vec<Vec<u8>>) -> (Vec<Pending>, Answer) {
        let mut pending = Vec::with_capacity(frames.len());
        let mut answer = Answer::default();
        for frame in frames {
            let decoded = match self.read(&frame).await {
                Ok(decoded) => decoded,
                Err(error) => {
                    tracing::debug!(%error, peer = %self.peer, "could not look up a device");
                    answer.failed = true;
                    break;
                }
            };
            let is_refused = decoded.error == Some(DecodeError::Password);
            let device = match &self.device {
                None if decoded.is_damaged() => match self.ingest.devices.find(&decoded.identifiers).await {
                    Ok(named) => named,
                    Err(error) => {
                        tracing::debug!(%error, peer = %self.peer, "could not look up a device");
                        answer.failed = true;
                        break;
                    }
                },
                known => known.clone(),
            };
            match device {
                Some(reporter) => pending.push(self.pending(reporter, frame, decoded)),
                None => {
                    if let Err(error) = self.note_unknown_device(&frame, &decoded).await {
                        tracing::warn!(%error, peer = %self.peer, "an SOS of an unknown device could not be recorded");
                        answer.failed = true;
                        break;
                    }
                }
            }
            if is_refused {
                self.leave_device();
            }
            self.limit_files();
        }
        (pending, answer)
    }

    /// Whether an incomplete frame with this beginning may wait for its rest. A long frame is kept only for a known
    /// device, and counts like incomplete files.
    pub(super) async fn holds_frame(&mut self, beginning: &[u8]) -> bool {
        let long = if beginning.len() > FRAME_BYTES { beginning.len() } else { 0 };
        if long == 0 && self.held_frame.is_none() {
            return true;
        }
        if self.device.is_none() && long > 0 && !self.is_named_by(beginning).await {
            return false;
        }
        self.device.as_ref().map_or(long == 0, |reporter| {
            let payer = (self.peer.ip(), reporter.scope.account);
            self.ingest.uploads.hold(&mut self.held_frame, long, payer)
        })
    }

    /// Whether the beginning of a frame identifies a known device, which becomes the device of the connection.
    async fn is_named_by(&mut self, beginning: &[u8]) -> bool {
        let identifiers = self.decoder.identifiers_of_beginning(beginning);
        if identifiers.is_empty() {
            return false;
        }
        self.identifiers = identifiers;
        match self.find_device().await {
            Ok(()) => self.device.is_some(),
            Err(error) => {
                tracing::debug!(%error, peer = %self.peer, "could not look up a device");
                false
            }
        }
    }

    /// Drops incomplete files of an unknown device, and those for which there is no memory.
    fn limit_files(&mut self) {
        let bytes = self.decoder.held_bytes();
        if bytes == 0 && self.held.is_none() {
            return;
        }
        let is_held = self.device.as_ref().is_some_and(|reporter| {
            let payer = (self.peer.ip(), reporter.scope.account);
            self.ingest.uploads.hold(&mut self.held, bytes, payer)
        });
        if !is_held {
            self.decoder.drop_held();
            self.held = None;
            metrics::counter!("perigee_gateway_files_dropped_total", "source" => self.protocol.name)
                .increment(1);
        }
    }

    fn decode(&mut self, frame: &[u8]) -> Decoded {
        let context = Context {
            known: !self.identifiers.is_empty(),
            identifier: self.identifiers.first().map(String::as_str),
            model: self.settings.model.as_deref(),
            options: &self.settings.options,
            datagram: self.datagram,
            now: self.ingest.now(),
        };
        let decoded = self.decoder.decode(frame, &context);
        if decoded.model.is_some() && decoded.model != self.model {
            self.model.clone_from(&decoded.model);
            self.settings = self.ingest.decodings.of_reporter(
                self.protocol,
                self.device.as_deref(),
                self.model.as_deref(),
            );
        }
        decoded
    }

    /// Decodes a frame with the current settings of its device.
    async fn read(&mut self, frame: &[u8]) -> Result<Decoded, StoreError> {
        self.find_device().await?;
        let before = self.settings.clone();
        let decoded = self.decode(frame);
        if decoded.is_damaged() || decoded.identifiers.is_empty() || decoded.identifiers == self.identifiers {
            return Ok(decoded);
        }
        self.identifiers.clone_from(&decoded.identifiers);
        self.find_device().await?;
        if self.device.is_none() || self.settings == before {
            return Ok(decoded);
        }
        // The frame that identifies the device may itself need its settings, as with DirectIP.
        self.decoder = (self.protocol.decoder)();
        Ok(self.decode(frame))
    }

    /// Looks up the device again: the connection may have sent another identifier, or the device may have been claimed,
    /// changed, moved or deleted. The result is cached for some seconds.
    async fn find_device(&mut self) -> Result<(), StoreError> {
        if self.identifiers.is_empty() {
            return Ok(());
        }
        let found = self.ingest.devices.find(&self.identifiers).await?;
        let is_same = match (&self.device, &found) {
            (Some(before), Some(found)) => Arc::ptr_eq(before, found),
            (before, found) => before.is_none() && found.is_none(),
        };
        if !is_same {
            self.settings =
                self.ingest.decodings.of_reporter(self.protocol, found.as_deref(), self.model.as_deref());
            self.device = found;
        }
        self.attach();
        Ok(())
    }

    /// Removes the device of the connection: it has to log in again.
    fn leave_device(&mut self) {
        self.identifiers.clear();
        self.device = None;
        self.settings = self.ingest.decodings.of_reporter(self.protocol, None, self.model.as_deref());
        self.attach();
    }

    /// Attaches the connection to its device, so that it is woken when a command waits.
    fn attach(&mut self) {
        let takes_commands = !self.datagram || self.protocol.commands_by_udp;
        let device = self.device.as_ref().map(|reporter| reporter.device).filter(|_| takes_commands);
        if self.attachment.as_ref().map(Attachment::device) != device {
            self.attachment =
                device.map(|device| self.ingest.commands.attach(device, Arc::clone(&self.wake)));
            self.awaits_answer = true;
        }
    }

    /// Detaches the connection until the next frame.
    pub(super) fn detach(&mut self) {
        self.attachment = None;
    }

    /// Notified when commands may wait for the device; none while there is no device that supports commands.
    pub(super) fn wake(&self) -> Option<Arc<Notify>> {
        self.attachment.as_ref().map(|_| Arc::clone(&self.wake))
    }

    /// The next command to write, which is marked as sent. A command of more than `room` bytes stays queued.
    pub(super) async fn next_command(&mut self, room: usize) -> NextCommand {
        let Some(reporter) = self.device.clone() else { return NextCommand::Nothing };
        let target = CommandTarget {
            protocol: self.protocol,
            model: self.settings.model.as_deref(),
            options: &self.settings.options,
            room,
        };
        match self.ingest.commands.next(&reporter, target).await {
            Ok(next) => {
                self.awaits_answer |= matches!(next, NextCommand::Command(_));
                next
            }
            Err(error) => {
                tracing::debug!(%error, peer = %self.peer, "could not read queued commands");
                NextCommand::Nothing
            }
        }
    }

    /// Puts a command back that could not be written.
    pub(super) async fn requeue(&mut self, command: Outgoing) {
        let (Some(reporter), ingest) = (self.device.clone(), Arc::clone(&self.ingest)) else { return };
        if let Err(error) = ingest.commands.requeue(&reporter, command.id).await {
            tracing::warn!(%error, command = %command.id, "a command that was not written is shown as sent");
        }
    }

    /// Records answers to commands. Once a query has shown that no answer is awaited, further answers are not looked
    /// up.
    async fn note_answers(&mut self, answers: Vec<(Arc<Reporter>, String)>) {
        for (reporter, answer) in answers {
            if !self.awaits_answer {
                return;
            }
            match self.ingest.commands.note_answer(&reporter, &answer).await {
                Ok(was_awaited) => self.awaits_answer = was_awaited,
                Err(error) => tracing::debug!(%error, peer = %self.peer, "an answer could not be recorded"),
            }
        }
    }

    fn pending(&self, reporter: Arc<Reporter>, frame: Vec<u8>, decoded: Decoded) -> Pending {
        let message = NewMessage {
            source: self.protocol.name,
            peer: self.peer.to_string(),
            identifier: Some(reporter.identifier.clone()),
            bytes: frame,
            error: frame_error(&decoded),
            gateway: None,
            duplicate_rule: DuplicateRule::Content,
            keep: Keep::Always,
        };
        Pending { reporter, message, decoded }
    }

    /// Keeps a frame of an unknown device. A frame that cannot be decoded, or has no identifier, is kept under the
    /// address of its sender, with the reason.
    async fn note_unknown_device(&mut self, frame: &[u8], decoded: &Decoded) -> Result<(), StoreError> {
        let named = self.identifiers.first().filter(|_| !decoded.is_damaged());
        let result = if named.is_some() { MessageResult::UnknownDevice } else { MessageResult::Unparsable };
        let unnamed = || unidentified(self.peer, decoded);
        let identifier = named.cloned().or_else(unnamed);
        let source = self.protocol.name;
        metrics::counter!("perigee_gateway_messages_total", "source" => source, "result" => result.name())
            .increment(1);
        let Some(identifier) = &identifier else { return Ok(()) };
        let unknown = UnknownDevice {
            account: None,
            identifier,
            source,
            peer: self.peer,
            datagram: self.datagram,
            bytes: frame,
        };
        let sos = SosSign::of(valid_reports(decoded), self.ingest.now());
        self.ingest.strangers.note(unknown, sos).await
    }

    /// Stores the frames of known devices at the same time, so that they share a commit.
    async fn store(&mut self, pending: Vec<Pending>, mut answer: Answer) -> Answer {
        let ingest = Arc::clone(&self.ingest);
        let Some(reporter) = pending.first().map(|first| Arc::clone(&first.reporter)) else { return answer };
        // A login with a wrong password, or a damaged frame, does not show that the device itself is in this network.
        if pending.iter().any(|pending| pending.decoded.error.is_none()) {
            ingest.networks.note(&reporter, self.peer);
        }
        let stored = join_all(pending.into_iter().map(|pending| store_one(&ingest, pending)));
        let mut answers = Vec::new();
        for result in stored.await {
            let result = match result {
                Stored::DeviceDeleted(pending) => self.store_again(*pending).await,
                Stored::Done(done) => done,
            };
            match result {
                Ok((replies, answered)) => {
                    answer.replies.extend(replies);
                    answers.extend(answered);
                }
                Err(error) => {
                    tracing::debug!(%error, peer = %self.peer, "a message could not be stored");
                    metrics::counter!("perigee_gateway_failures_total", "source" => self.protocol.name)
                        .increment(1);
                    answer.failed = true;
                    // A file that a datagram completed is requested again.
                    self.decoder.drop_held();
                    // Later frames are not acknowledged either: some trackers take the last acknowledgement for all
                    // frames before it.
                    break;
                }
            }
        }
        self.note_answers(answers).await;
        answer
    }

    /// Stores a frame whose device was deleted since it was looked up: for the device that has its identifier now, if
    /// there is one.
    async fn store_again(&mut self, pending: Pending) -> Result<Replies, StoreError> {
        self.ingest.devices.invalidate(&self.identifiers);
        self.find_device().await?;
        let Pending { message, decoded, .. } = pending;
        let found = match &self.device {
            Some(device) => Some(Arc::clone(device)),
            None => self.ingest.devices.find(&decoded.identifiers).await?,
        };
        let Some(reporter) = found else {
            self.note_unknown_device(&message.bytes, &decoded).await?;
            return Ok(Replies::default());
        };
        let bytes = message.bytes.clone();
        match store_one(&self.ingest, Pending { reporter, message, decoded }).await {
            Stored::Done(done) => done,
            // Deleted again.
            Stored::DeviceDeleted(pending) => {
                self.note_unknown_device(&bytes, &pending.decoded).await?;
                Ok(Replies::default())
            }
        }
    }
}

/// The replies to a frame that is stored, and its answer to a command.
type Replies = (Vec<Vec<u8>>, Option<(Arc<Reporter>, String)>);

/// The result of storing a frame.
enum Stored {
    /// It was stored, or storing failed.
    Done(Result<Replies, StoreError>),
    /// Its device does not exist.
    DeviceDeleted(Box<Pending>),
}

async fn store_one(ingest: &Ingest, pending: Pending) -> Stored {
    let Pending { reporter, message, decoded } = pending;
    let (reports, files) = (valid_reports(&decoded), valid_files(&decoded));
    let at = ingest.now();
    let (steps, sos, self_report) = (Vec::new(), SosSign::of(reports, at), SelfReport::of(&decoded));
    let text = text_of_frame(message.source, &decoded, at);
    let arrival = Arrival { message: message.clone(), reports, files, text, steps, sos, self_report, at };
    match ingest.store(&reporter, arrival).await {
        // A damaged frame is not acknowledged: the tracker sends it again.
        Ok(_) if decoded.is_damaged() => Stored::Done(Ok(Replies::default())),
        Ok(_) => {
            let answer = decoded.command_answer();
            Stored::Done(Ok((decoded.replies, answer.map(|answer| (reporter, answer)))))
        }
        Err(StoreError::NotFound(_)) => {
            Stored::DeviceDeleted(Box::new(Pending { reporter, message, decoded }))
        }
        Err(error) => Stored::Done(Err(error)),
    }
}

/// The name under which damaged frames and frames without an identifier are kept: the address of the sender, and the
/// reason. It begins with a blank, which identifiers of devices must not, so that nobody can claim it. None for frames
/// that only keep a connection open.
fn unidentified(peer: SocketAddr, decoded: &Decoded) -> Option<String> {
    let reason = match decoded.error? {
        DecodeError::Checksum { .. } => "the checksum is wrong".to_owned(),
        error => error.to_string(),
    };
    Some(format!(" {}: {reason}", peer.ip()).chars().take(100).collect())
}

/// The frames of a datagram: the whole datagram if it can be decoded, or else what it is as a part of a stream. Some
/// decoders do not notice further frames behind the first, so a datagram of several frames is always divided.
pub(super) fn frames_of(protocol: &Protocol, datagram: &[u8], context: &Context<'_>) -> Vec<Vec<u8>> {
    let is_sound = |frame: &[u8]| (protocol.decoder)().decode(frame, context).error.is_none();
    let is_whole = is_sound(datagram);
    match split(protocol, datagram) {
        Some(frames) if !is_whole => frames,
        Some(frames) if frames.len() > 1 && frames.first().is_some_and(|first| is_sound(first)) => frames,
        _ => vec![datagram.to_vec()],
    }
}

/// The frames of a stream; `None` if there are other bytes between or behind them.
fn split(protocol: &Protocol, datagram: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (mut framer, mut found, mut rest) = ((protocol.framer)(), Vec::new(), datagram);
    while !rest.is_empty() {
        match framer.step(rest) {
            perigee_gateways::Step::Frame { consumed, frame } => {
                found.push(Cow::into_owned(frame));
                rest = rest.get(consumed.max(1)..).unwrap_or_default();
            }
            perigee_gateways::Step::Skip(count) => {
                if !rest.iter().take(count.max(1)).all(u8::is_ascii_whitespace) {
                    return None;
                }
                rest = rest.get(count.max(1)..).unwrap_or_default();
            }
            perigee_gateways::Step::Wait => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}
