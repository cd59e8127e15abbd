//! Encodes a text into SMPP packets.

use perigee_core::notifications::phone::PhoneNumber;
use rusmpp::pdus::SubmitSm;
use rusmpp::tlvs::MessageSubmissionRequestTlvValue;
use rusmpp::types::{AnyOctetString, COctetString, OctetString};
use rusmpp::values::{DataCoding, EsmClass, MessagePayload, Npi, RegisteredDelivery, Ton};

use super::settings::LongTexts;
use crate::sms::alphabet::codes;
use crate::sms::segment::{Alphabet, parts};

/// Flag: the text begins with a user data header.
const HAS_HEADER: u8 = 0x40;
/// Requests a receipt for success and for final failure.
const FINAL_RECEIPT: u8 = 0x01;

/// The packets of a text, in order. Only the last requests a receipt, so that a message has one reference.
pub(super) fn packets(
    sender: &str,
    number: &PhoneNumber,
    text: &str,
    group: u8,
    long_texts: LongTexts,
) -> Result<Vec<SubmitSm>, String> {
    let alphabet = Alphabet::of(text);
    let segments = parts(text, alphabet);
    let base = || address(sender, number, alphabet);
    if long_texts == LongTexts::Payload && segments.len() > 1 {
        let payload = MessagePayload::new(AnyOctetString::from_vec(bytes(text, alphabet)));
        let mut packet = base()?;
        packet.push_tlv(MessageSubmissionRequestTlvValue::MessagePayload(payload));
        packet.registered_delivery = RegisteredDelivery::from(FINAL_RECEIPT);
        return Ok(vec![packet]);
    }
    let total =
        u8::try_from(segments.len()).map_err(|_too_many| "the text has too many segments".to_owned())?;
    (1..=total)
        .zip(segments)
        .map(|(number, segment)| {
            let mut packet = base()?;
            let mut content = Vec::new();
            if total > 1 {
                packet.esm_class = EsmClass::from(HAS_HEADER);
                content.extend_from_slice(&[0x05, 0x00, 0x03, group, total, number]);
            }
            content.extend(bytes(segment, alphabet));
            packet.set_short_message(OctetString::from_vec(content).map_err(|error| error.to_string())?);
            let receipt = if number == total { FINAL_RECEIPT } else { 0 };
            packet.registered_delivery = RegisteredDelivery::from(receipt);
            Ok(packet)
        })
        .collect()
}

fn address(sender: &str, number: &PhoneNumber, alphabet: Alphabet) -> Result<SubmitSm, String> {
    let (ton, npi) = kind_of(sender);
    let c_string = |text: &str| COctetString::from_string(text.to_owned()).map_err(|error| error.to_string());
    Ok(SubmitSm::builder()
        .source_addr_ton(ton)
        .source_addr_npi(npi)
        .source_addr(c_string(sender.trim_start_matches('+'))?)
        .dest_addr_ton(Ton::International)
        .dest_addr_npi(Npi::Isdn)
        .destination_addr(c_string(number.digits())?)
        .esm_class(EsmClass::from(0))
        .data_coding(match alphabet {
            Alphabet::Gsm7 => DataCoding::McSpecific,
            Alphabet::Ucs2 => DataCoding::Ucs2,
        })
        .build())
}

fn kind_of(sender: &str) -> (Ton, Npi) {
    match sender.strip_prefix('+') {
        Some(_) => (Ton::International, Npi::Isdn),
        None if sender.bytes().all(|byte| byte.is_ascii_digit()) => (Ton::NetworkSpecific, Npi::Unknown),
        None => (Ton::Alphanumeric, Npi::Unknown),
    }
}

/// The text as bytes: 7-bit codes, one per byte, or UTF-16 big endian.
fn bytes(text: &str, alphabet: Alphabet) -> Vec<u8> {
    match alphabet {
        Alphabet::Gsm7 => text
            .chars()
            .filter_map(codes)
            .flat_map(|(escape, code)| escape.into_iter().chain(std::iter::once(code)))
            .collect(),
        Alphabet::Ucs2 => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str, long_texts: LongTexts) -> Vec<SubmitSm> {
        packets("Perigee", &"+34600123456".parse().unwrap(), text, 9, long_texts).unwrap()
    }

    #[test]
    fn a_short_text_is_one_packet() {
        let made = made("a€@", LongTexts::Segments);
        assert_eq!(made.len(), 1);
        assert_eq!(made[0].short_message().as_ref(), [0x61, 0x1B, 0x65, 0x00]);
        assert_eq!(u8::from(made[0].esm_class), 0);
        assert_eq!(made[0].source_addr_ton, Ton::Alphanumeric);
        assert_eq!(made[0].destination_addr.as_str(), "34600123456");
    }

    #[test]
    fn a_long_text_says_which_segment_each_is() {
        let made = made(&"🚤".repeat(40), LongTexts::Segments);
        assert_eq!(made.len(), 2);
        for (packet, number) in made.iter().zip(1_u8..) {
            assert_eq!(packet.short_message().as_ref().get(..6).unwrap(), [5, 0, 3, 9, 2, number]);
            assert_eq!(u8::from(packet.esm_class), 0x40);
            assert_eq!(u8::from(packet.registered_delivery), u8::from(number == 2));
            assert_eq!(packet.data_coding, DataCoding::Ucs2);
        }
        assert_eq!(made[0].short_message().as_ref().len(), 6 + 66 * 2);
    }

    #[test]
    fn a_long_text_may_travel_whole() {
        let made = made(&"x".repeat(500), LongTexts::Payload);
        assert_eq!((made.len(), made[0].sm_length(), made[0].tlvs().len()), (1, 0, 1));
    }
}
