//! Sends messages over a session that is re-established when it is lost.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use perigee_core::notifications::notification::{Message, Receipt, SendOutcome, Sender};
use perigee_core::notifications::phone::PhoneNumber;
use perigee_tls::Trust;
use rusmpp::Pdu;
use rusmpp::pdus::{BindTransceiver, SubmitSm};
use rusmpp::types::COctetString;
use rusmpp::values::{InterfaceVersion, Npi, Ton};
use rustls_pki_types::ServerName;
use secrecy::ExposeSecret as _;
use tokio::net::TcpStream;
use tokio::sync::{Mutex, Semaphore, SemaphorePermit, mpsc};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::encode::packets;
use super::pace::Pace;
use super::session::{Lost, Session};
use super::settings::{SmppError, SmppSettings};
use super::verdict::{Verdict, classify, name};
use crate::pipe::Pipe;
use crate::plain::excerpt;
use crate::tls::connector;

/// Receipts that may wait to be recorded.
const RECEIPTS_MAX: usize = 1_024;
/// Wait before binding again, at first and at most.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_mins(1);
/// Characters of a reference that are kept.
const REFERENCE: usize = 200;

/// Sends SMS by a message centre (SMSC).
pub struct SmppSender {
    settings: SmppSettings,
    tls: Option<TlsConnector>,
    session: Mutex<Option<Arc<Session>>>,
    window: Semaphore,
    pace: Pace,
    receipts: mpsc::Sender<Receipt>,
}

impl SmppSender {
    /// Makes a sender with these settings, and a channel of its delivery receipts. Opens no connection yet.
    pub fn new(settings: SmppSettings) -> Result<(Self, mpsc::Receiver<Receipt>), SmppError> {
        settings.validate()?;
        let trust = settings.authorities.clone().map_or(Trust::Public, Trust::File);
        let tls = settings.tls.then(|| connector(&trust)).transpose()?;
        let (receipts, received) = mpsc::channel(RECEIPTS_MAX);
        let sender = Self {
            window: Semaphore::new(settings.window),
            pace: Pace::new(settings.per_second),
            session: Mutex::new(None),
            tls,
            settings,
            receipts,
        };
        Ok((sender, received))
    }

    /// Keeps the session bound while polled, so that receipts arrive even if nothing is sent.
    pub async fn stay_bound(&self) {
        let mut pause = PAUSE;
        loop {
            match timeout(self.settings.time_out, self.session()).await {
                Ok(Ok(session)) => {
                    pause = PAUSE;
                    session.ended().await;
                    tracing::warn!("the session with the message centre ended; binding again");
                }
                Ok(Err(error)) => tracing::warn!(%error, "cannot bind to the message centre"),
                Err(_elapsed) => tracing::warn!("the message centre does not answer"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Unbinds and closes the session.
    pub async fn close(&self) {
        if let Some(session) = self.session.lock().await.take() {
            session.unbind().await;
        }
    }

    async fn session(&self) -> Result<Arc<Session>, String> {
        let mut kept = self.session.lock().await;
        if let Some(session) = kept.as_ref().filter(|session| !session.is_over()) {
            return Ok(Arc::clone(session));
        }
        let session = self.open().await?;
        *kept = Some(Arc::clone(&session));
        Ok(session)
    }

    async fn open(&self) -> Result<Arc<Session>, String> {
        let host = format!("{}:{}", self.settings.host, self.settings.port);
        let broken = |error: std::io::Error| format!("cannot connect to {host}: {error}");
        let address = (self.settings.host.as_str(), self.settings.port);
        let stream = TcpStream::connect(address).await.map_err(broken)?;
        let _unchanged_if_refused = stream.set_nodelay(true);
        let mut pipe: Box<dyn Pipe> = Box::new(stream);
        if let Some(tls) = &self.tls {
            let server =
                ServerName::try_from(self.settings.host.clone()).map_err(|error| error.to_string())?;
            pipe = Box::new(tls.connect(server, pipe).await.map_err(broken)?);
        }
        let bind = self.bind_packet()?;
        let (time_out, enquire_every) = (self.settings.time_out, self.settings.enquire_every);
        Session::bind(pipe, bind, time_out, enquire_every, self.receipts.clone()).await
    }

    fn bind_packet(&self) -> Result<BindTransceiver, String> {
        let settings = &self.settings;
        Ok(BindTransceiver::builder()
            .system_id(COctetString::from_string(settings.system_id.clone()).map_err(unfit)?)
            .password(COctetString::from_string(settings.password.expose_secret().to_owned()).map_err(unfit)?)
            .system_type(COctetString::from_string(settings.system_type.clone()).map_err(unfit)?)
            .interface_version(InterfaceVersion::Smpp3_4)
            .addr_ton(Ton::Unknown)
            .addr_npi(Npi::Unknown)
            .address_range(COctetString::empty())
            .build())
    }

    /// Everything up to the first packet. If it fails here, nothing was sent.
    async fn ready(&self) -> Result<(SemaphorePermit<'_>, Arc<Session>), String> {
        // Waiting for a permit or for the rate limit does not count towards the time limit.
        let permit = self.window.acquire().await.expect("the semaphore is never closed");
        self.pace.wait().await;
        match timeout(self.settings.time_out, self.session()).await {
            Ok(session) => Ok((permit, session?)),
            Err(_elapsed) => Err("the message centre was not ready in time".to_owned()),
        }
    }

    async fn submit(&self, session: &Session, packets: Vec<SubmitSm>) -> SendOutcome {
        let total = packets.len();
        let mut reference = None;
        for (taken, packet) in packets.into_iter().enumerate() {
            if taken > 0 {
                self.pace.wait().await;
            }
            let in_part = |reason: String| match taken {
                0 => None,
                _ => Some(SendOutcome::Unclear {
                    reason: format!("the message centre accepted {taken} of {total} segments: {reason}"),
                }),
            };
            let answer = match session.request(packet).await {
                Ok(answer) => answer,
                Err(Lost::Unsent) => {
                    let reason = "the connection to the message centre was lost before the message was sent";
                    return in_part(reason.to_owned()).unwrap_or_else(|| later(reason.to_owned()));
                }
                Err(Lost::Unanswered) => {
                    let reason = "the message centre did not answer, and may have accepted the message";
                    return SendOutcome::Unclear { reason: reason.to_owned() };
                }
            };
            let reason = format!("the message centre answered {}", name(answer.status()));
            match classify(answer.status()) {
                Verdict::Taken => {
                    if let Some(Pdu::SubmitSmResp(response)) = answer.pdu() {
                        reference =
                            Some(excerpt(response.message_id().as_str().trim_end_matches('\0'), REFERENCE));
                    }
                }
                Verdict::Later => return in_part(reason.clone()).unwrap_or_else(|| later(reason)),
                Verdict::Refused => {
                    return in_part(reason.clone()).unwrap_or(SendOutcome::Refused { reason });
                }
            }
        }
        SendOutcome::Sent { reference }
    }
}

#[async_trait]
impl Sender for SmppSender {
    async fn send(&self, message: &Message) -> SendOutcome {
        let number: PhoneNumber = match message.to.parse() {
            Ok(number) => number,
            Err(error) => return SendOutcome::Refused { reason: format!("the recipient {error}") },
        };
        // The same on every attempt, so that telephones join the segments of a repeated message.
        let group = message.id.as_i64().to_le_bytes()[0];
        let settings = &self.settings;
        let packets = match packets(&settings.sender, &number, &message.text, group, settings.long_texts) {
            Ok(packets) => packets,
            Err(reason) => return SendOutcome::Refused { reason },
        };
        match self.ready().await {
            Ok((_permit, session)) => self.submit(&session, packets).await,
            Err(reason) => later(reason),
        }
    }

    fn at_once(&self) -> usize {
        self.settings.window
    }
}

fn unfit(error: impl std::error::Error) -> String {
    error.to_string()
}

fn later(reason: String) -> SendOutcome {
    SendOutcome::RetryLater { reason, wait: None }
}
