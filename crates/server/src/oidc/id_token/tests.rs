//! Tokens that are accepted, and every way in which one is refused.

use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde_json::json;

use super::*;

/// A provider with a P-256 key.
struct Provider {
    key: EcdsaKeyPair,
    random: SystemRandom,
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

impl Provider {
    fn new() -> Self {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        let key = EcdsaKeyPair::from_pkcs8(
            &ECDSA_P256_SHA256_FIXED_SIGNING,
            made.unwrap().as_ref(),
            &random,
        );
        Self {
            key: key.unwrap(),
            random,
        }
    }

    fn keys(&self) -> KeySet {
        let point = self.key.public_key().as_ref();
        let (x, y) = (encoded(&point[1..33]), encoded(&point[33..]));
        let keys = json!({"keys": [
            {"kty": "OKP", "crv": "Ed25519", "x": "AA"},
            {"kty": "EC", "crv": "P-256", "kid": "1", "use": "sig", "x": x, "y": y},
            {"kty": 7},
        ]});
        serde_json::from_value(keys).unwrap()
    }

    fn sign(&self, header: &Json, claims: &Json) -> String {
        let message = format!(
            "{}.{}",
            encoded(header.to_string()),
            encoded(claims.to_string())
        );
        let signature = self.key.sign(&self.random, message.as_bytes()).unwrap();
        format!("{message}.{}", encoded(signature))
    }
}

fn claims() -> Json {
    json!({"iss": "https://id.example", "aud": "platen", "sub": "ada", "nonce": "n",
        "exp": 1_600, "iat": 1_000})
}

fn header() -> Json {
    json!({"alg": "ES256", "kid": "1", "typ": "JWT"})
}

fn read(provider: &Provider, token: &str) -> Result<Json, Refusal> {
    let expected = Expected {
        issuer: "https://id.example",
        client_id: "platen",
        nonce: "n",
        now: 1_000,
    };
    verify(token, &provider.keys(), &expected)
}

fn with(name: &str, value: Json) -> Json {
    let mut claims = claims();
    claims[name] = value;
    claims
}

#[test]
fn a_token_of_the_provider_is_accepted() {
    let provider = Provider::new();
    let sign = |claims: &Json| provider.sign(&header(), claims);
    assert_eq!(read(&provider, &sign(&claims())), Ok(claims()));
    for good in [
        with("aud", json!(["platen"])),
        with("azp", json!("platen")),
        with("exp", json!(945)),
        with("iat", json!(1_055)),
    ] {
        assert!(read(&provider, &sign(&good)).is_ok(), "{good}");
    }
    let mut several = with("aud", json!(["other", "platen"]));
    assert_eq!(read(&provider, &sign(&several)), Err(Refusal::Audience));
    several["azp"] = json!("platen");
    assert!(read(&provider, &sign(&several)).is_ok());
    // Without a name, each key is tried.
    let unnamed = json!({"alg": "ES256"});
    assert!(read(&provider, &provider.sign(&unnamed, &claims())).is_ok());
}

#[test]
fn every_other_token_is_refused() {
    let provider = Provider::new();
    for (claims, refusal) in [
        (with("iss", json!("https://evil.example")), Refusal::Issuer),
        (with("iss", json!("https://id.example/")), Refusal::Issuer),
        (with("aud", json!("other")), Refusal::Audience),
        (with("aud", json!([])), Refusal::Audience),
        (with("aud", Json::Null), Refusal::Audience),
        (with("azp", json!("other")), Refusal::Audience),
        (with("exp", json!(940)), Refusal::Time),
        (with("exp", json!("1600")), Refusal::Time),
        (with("exp", Json::Null), Refusal::Time),
        (with("iat", json!(1_061)), Refusal::Time),
        (with("nbf", json!(1_061)), Refusal::Time),
        (with("nonce", json!("m")), Refusal::Nonce),
        (with("nonce", Json::Null), Refusal::Nonce),
        (with("sub", json!("")), Refusal::Subject),
        (with("sub", json!(7)), Refusal::Subject),
    ] {
        let token = provider.sign(&header(), &claims);
        assert_eq!(read(&provider, &token), Err(refusal), "{claims}");
    }
    for (header, refusal) in [
        (json!({"alg": "none"}), Refusal::Algorithm),
        (json!({"alg": "HS256", "kid": "1"}), Refusal::Algorithm),
        (json!({"alg": "es256", "kid": "1"}), Refusal::Algorithm),
        (json!({"alg": "ES256", "crit": ["b64"]}), Refusal::Algorithm),
        (json!({"alg": "ES256", "kid": "2"}), Refusal::UnknownKey),
        (json!({"alg": "RS256", "kid": "1"}), Refusal::UnknownKey),
        (json!({}), Refusal::Malformed),
    ] {
        let token = provider.sign(&header, &claims());
        assert_eq!(read(&provider, &token), Err(refusal), "{header}");
    }
    let token = provider.sign(&header(), &claims());
    let other = Provider::new();
    assert_eq!(read(&other, &token), Err(Refusal::Signature));
    let (message, _) = token.rsplit_once('.').unwrap();
    assert_eq!(
        read(&provider, &format!("{message}.")),
        Err(Refusal::Signature)
    );
    let parts: Vec<&str> = token.split('.').collect();
    let changed = encoded(with("sub", json!("eve")).to_string());
    let forged = format!("{}.{changed}.{}", parts[0], parts[2]);
    assert_eq!(read(&provider, &forged), Err(Refusal::Signature));
    let long = "a".repeat(MAX_BYTES + 1);
    for broken in ["", ".", "..", "a.b.c", &long] {
        assert_eq!(
            read(&provider, broken),
            Err(Refusal::Malformed),
            "{broken:.10}"
        );
    }
}

#[test]
fn a_signature_of_rsa_is_verified() {
    // RFC 7515, appendix A.2: a token signed with RS256, and its key.
    let n = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
    let message = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let signature = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
    let key = json!({"kty": "RSA", "n": n, "e": "AQAB"});
    let keys: KeySet = serde_json::from_value(json!({"keys": [key]})).unwrap();
    let expected = Expected {
        issuer: "joe",
        client_id: "platen",
        nonce: "n",
        now: 1_300_000_000,
    };
    // It is for nobody, but the signature and the issuer are right.
    let token = format!("{message}.{signature}");
    assert_eq!(verify(&token, &keys, &expected), Err(Refusal::Audience));
    let wrong = format!("{message}.{}", signature.replacen('c', "d", 1));
    assert_eq!(verify(&wrong, &keys, &expected), Err(Refusal::Signature));
}
