//! Reads the delivery receipts that a message centre sends back.

use perigee_core::notifications::notification::Receipt;
use rusmpp::pdus::DeliverSm;
use rusmpp::tlvs::TlvValue;
use rusmpp::values::MessageState;

use crate::plain::excerpt;

/// Flag: the packet is a receipt and not an incoming SMS.
const RECEIPT_BIT: u8 = 0x04;
/// Characters of a reference that are kept.
const REFERENCE: usize = 200;

/// The receipt in this packet, if it is one and has a final state.
pub(super) fn read(packet: &DeliverSm) -> Option<Receipt> {
    if u8::from(packet.esm_class) & RECEIPT_BIT == 0 {
        return None;
    }
    let text = String::from_utf8_lossy(packet.short_message().as_ref()).into_owned();
    let values = || packet.tlvs().iter().filter_map(|tlv| tlv.value());
    let reference = values()
        .find_map(|value| match value {
            TlvValue::ReceiptedMessageId(id) => Some(id.as_str().trim_end_matches('\0').to_owned()),
            _ => None,
        })
        .or_else(|| word_after(&text, "id:"))?;
    let state = values()
        .find_map(|value| match value {
            TlvValue::MessageState(state) => Some(name_of(*state).to_owned()),
            _ => None,
        })
        .or_else(|| word_after(&text, "stat:"))?;
    let failure = match state.to_ascii_uppercase().as_str() {
        "DELIVRD" => None,
        "EXPIRED" | "DELETED" | "UNDELIV" | "REJECTD" => {
            let error = word_after(&text, "err:").map(|code| format!(", error {code}")).unwrap_or_default();
            Some(excerpt(&format!("the message centre could not deliver the SMS: {state}{error}"), REFERENCE))
        }
        // Not final: another receipt will follow.
        _ => return None,
    };
    Some(Receipt { reference: excerpt(&reference, REFERENCE), failure })
}

fn name_of(state: MessageState) -> &'static str {
    match state {
        MessageState::Delivered => "DELIVRD",
        MessageState::Expired => "EXPIRED",
        MessageState::Deleted => "DELETED",
        MessageState::Undeliverable => "UNDELIV",
        MessageState::Rejected => "REJECTD",
        _ => "UNKNOWN",
    }
}

/// The value after a key such as `id:`, in the text form of receipts (SMPP 3.4, appendix B).
fn word_after(text: &str, mark: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let start = lower
        .match_indices(mark)
        .map(|(at, _)| at)
        .find(|at| *at == 0 || lower.as_bytes().get(at - 1).is_some_and(u8::is_ascii_whitespace))?;
    let word = text.get(start + mark.len()..)?.split_ascii_whitespace().next()?;
    Some(word.to_owned())
}

#[cfg(test)]
mod tests {
    use rusmpp::types::OctetString;
    use rusmpp::values::EsmClass;

    use super::*;

    fn packet(class: u8, text: &str) -> DeliverSm {
        let text = OctetString::from_vec(text.as_bytes().to_vec()).unwrap();
        DeliverSm::builder().esm_class(EsmClass::from(class)).short_message(text).build()
    }

    #[test]
    fn reads_the_text_most_centres_write() {
        let text = "id:0A1b sub:001 dlvrd:001 submit date:2605011200 done date:2605011201 stat:DELIVRD err:000 text:id:9";
        let expect = Receipt { reference: "0A1b".to_owned(), failure: None };
        assert_eq!(read(&packet(4, text)), Some(expect));
        let failed = read(&packet(4, "id:7 stat:UNDELIV err:011")).unwrap();
        assert_eq!((failed.reference.as_str(), failed.failure.unwrap().contains("error 011")), ("7", true));
    }

    #[test]
    fn passes_over_what_is_none() {
        for text in ["", "id:7 stat:ENROUTE", "id:7", "stat:DELIVRD", "paid:7 xstat:DELIVRD", "Привет"]
        {
            assert_eq!(read(&packet(4, text)), None, "{text}");
        }
        assert_eq!(read(&packet(0, "id:7 stat:DELIVRD")), None, "somebody answered");
    }
}
