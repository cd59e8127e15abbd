//! JSON Web Tokens signed with RS256 and a pinned key. No other algorithm, no key from the token itself.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use serde_json::{Map, Value as Json};

use crate::feed::Refused;
use crate::notation::reader::Reader;

/// Characters of a token; providers send about 1,000.
const MAX_TOKEN: usize = 16_384;
const SEQUENCE: u8 = 0x30;
const BIT_STRING: u8 = 0x03;

/// The claims of a token whose signature is right. The key is a public key in DER as base64, or PEM.
pub(crate) fn claims(token: &str, key: &str) -> Result<Map<String, Json>, Refused> {
    const WRONG: Refused = Refused::Wrong("JWT");
    let key = rsa_key(key).ok_or(Refused::Setting("key"))?;
    if token.len() > MAX_TOKEN {
        return Err(WRONG);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(WRONG)?;
    let (header, payload) = signed.split_once('.').ok_or(WRONG)?;
    let object = |part: &str| {
        let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
        serde_json::from_slice::<Map<String, Json>>(&bytes).ok()
    };
    let header = object(header).ok_or(WRONG)?;
    if header.get("alg").and_then(Json::as_str) != Some("RS256") {
        return Err(WRONG);
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_detail| WRONG)?;
    UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key)
        .verify(signed.as_bytes(), &signature)
        .map_err(|_unspecified| WRONG)?;
    object(payload).ok_or(WRONG)
}

/// Whether a text is a public key that [`claims`] can use.
pub(crate) fn is_key(text: &str) -> bool {
    rsa_key(text).is_some()
}

/// The RSA key inside a `SubjectPublicKeyInfo`.
fn rsa_key(text: &str) -> Option<Vec<u8>> {
    let digits: String = text
        .lines()
        .filter(|line| !line.starts_with("-----"))
        .flat_map(str::chars)
        .filter(|c| !c.is_whitespace())
        .collect();
    let der = STANDARD.decode(digits).ok()?;
    let mut outer = Reader::new(&der);
    let mut info = Reader::new(read_value(&mut outer, SEQUENCE)?);
    read_value(&mut info, SEQUENCE)?;
    let bits = read_value(&mut info, BIT_STRING)?;
    bits.split_first().filter(|(unused, _)| **unused == 0).map(|(_, key)| key.to_vec())
}

/// The value of the next element, which must have this tag.
fn read_value<'a>(reader: &mut Reader<'a>, tag: u8) -> Option<&'a [u8]> {
    if reader.u8().ok()? != tag {
        return None;
    }
    let first = reader.u8().ok()?;
    let length = if first < 0x80 { u64::from(first) } else { reader.uint(usize::from(first & 0x7f)).ok()? };
    reader.take(usize::try_from(length).ok()?).ok()
}
