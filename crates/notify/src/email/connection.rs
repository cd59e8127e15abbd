//! Opens a connection to the mail server: TLS, EHLO and authentication.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls_pki_types::ServerName;
use secrecy::ExposeSecret as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::dialogue::Dialogue;
use super::reply::{Reply, Verdict};
use super::settings::{Credentials, EmailSettings, Security};
use crate::pipe::Pipe;

/// Why a connection could not be opened, for people.
#[derive(Debug)]
pub(super) struct NotConnected(pub(super) String);

/// A connection on which messages can be sent.
pub(super) struct Connection {
    pub(super) dialogue: Dialogue,
    /// Whether addresses may contain non-ASCII letters (SMTPUTF8).
    pub(super) takes_utf8: bool,
    /// Whether bodies may contain 8-bit data (8BITMIME).
    pub(super) takes_8bit: bool,
}

/// Opens a connection. The caller sets the time limit.
pub(super) async fn open(settings: &EmailSettings, tls: &TlsConnector) -> Result<Connection, NotConnected> {
    let address = format!("{}:{}", settings.host, settings.port);
    let broken = |doing: &str| {
        let context = format!("{doing} {address}");
        move |error: io::Error| NotConnected(format!("{context}: {error}"))
    };
    let host = settings.host.trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, settings.port)).await.map_err(broken("cannot connect to"))?;
    // Commands are short and each waits for its reply, so Nagle's algorithm would only delay them.
    let _unchanged_if_refused = stream.set_nodelay(true);
    let mut pipe: Box<dyn Pipe> = Box::new(stream);
    if settings.security == Security::Tls {
        pipe = encrypt(pipe, host, tls).await.map_err(broken("cannot encrypt the connection to"))?;
    }
    let mut dialogue = Dialogue::new(pipe);
    let greeting = dialogue.read_reply().await.map_err(broken("no greeting from"))?;
    expect(&greeting, "the greeting", &address)?;
    let mut offer = greet(&mut dialogue, settings).await.map_err(broken("no answer to EHLO from"))?;
    expect(&offer, "EHLO", &address)?;
    if matches!(settings.security, Security::Starttls | Security::StarttlsIfOffered) {
        if offer.offers("STARTTLS") {
            let answer = dialogue.command("STARTTLS").await.map_err(broken("no answer to STARTTLS from"))?;
            expect(&answer, "STARTTLS", &address)?;
            let bare = dialogue.into_pipe().map_err(broken("cannot encrypt the connection to"))?;
            let pipe = encrypt(bare, host, tls).await.map_err(broken("cannot encrypt the connection to"))?;
            dialogue = Dialogue::new(pipe);
            // Capabilities offered before encryption must be discarded (RFC 3207, section 4.2).
            offer = greet(&mut dialogue, settings).await.map_err(broken("no answer to EHLO from"))?;
            expect(&offer, "EHLO", &address)?;
        } else if settings.security == Security::Starttls {
            return Err(NotConnected(format!(
                "{address} does not offer STARTTLS; set another port, or the email.security that the server supports"
            )));
        }
    }
    if let Some(credentials) = &settings.credentials {
        let answer =
            sign_in(&mut dialogue, &offer, credentials).await.map_err(broken("cannot sign in to"))?;
        expect(&answer, "the user name and password", &address)?;
    }
    let (takes_utf8, takes_8bit) = (offer.offers("SMTPUTF8"), offer.offers("8BITMIME"));
    Ok(Connection { dialogue, takes_utf8, takes_8bit })
}

fn expect(reply: &Reply, what: &str, address: &str) -> Result<(), NotConnected> {
    if reply.verdict() == Verdict::Positive {
        Ok(())
    } else {
        Err(NotConnected(format!("{address} answered {what} with {}", reply.shown())))
    }
}

async fn greet(dialogue: &mut Dialogue, settings: &EmailSettings) -> io::Result<Reply> {
    let answer = dialogue.command(&format!("EHLO {}", settings.hello)).await?;
    // Old servers without EHLO have no extensions but still deliver.
    if answer.verdict() == Verdict::Permanent && settings.credentials.is_none() {
        return dialogue.command(&format!("HELO {}", settings.hello)).await;
    }
    Ok(answer)
}

async fn encrypt(pipe: Box<dyn Pipe>, host: &str, tls: &TlsConnector) -> io::Result<Box<dyn Pipe>> {
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    Ok(Box::new(tls.connect(name, pipe).await?))
}

async fn sign_in(dialogue: &mut Dialogue, offer: &Reply, credentials: &Credentials) -> io::Result<Reply> {
    let offered = |mechanism: &str| {
        offer.words_of("AUTH").is_some_and(|mut words| words.any(|word| word.eq_ignore_ascii_case(mechanism)))
    };
    let (name, password) = (&credentials.user_name, credentials.password.expose_secret());
    if offered("PLAIN") {
        let secret = STANDARD.encode(format!("\0{name}\0{password}"));
        dialogue.command(&format!("AUTH PLAIN {secret}")).await
    } else if offered("LOGIN") {
        let mut answer = dialogue.command("AUTH LOGIN").await?;
        for part in [name.as_str(), password] {
            if answer.code != 334 {
                return Ok(answer);
            }
            answer = dialogue.command(&STANDARD.encode(part)).await?;
        }
        Ok(answer)
    } else {
        Err(io::Error::new(io::ErrorKind::Unsupported, "it offers neither AUTH PLAIN nor AUTH LOGIN"))
    }
}
