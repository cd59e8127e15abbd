//! Makes one attempt to pass a message to the mail server.

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use lettre::Address;
use perigee_core::notifications::notification::{Message, SendOutcome, Sender};
use perigee_core::time::Clock;
use perigee_tls::Trust;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::compose::{Letterhead, recipient};
use super::connection::{Connection, NotConnected, open};
use super::pool::{ConnectionPermit, Pool};
use super::reply::{Reply, Verdict};
use super::settings::{EmailSettings, Security, SettingsError};
use crate::plain::excerpt;
use crate::tls::connector;

/// Characters of the server's reply that are kept as the reference.
const REFERENCE: usize = 200;

/// Sends e-mail by one mail server.
pub struct EmailSender {
    settings: EmailSettings,
    letterhead: Letterhead,
    tls: TlsConnector,
    pool: Pool,
    clock: Arc<dyn Clock>,
}

/// The result of the dialogue before the final dot.
enum Step {
    /// The server is ready for the final dot.
    Ready,
    /// The server refused the message.
    Refused(Reply),
}

impl EmailSender {
    /// Makes a sender with these settings. Opens no connection yet.
    pub fn new(settings: EmailSettings, clock: Arc<dyn Clock>) -> Result<Self, SettingsError> {
        settings.validate()?;
        let trust = match (&settings.authorities, settings.security) {
            (_, Security::StarttlsIfOffered) => Trust::Anyone,
            (Some(path), _) => Trust::File(path.clone()),
            (None, _) => Trust::Public,
        };
        let letterhead = Letterhead {
            from: settings.sender_mailbox()?,
            reply_to: settings.reply_to_mailbox()?,
            domain: settings.domain.clone(),
            unsubscribe: settings.unsubscribe.clone(),
        };
        let pool = Pool::new(settings.connections, settings.idle);
        Ok(Self { tls: connector(&trust)?, letterhead, pool, settings, clock })
    }

    /// A connection ready for a message: an idle one that still answers, or a new one.
    async fn connection(
        &self,
        permit: &mut ConnectionPermit<'_>,
        kept: Option<Connection>,
    ) -> Result<Connection, NotConnected> {
        if let Some(mut connection) = kept {
            let reset = connection.dialogue.command("RSET").await;
            if reset.is_ok_and(|reply| reply.verdict() == Verdict::Positive) {
                return Ok(connection);
            }
        }
        permit.opened();
        open(&self.settings, &self.tls).await
    }

    /// Everything up to the final dot. If it fails here, the server has not accepted the message.
    async fn before_the_dot<'s>(
        &'s self,
        (mut permit, kept): (ConnectionPermit<'s>, Option<Connection>),
        message: &Message,
        to: &Address,
        email: &[u8],
    ) -> Result<Begun<'s>, SendOutcome> {
        let mut connection = self.connection(&mut permit, kept).await.map_err(|why| later(why.0))?;
        if !to.user().is_ascii() && !connection.takes_utf8 {
            permit.keep(connection);
            return Err(SendOutcome::Refused {
                reason: format!(
                    "the mail server cannot deliver to {}: it accepts only ASCII addresses",
                    message.to
                ),
            });
        }
        let step = self.offer(&mut connection, to, email).await;
        match step.map_err(|error| {
            later(format!("the connection to the mail server was lost before the message was sent: {error}"))
        })? {
            Step::Ready => Ok(Begun { permit, connection }),
            Step::Refused(reply) => {
                let delivery = refusal(&reply);
                if reply.code != 421 {
                    permit.keep(connection);
                }
                Err(delivery)
            }
        }
    }

    async fn offer(&self, connection: &mut Connection, to: &Address, email: &[u8]) -> io::Result<Step> {
        let from = &self.letterhead.from.email;
        let utf8 = if to.user().is_ascii() && from.user().is_ascii() { "" } else { " SMTPUTF8" };
        let eight_bit = if connection.takes_8bit && !email.is_ascii() { " BODY=8BITMIME" } else { "" };
        let commands =
            [format!("MAIL FROM:<{from}>{eight_bit}{utf8}"), format!("RCPT TO:<{to}>"), "DATA".to_owned()];
        for command in commands {
            let reply = connection.dialogue.command(&command).await?;
            let wanted =
                if command == "DATA" { reply.code == 354 } else { reply.verdict() == Verdict::Positive };
            if !wanted {
                return Ok(Step::Refused(reply));
            }
        }
        connection.dialogue.write(&with_dots_doubled(email)).await?;
        Ok(Step::Ready)
    }

    /// Sends the final dot and reads its reply.
    async fn after_the_dot(&self, mut begun: Begun<'_>) -> SendOutcome {
        let dialogue = &mut begun.connection.dialogue;
        let answer = timeout(self.settings.final_time_out, async {
            dialogue.write(b".\r\n").await?;
            dialogue.read_reply().await
        });
        let reply = match answer.await {
            Ok(Ok(reply)) => reply,
            Ok(Err(error)) => {
                return unclear(&format!(
                    "the connection to the mail server was lost before it answered: {error}"
                ));
            }
            Err(_elapsed) => return unclear("the mail server did not answer in time"),
        };
        if reply.code / 100 == 3 {
            return unclear(&format!("the mail server gave an unexpected answer: {}", reply.shown()));
        }
        if reply.code != 421 {
            begun.permit.keep(begun.connection);
        }
        if reply.verdict() == Verdict::Positive {
            return SendOutcome::Sent { reference: Some(excerpt(&reply.lines.join(" "), REFERENCE)) };
        }
        refusal(&reply)
    }
}

/// A message that was transferred except for the final dot.
struct Begun<'s> {
    permit: ConnectionPermit<'s>,
    connection: Connection,
}

#[async_trait]
impl Sender for EmailSender {
    async fn send(&self, message: &Message) -> SendOutcome {
        let to = match recipient(&message.to) {
            Ok(to) => to,
            Err(reason) => return SendOutcome::Refused { reason },
        };
        let email = match self.letterhead.write(message, &to, self.clock.now()) {
            Ok(email) => email,
            Err(reason) => return SendOutcome::Refused { reason },
        };
        // Waiting for a permit does not count towards the time limit.
        let permit = self.pool.acquire().await;
        match timeout(self.settings.time_out, self.before_the_dot(permit, message, &to, &email)).await {
            Ok(Ok(begun)) => self.after_the_dot(begun).await,
            Ok(Err(delivery)) => delivery,
            Err(_elapsed) => later("the mail server did not accept the message in time".to_owned()),
        }
    }

    fn at_once(&self) -> usize {
        self.settings.connections
    }
}

/// The outcome of a negative reply. Authentication errors are retried: they are fixed by settings and do not concern
/// the message.
fn refusal(reply: &Reply) -> SendOutcome {
    let reason = format!("the mail server answered {}", reply.shown());
    if reply.verdict() == Verdict::Permanent && !reply.is_about_access() {
        SendOutcome::Refused { reason }
    } else {
        later(reason)
    }
}

fn later(reason: String) -> SendOutcome {
    SendOutcome::RetryLater { reason, wait: None }
}

fn unclear(reason: &str) -> SendOutcome {
    SendOutcome::Unclear { reason: format!("{reason}; it may have accepted the message") }
}

/// The message with dot-stuffing and a final line break (RFC 5321, section 4.5.2).
fn with_dots_doubled(email: &[u8]) -> Vec<u8> {
    let mut sent = Vec::with_capacity(email.len() + 64);
    let mut at_line_start = true;
    for byte in email {
        if at_line_start && *byte == b'.' {
            sent.push(b'.');
        }
        sent.push(*byte);
        at_line_start = *byte == b'\n';
    }
    if !sent.ends_with(b"\r\n") {
        sent.extend_from_slice(b"\r\n");
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_message_ends_it() {
        assert_eq!(with_dots_doubled(b".a\r\n.\r\nb.\r\n"), b"..a\r\n..\r\nb.\r\n");
        assert_eq!(with_dots_doubled(b"a"), b"a\r\n");
    }
}
