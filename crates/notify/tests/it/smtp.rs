//! A mail server that follows a script.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A step of a script.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends this, with line ends as they stand.
    Say(&'static str),
    /// Reads a line, which must begin so.
    Hear(&'static str),
    /// Reads the message up to its final dot.
    Take,
    /// Reads the message's first lines only.
    TakePart,
    /// Says nothing more, but stays.
    Hang,
    /// Sends this over and over until nobody listens.
    Flood(&'static str),
}

pub(crate) use Act::{Flood, Hang, Hear, Say, Take, TakePart};

/// Greeting and EHLO, accepted.
pub(crate) const GREETED: [Act; 3] =
    [Say("220 fake ESMTP\r\n"), Hear("EHLO"), Say("250-fake\r\n250-8BITMIME\r\n250 SIZE 1000000\r\n")];

/// The lines up to the message.
pub(crate) const OFFERED: [Act; 6] = [
    Hear("MAIL FROM:<alerts@example.org>"),
    Say("250 ok\r\n"),
    Hear("RCPT TO:<ana@example.com>"),
    Say("250 ok\r\n"),
    Hear("DATA"),
    Say("354 go on\r\n"),
];

pub(crate) struct FakeServer {
    pub(crate) address: SocketAddr,
    /// The messages it read to the final dot.
    pub(crate) taken: Arc<Mutex<Vec<String>>>,
    /// Lines of a peer that did not match the script.
    pub(crate) surprises: Arc<Mutex<Vec<String>>>,
    /// Connections it took.
    pub(crate) connections: Arc<Mutex<usize>>,
}

impl FakeServer {
    /// Plays one script a connection; the last one again and again.
    pub(crate) async fn start(scripts: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            taken: Arc::default(),
            surprises: Arc::default(),
            connections: Arc::default(),
        };
        let (taken, surprises, connections) =
            (server.taken.clone(), server.surprises.clone(), server.connections.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = {
                    let mut count = connections.lock().unwrap();
                    *count += 1;
                    *count - 1
                };
                let script = scripts.get(number).or(scripts.last()).cloned().unwrap_or_default();
                tokio::spawn(play(stream, script, taken.clone(), surprises.clone()));
            }
        });
        server
    }
}

async fn play(
    stream: TcpStream,
    script: Vec<Act>,
    taken: Arc<Mutex<Vec<String>>>,
    surprises: Arc<Mutex<Vec<String>>>,
) {
    let mut stream = BufReader::new(stream);
    for act in script {
        match act {
            Say(text) => {
                if stream.get_mut().write_all(text.as_bytes()).await.is_err() {
                    return;
                }
            }
            Hear(beginning) => {
                let mut line = String::new();
                let read = stream.read_line(&mut line).await;
                if !read.is_ok_and(|length| length > 0) {
                    return;
                }
                if !line.starts_with(beginning) {
                    surprises.lock().unwrap().push(format!("{line:?} instead of {beginning:?}"));
                    return;
                }
            }
            Take => match read_message(&mut stream, usize::MAX).await {
                Some(message) => taken.lock().unwrap().push(message),
                None => return,
            },
            TakePart => {
                read_message(&mut stream, 3).await;
            }
            Hang => std::future::pending().await,
            Flood(text) => while stream.get_mut().write_all(text.as_bytes()).await.is_ok() {},
        }
    }
}

async fn read_message(stream: &mut BufReader<TcpStream>, most_lines: usize) -> Option<String> {
    let mut message = String::new();
    for _ in 0..most_lines {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        if line == ".\r\n" {
            return Some(message);
        }
        message.push_str(&line);
    }
    None
}
