//! JSON Web Tokens signed with RS256 and a pinned key. No other algorithm is accepted, and no key from the token
//! itself. The crate `jsonwebtoken` uses one crypto provider for the whole process, and the provider of the server
//! supports only the algorithm of its own tokens.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use serde_json::{Map, Value as Json};
use spki::SubjectPublicKeyInfoRef;

use crate::feed::Refused;

/// Maximum number of characters of a token; providers send about 1,000.
const MAX_TOKEN: usize = 16_384;

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
    let info = SubjectPublicKeyInfoRef::try_from(der.as_slice()).ok()?;
    info.subject_public_key.as_bytes().map(<[u8]>::to_vec)
}
