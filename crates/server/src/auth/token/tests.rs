//! Valid tokens, and the ways to forge one.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;
use ring::hmac;
use serde_json::{Value, json};

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_500);

fn tokens() -> Tokens {
    Tokens::new(SigningKeys::generate().unwrap(), "https://perigee.example", "perigee")
}

fn new_token() -> NewToken {
    NewToken {
        user: UserId::from_i64(1),
        account: AccountId::from_i64(2),
        key: KeyId::from_i64(3),
        lifetime_s: 3600,
    }
}

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

/// Signs any header and claims with a good key.
fn signed(tokens: &Tokens, header: &Value, claims: &Value) -> String {
    let message = format!("{}.{}", part(header), part(claims));
    let pair = ed25519::key_pair(tokens.keys.current().to_pkcs8()).unwrap();
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(pair.sign(message.as_bytes())))
}

fn header(tokens: &Tokens) -> Value {
    json!({"typ": "at+jwt", "alg": "EdDSA", "kid": tokens.keys.current().id()})
}

#[test]
fn a_token_has_the_claims_it_was_issued_with() {
    let tokens = tokens();
    let (token, claims) = tokens.issue(new_token(), NOW).unwrap();
    assert_eq!(tokens.verify(&token, NOW), Ok(claims.clone()));
    assert_eq!((claims.iat, claims.exp), (1_800_000_000, 1_800_003_600));
    assert_eq!(claims.expires().to_string(), "2027-01-15T09:00:00Z");
    assert_eq!(
        (claims.sub, claims.acc, claims.key),
        (new_token().user, new_token().account, new_token().key)
    );
    assert_ne!(tokens.issue(new_token(), NOW).unwrap().1.jti, claims.jti);
    let header = jsonwebtoken::decode_header(&token).unwrap();
    assert_eq!(header.kid.as_deref(), Some(tokens.keys().current().id()));
    assert!(token.len() < MAX_TOKEN_BYTES / 4, "{}", token.len());
}

/// A key and a token of earlier versions, which signed with aws-lc.
#[test]
fn keys_and_tokens_of_earlier_versions_stay_good() {
    const PKCS8: &str = "MFECAQEwBQYDK2VwBCIEIP4MtFS2BzEWi6B4BYvWjw/JOvwMV3in2gkE4fDx0hfYgSEAjoStFZvw6SDGz5NE5OLdZvMYmPnOVXcBrMdtypzItx4=";
    const TOKEN: &str = concat!(
        "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJFZERTQSIsImtpZCI6IlpHN3otZkVaaGZ0NHhrelB0UWdHNXA1ckNHVDY1ck44c1NhNDNIVzVxSGsifQ.",
        "eyJpc3MiOiJwZXJpZ2VlIiwiYXVkIjoicGVyaWdlZS1hcGkiLCJzdWIiOiJ1c3JfMGNtNXQ2eHI5OW54OSIsImV4cCI6MTc5NDgzMzg4NSwiaWF0",
        "IjoxNzk0ODMwMjg1LCJqdGkiOiJFa055d3JnQUJ3X25RUVpXUFhVVGwya0lrNEdmQkFtciIsImtleSI6ImtleV8wY201dDc4eGVkdjZoIiwiYWNj",
        "IjoiYWNjXzBjbTV0NnhyOTlubXAifQ.",
        "RIxn3oD8SrWJKNpoxPS_bGNxdykr_Gmqaxoco0PGUi2Zclm_YV5jCoqjfEIe2MYA-71cRKsiYj2J7opB3yhMBg",
    );
    let key = SigningKey::from_pkcs8(&STANDARD.decode(PKCS8).unwrap()).unwrap();
    assert_eq!(key.id(), "ZG7z-fEZhft4xkzPtQgG5p5rCGT65rN8sSa43HW5qHk");
    let tokens = Tokens::new(SigningKeys::new(key, Vec::new()), "perigee", "perigee-api");
    let made = Timestamp::from_millis(1_794_830_285_000);
    let claims = tokens.verify(TOKEN, made).unwrap();
    assert_eq!(claims.sub.to_string(), "usr_0cm5t6xr99nx9");
    // Ed25519 signatures are deterministic: the same claims make the same token.
    assert_eq!(sign(tokens.keys.current(), &claims).unwrap(), TOKEN);
}

#[test]
fn a_token_ends_to_the_second() {
    let tokens = tokens();
    let (token, claims) = tokens.issue(new_token(), NOW).unwrap();
    assert!(tokens.verify(&token, claims.expires().plus_millis(-1)).is_ok());
    assert_eq!(tokens.verify(&token, claims.expires()), Err(TokenError::Expired));
}

#[test]
fn older_keys_verify_until_they_are_dropped() {
    let old = tokens();
    let (token, _) = old.issue(new_token(), NOW).unwrap();
    let next = SigningKey::generate().unwrap();
    let rotated = Tokens::new(old.keys.clone().rotated(next.clone()), &*old.issuer, &*old.audience);
    assert!(rotated.verify(&token, NOW).is_ok());
    let (fresh, _) = rotated.issue(new_token(), NOW).unwrap();
    assert_eq!(jsonwebtoken::decode_header(&fresh).unwrap().kid.as_deref(), Some(next.id()));
    let dropped = Tokens::new(SigningKeys::new(next, Vec::new()), &*old.issuer, &*old.audience);
    assert_eq!(dropped.verify(&token, NOW), Err(TokenError::UnknownKey));
    assert_eq!(old.verify(&fresh, NOW), Err(TokenError::UnknownKey));
}

#[test]
fn tokens_of_others_are_distinguished() {
    let tokens = tokens();
    let (token, _) = tokens.issue(new_token(), NOW).unwrap();
    let issuer = Tokens::new(tokens.keys.clone(), "https://other.example", "perigee");
    assert_eq!(issuer.verify(&token, NOW), Err(TokenError::WrongIssuer));
    let audience = Tokens::new(tokens.keys.clone(), "https://perigee.example", "other");
    assert_eq!(audience.verify(&token, NOW), Err(TokenError::WrongAudience));
}

#[test]
fn forged_headers_are_refused() {
    let tokens = tokens();
    let claims = serde_json::to_value(tokens.issue(new_token(), NOW).unwrap().1).unwrap();
    let kid = tokens.keys.current().id();
    assert!(tokens.verify(&signed(&tokens, &header(&tokens), &claims), NOW).is_ok());
    for (header, expect) in [
        (json!({"typ": "application/at+jwt", "alg": "EdDSA", "kid": kid}), None),
        (json!({"typ": "AT+JWT", "alg": "EdDSA", "kid": kid}), None),
        (json!({"typ": "JWT", "alg": "EdDSA", "kid": kid}), Some(TokenError::Malformed)),
        (json!({"alg": "EdDSA", "kid": kid}), Some(TokenError::Malformed)),
        (json!({"typ": "at+jwt", "alg": "none", "kid": kid}), Some(TokenError::Malformed)),
        (json!({"typ": "at+jwt", "alg": "HS256", "kid": kid}), Some(TokenError::BadSignature)),
        (json!({"typ": "at+jwt", "alg": "EdDSA"}), Some(TokenError::BadSignature)),
        (json!({"typ": "at+jwt", "alg": "EdDSA", "kid": "other"}), Some(TokenError::UnknownKey)),
        (json!({"typ": "at+jwt", "alg": "EdDSA", "kid": kid, "crit": ["x"]}), Some(TokenError::Malformed)),
    ] {
        let found = tokens.verify(&signed(&tokens, &header, &claims), NOW).err();
        assert_eq!(found, expect, "{header}");
    }
}

#[test]
fn the_public_key_is_no_shared_secret() {
    let tokens = tokens();
    let claims = tokens.issue(new_token(), NOW).unwrap().1;
    let header = json!({"typ": TYPE, "alg": "HS256", "kid": tokens.keys.current().id()});
    let jwks = tokens.keys.jwks(NOW);
    let public = URL_SAFE_NO_PAD.decode(jwks["keys"][0]["x"].as_str().unwrap()).unwrap();
    let message = format!("{}.{}", part(&header), part(&serde_json::to_value(claims).unwrap()));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &public), message.as_bytes());
    let forged = format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag));
    assert_eq!(tokens.verify(&forged, NOW), Err(TokenError::BadSignature));
}

#[test]
fn forged_claims_are_refused() {
    let tokens = tokens();
    let (token, claims) = tokens.issue(new_token(), NOW).unwrap();
    let mut longer = serde_json::to_value(&claims).unwrap();
    longer["exp"] = json!(i64::MAX);
    let parts: Vec<&str> = token.split('.').collect();
    let forged = format!("{}.{}.{}", parts[0], part(&longer), parts[2]);
    assert_eq!(tokens.verify(&forged, NOW), Err(TokenError::BadSignature));
    assert!(tokens.verify(&signed(&tokens, &header(&tokens), &longer), NOW).is_ok());
    for (name, value) in [
        ("exp", json!("1800003600")),
        ("exp", json!(1e30)),
        ("exp", Value::Null),
        ("sub", json!("dev_0000000000001")),
        ("acc", json!(2)),
        ("aud", json!(["perigee"])),
        ("jti", Value::Null),
    ] {
        let mut wrong = serde_json::to_value(&claims).unwrap();
        wrong[name] = value;
        let token = signed(&tokens, &header(&tokens), &wrong);
        assert_eq!(tokens.verify(&token, NOW), Err(TokenError::Malformed), "{wrong}");
    }
}

#[test]
fn other_texts_are_malformed_tokens() {
    let tokens = tokens();
    let (token, _) = tokens.issue(new_token(), NOW).unwrap();
    for text in
        ["", ".", "..", "a.b.c", &token[..token.len() / 2], &format!("x{token}"), &"a".repeat(1_000_000)]
    {
        assert_eq!(tokens.verify(text, NOW), Err(TokenError::Malformed), "{text:.40}");
    }
    // One byte less, so that the rest is still valid Base64.
    let cut = &token[..token.len() - 2];
    assert_eq!(tokens.verify(cut, NOW), Err(TokenError::BadSignature));
}

proptest! {
    #[test]
    fn any_text_is_refused(text in "\\PC{0,80}|[a-zA-Z0-9_.-]{0,80}") {
        prop_assert!(tokens().verify(&text, NOW).is_err());
    }
}
