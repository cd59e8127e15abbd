//! Ed25519 for JWTs by ring: the one algorithm that tokens are signed with.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Signer, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, EncodingKey};
use ring::signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    // These methods read keys from JSON Web Keys, which is not needed here.
    key_utils: KeyUtils::new_unimplemented(),
};

/// Installs this as the JWT cryptography of the process; further calls have no effect.
pub(super) fn install() {
    // An error means that a provider is installed already.
    let _ = PROVIDER.install_default();
}

/// The key pair in a PKCS#8 document, with its public key (version 2) or without (version 1).
pub(super) fn key_pair(pkcs8: &[u8]) -> Option<Ed25519KeyPair> {
    Ed25519KeyPair::from_pkcs8_maybe_unchecked(pkcs8).ok()
}

struct Ed25519Signer(Ed25519KeyPair);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that `CryptoProvider` asks for")]
fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    require_ed25519(*algorithm, key.family())?;
    let pair = key_pair(key.as_bytes()).ok_or(ErrorKind::InvalidEddsaKey)?;
    Ok(Box::new(Ed25519Signer(pair)))
}

impl Signer<Vec<u8>> for Ed25519Signer {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        Ok(self.0.sign(message).as_ref().to_vec())
    }
}

impl JwtSigner for Ed25519Signer {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

struct Ed25519Verifier(UnparsedPublicKey<Vec<u8>>);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that `CryptoProvider` asks for")]
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    require_ed25519(*algorithm, key.family())?;
    let public = UnparsedPublicKey::new(&ED25519, key.try_get_as_bytes()?.to_vec());
    Ok(Box::new(Ed25519Verifier(public)))
}

impl Verifier<Vec<u8>> for Ed25519Verifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        self.0.verify(message, signature).map_err(|_unspecified| Error::new())
    }
}

impl JwtVerifier for Ed25519Verifier {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

fn require_ed25519(algorithm: Algorithm, family: AlgorithmFamily) -> Result<()> {
    if algorithm != Algorithm::EdDSA {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    if family != AlgorithmFamily::Ed {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    Ok(())
}
