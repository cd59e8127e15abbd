//! Iridium `DirectIP` MT: a connection to Iridium's gateway for each message, in information elements.

use perigee_core::devices::conversation::TextKind;

use super::call::{TcpExchange, hex};
use super::{Address, Downlink, Outgoing, ProviderAnswer, ProviderCall, TextLimit, Verdict, iridium_status};
use crate::decoded::Options;
use crate::feed_option::host_and_port;
use crate::protocols::iridium::{MtConfirmation, MtMessage};

/// Number of bytes of a confirmation: its header, and one element of 25 bytes.
const CONFIRMATION_BYTES: usize = 3 + 3 + 25;

/// Iridium in the table of providers. Most modems accept 270 bytes.
pub(super) const DOWNLINK: Downlink = Downlink {
    feed: "directip",
    link: "iridium",
    limit: TextLimit::Bytes(270),
    kinds: &[TextKind::Text],
    address: Address::Imei,
    ready,
    call,
    read,
};

fn ready(options: &Options) -> Result<(), &'static str> {
    match options.text("sendAddress") {
        Some(_) => Ok(()),
        None => Err("The gateway has no option sendAddress, the host and port of Iridium's gateway."),
    }
}

fn call(outgoing: &Outgoing<'_>) -> ProviderCall {
    let message = MtMessage {
        client_id: outgoing.number.to_be_bytes(),
        imei: outgoing.address,
        flags: 0,
        payload: outgoing.text.as_bytes(),
    };
    let (host, port) = host_and_port(outgoing.option("sendAddress")).unwrap_or_default();
    ProviderCall::Tcp(TcpExchange {
        address: (host.to_owned(), port),
        // Empty if the IMEI is none: the service sends only to IMEIs, and an empty message is refused.
        bytes: message.encode().unwrap_or_default(),
        answer_bytes: CONFIRMATION_BYTES,
    })
}

fn read(outgoing: &Outgoing<'_>, answer: &ProviderAnswer<'_>) -> Verdict {
    let confirmation = match MtConfirmation::decode(answer.body) {
        Ok(confirmation) => confirmation,
        Err(problem) => {
            let bytes = answer.body.get(..answer.body.len().min(40)).unwrap_or_default();
            return Verdict::Unclear(format!(
                "Iridium answered with {} bytes that are no confirmation ({problem}): {}. The message may have been sent. It \
                 is not sent again, because it would be billed twice.",
                answer.body.len(),
                hex(bytes)
            ));
        }
    };
    let is_own =
        confirmation.client_id == outgoing.number.to_be_bytes() && confirmation.imei == outgoing.address;
    if !is_own {
        return Verdict::Unclear(
            "Iridium confirmed another message. This one may have been sent. It is not sent again, because it would be \
             billed twice."
                .to_owned(),
        );
    }
    iridium_status::verdict("Iridium", confirmation.status.into(), Some(confirmation.reference.to_string()))
}
