//! Encryption of one message for one browser: ECDH on P-256, HKDF and AES-128-GCM in a single record (RFC 8291).

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom as _, SystemRandom};

/// Bytes of an uncompressed point of P-256.
const POINT_BYTES: usize = 65;
/// Bytes of the secret that a browser shares with the sender.
pub const AUTH_BYTES: usize = 16;
const SALT_BYTES: usize = 16;
const KEY_BYTES: usize = 16;
const TAG_BYTES: usize = 16;
/// The size of the record and of the whole body: what every push service accepts (RFC 8030, section 7.2).
const RECORD_BYTES: u32 = 4_096;
/// Salt, size of the record, length of the key and the key.
const HEADER_BYTES: usize = SALT_BYTES + 4 + 1 + POINT_BYTES;
/// Ends the content of the last record.
const LAST_RECORD: u8 = 2;
/// Maximum number of bytes of a message, so that the encrypted body has at most 4,096.
pub const PLAINTEXT_MAX: usize = 4_096 - HEADER_BYTES - TAG_BYTES - 1;

/// Why a message cannot be encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncryptError {
    /// It does not fit into one record.
    #[error("the message has more than {PLAINTEXT_MAX} bytes")]
    TooLong,
    /// The keys of the browser are not a point of P-256 and 16 bytes.
    #[error("the keys of the browser are not valid")]
    BrowserKeys,
    /// The random number generator or the cipher failed.
    #[error("the message could not be encrypted")]
    Failed,
}

/// The length of a derived key in bytes.
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// Derives bytes from a secret (RFC 5869). The whole of HKDF with one block of output.
fn derive<const N: usize>(salt: &[u8], secret: &[u8], info: &[&[u8]]) -> Result<[u8; N], EncryptError> {
    let mut bytes = [0; N];
    Salt::new(HKDF_SHA256, salt)
        .extract(secret)
        .expand(info, Length(N))
        .and_then(|derived| derived.fill(&mut bytes))
        .map_err(|_unspecified| EncryptError::Failed)?;
    Ok(bytes)
}

/// Whether these bytes are a public key of a browser: an uncompressed point on the curve P-256.
pub fn is_public_key(bytes: &[u8]) -> bool {
    let Ok(own) = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()) else { return false };
    bytes.len() == POINT_BYTES
        && agree_ephemeral(own, &UnparsedPublicKey::new(&ECDH_P256, bytes), |_secret| ()).is_ok()
}

/// The body of a request to a push service, with the content coding `aes128gcm`. `browser` is the public key of the
/// browser, `auth` the secret that it shared.
pub fn encrypt(message: &[u8], browser: &[u8], auth: &[u8]) -> Result<Vec<u8>, EncryptError> {
    if browser.len() != POINT_BYTES || auth.len() != AUTH_BYTES {
        return Err(EncryptError::BrowserKeys);
    }
    let failed = |_unspecified| EncryptError::Failed;
    let random = SystemRandom::new();
    let mut salt = [0; SALT_BYTES];
    random.fill(&mut salt).map_err(failed)?;
    let own = EphemeralPrivateKey::generate(&ECDH_P256, &random).map_err(failed)?;
    let public = own.compute_public_key().map_err(failed)?;
    let peer = UnparsedPublicKey::new(&ECDH_P256, browser);
    agree_ephemeral(own, &peer, |shared| seal(message, shared, (browser, public.as_ref()), auth, &salt))
        .map_err(|_unspecified| EncryptError::BrowserKeys)?
}

/// The same from the shared secret and the public keys of browser and sender.
fn seal(
    message: &[u8],
    shared: &[u8],
    (browser, own): (&[u8], &[u8]),
    auth: &[u8],
    salt: &[u8; SALT_BYTES],
) -> Result<Vec<u8>, EncryptError> {
    if message.len() > PLAINTEXT_MAX {
        return Err(EncryptError::TooLong);
    }
    let secret: [u8; 32] = derive(auth, shared, &[b"WebPush: info\0", browser, own])?;
    let key: [u8; KEY_BYTES] = derive(salt, &secret, &[b"Content-Encoding: aes128gcm\0"])?;
    let nonce: [u8; NONCE_LEN] = derive(salt, &secret, &[b"Content-Encoding: nonce\0"])?;
    let mut record = message.to_vec();
    record.push(LAST_RECORD);
    let cipher = UnboundKey::new(&AES_128_GCM, &key).map_err(|_unspecified| EncryptError::Failed)?;
    LessSafeKey::new(cipher)
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut record)
        .map_err(|_unspecified| EncryptError::Failed)?;
    let mut body = Vec::with_capacity(HEADER_BYTES + record.len());
    body.extend_from_slice(salt);
    body.extend_from_slice(&RECORD_BYTES.to_be_bytes());
    body.push(u8::try_from(own.len()).map_err(|_too_long| EncryptError::Failed)?);
    body.extend_from_slice(own);
    body.append(&mut record);
    Ok(body)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    /// The keys of RFC 8291, appendix A.
    const BROWSER: &str =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    const SENDER: &str =
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";
    const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";

    #[test]
    fn the_values_of_rfc_8291_are_reproduced() {
        let shared = bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs");
        let (browser, sender, auth) = (bytes(BROWSER), bytes(SENDER), bytes(AUTH));
        let salt: [u8; 16] = bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap();
        let secret: [u8; 32] = derive(&auth, &shared, &[b"WebPush: info\0", &browser, &sender]).unwrap();
        assert_eq!(URL_SAFE_NO_PAD.encode(secret), "S4lYMb_L0FxCeq0WhDx813KgSYqU26kOyzWUdsXYyrg");
        let key: [u8; 16] = derive(&salt, &secret, &[b"Content-Encoding: aes128gcm\0"]).unwrap();
        assert_eq!(URL_SAFE_NO_PAD.encode(key), "oIhVW04MRdy2XN9CiKLxTg");
        let nonce: [u8; 12] = derive(&salt, &secret, &[b"Content-Encoding: nonce\0"]).unwrap();
        assert_eq!(URL_SAFE_NO_PAD.encode(nonce), "4h_95klXJ5E_qnoN");
        let message = b"When I grow up, I want to be a watermelon";
        let body = seal(message, &shared, (&browser, &sender), &auth, &salt).unwrap();
        assert_eq!(
            URL_SAFE_NO_PAD.encode(body),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8w\
             EqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
        );
    }

    #[test]
    fn a_body_has_at_most_4096_bytes_and_no_two_are_the_same() {
        let (browser, auth) = (bytes(BROWSER), bytes(AUTH));
        let longest = vec![b'x'; PLAINTEXT_MAX];
        let body = encrypt(&longest, &browser, &auth).unwrap();
        assert_eq!(body.len(), 4_096);
        assert_ne!(body, encrypt(&longest, &browser, &auth).unwrap());
        assert_eq!(encrypt(&vec![b'x'; PLAINTEXT_MAX + 1], &browser, &auth), Err(EncryptError::TooLong));
    }

    #[test]
    fn refuses_what_is_not_a_point_of_the_curve() {
        let browser = bytes(BROWSER);
        assert!(is_public_key(&browser));
        let mut beside = browser.clone();
        beside[64] ^= 1;
        let zero = [0; 65];
        let mut compressed = browser.clone();
        compressed[0] = 2;
        for wrong in [&beside[..], &zero, &compressed, &browser[..64], &browser[1..], &[]] {
            assert!(!is_public_key(wrong));
            assert_eq!(encrypt(b"x", wrong, &bytes(AUTH)), Err(EncryptError::BrowserKeys));
        }
        assert_eq!(encrypt(b"x", &browser, &[0; 15]), Err(EncryptError::BrowserKeys));
    }
}
