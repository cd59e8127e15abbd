//! A message centre with configurable answers.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use futures_util::{SinkExt as _, StreamExt as _};
use rusmpp::pdus::{BindTransceiverResp, DeliverSm, SubmitSm, SubmitSmResp};
use rusmpp::tokio_codec::CommandCodec;
use rusmpp::types::{COctetString, OctetString};
use rusmpp::values::EsmClass;
use rusmpp::{Command, CommandStatus, Pdu};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::codec::Framed;

/// The reaction of the centre to the message of this number, counted from 0 over all connections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Turn {
    /// Takes it and sends a receipt.
    Take,
    /// Answers with this status.
    Answer(CommandStatus),
    /// Reads it and says nothing.
    Ignore,
    /// Reads it and closes the connection.
    Close,
}

pub(crate) struct FakeCentre {
    pub(crate) address: SocketAddr,
    /// The messages it read.
    pub(crate) received: Arc<Mutex<Vec<SubmitSm>>>,
    /// How often somebody bound.
    pub(crate) bound: Arc<Mutex<usize>>,
}

impl FakeCentre {
    pub(crate) async fn start(bind: CommandStatus, turns: Vec<Turn>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let centre =
            Self { address: listener.local_addr().unwrap(), received: Arc::default(), bound: Arc::default() };
        let (received, bound, turns) = (centre.received.clone(), centre.bound.clone(), Arc::new(turns));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (received, bound, turns) = (received.clone(), bound.clone(), turns.clone());
                tokio::spawn(serve(stream, bind, turns, received, bound));
            }
        });
        centre
    }
}

async fn serve(
    stream: TcpStream,
    bind: CommandStatus,
    turns: Arc<Vec<Turn>>,
    received: Arc<Mutex<Vec<SubmitSm>>>,
    bound: Arc<Mutex<usize>>,
) {
    let mut framed = Framed::new(stream, CommandCodec::new());
    while let Some(Ok(command)) = framed.next().await {
        let number = command.sequence_number();
        let answer = |status, pdu: Pdu| Command::builder().status(status).sequence_number(number).pdu(pdu);
        match command.pdu() {
            Some(Pdu::BindTransceiver(packet)) => {
                assert_eq!(packet.system_id.as_str(), "perigee");
                *bound.lock().unwrap() += 1;
                framed.send(answer(bind, BindTransceiverResp::default().into())).await.unwrap();
            }
            Some(Pdu::EnquireLink) => {
                framed.send(answer(CommandStatus::EsmeRok, Pdu::EnquireLinkResp)).await.unwrap();
            }
            Some(Pdu::SubmitSm(packet)) => {
                let index = {
                    let mut received = received.lock().unwrap();
                    received.push(packet.clone());
                    received.len() - 1
                };
                let id = format!("M{index}");
                match turns.get(index).copied().unwrap_or(Turn::Take) {
                    Turn::Take => {
                        let id = COctetString::from_string(id.clone()).unwrap();
                        let response = SubmitSmResp::new(id, Vec::new());
                        framed.send(answer(CommandStatus::EsmeRok, response.into())).await.unwrap();
                    }
                    Turn::Answer(status) => {
                        framed.send(answer(status, SubmitSmResp::default().into())).await.unwrap();
                        continue;
                    }
                    Turn::Ignore => continue,
                    Turn::Close => return,
                }
                if u8::from(packet.registered_delivery) == 1 {
                    let text = format!("id:{id} sub:001 dlvrd:001 stat:DELIVRD err:000");
                    let text = OctetString::from_vec(text.into_bytes()).unwrap();
                    let receipt =
                        DeliverSm::builder().esm_class(EsmClass::from(4)).short_message(text).build();
                    let command =
                        Command::builder().status(CommandStatus::EsmeRok).sequence_number(9).pdu(receipt);
                    framed.send(command).await.unwrap();
                }
            }
            Some(Pdu::Unbind) => {
                framed.send(answer(CommandStatus::EsmeRok, Pdu::UnbindResp)).await.unwrap();
                return;
            }
            _ => {}
        }
    }
}
