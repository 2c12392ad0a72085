//! Keys that sign: from files, or wherever an implementation of [`Signer`] finds them.

use std::fmt;

use ring::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair,
        RSA_PKCS1_SHA256, RsaKeyPair,
    },
};

use crate::{
    Algorithm, Certificate, Error,
    der::{Reader, tag},
    oid, pem, pkcs12,
};

/// Maximum number of certificates that come with a key.
const MAX_CERTIFICATES: usize = 20;

/// Whatever holds a key: a file, a module, a service.
pub trait Signer: Send + Sync {
    /// The certificate of the key, then those that issued it.
    fn certificates(&self) -> &[Certificate];

    /// How it signs.
    fn algorithm(&self) -> Algorithm;

    /// The signature of `message`, in the form that CMS has: PKCS #1 for RSA, DER for ECDSA.
    ///
    /// # Errors
    /// What went wrong, for people.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String>;
}

/// A key from a file.
pub struct KeyFile {
    certificates: Vec<Certificate>,
    pair: Pair,
}

enum Pair {
    Rsa(Box<RsaKeyPair>),
    Ecdsa(Algorithm, Box<EcdsaKeyPair>),
}

impl fmt::Debug for KeyFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("KeyFile")
            .field("certificates", &self.certificates)
            .finish_non_exhaustive()
    }
}

fn bad<T>(problem: impl Into<String>) -> Result<T, Error> {
    Err(Error::BadKey(problem.into()))
}

impl KeyFile {
    /// Reads a key with its certificates: PEM, or PKCS #12, which needs `password`.
    ///
    /// # Errors
    /// It is neither, the password is wrong, there is no key or no certificate of it, or its kind
    /// is not known.
    pub fn read(bytes: &[u8], password: Option<&str>) -> Result<Self, Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) if text.contains("-----BEGIN ") => Self::from_pem(text),
            _ => {
                let (key, certificates) =
                    pkcs12::open(bytes, password.unwrap_or_default()).map_err(Error::BadKey)?;
                Self::of(&key, certificates)
            }
        }
    }

    fn from_pem(text: &str) -> Result<Self, Error> {
        let Some(blocks) = pem::blocks(text) else {
            return bad("cannot be read: a block of its PEM is broken");
        };
        let mut key = None;
        let mut certificates = Vec::new();
        for block in blocks {
            match block.label.as_str() {
                "PRIVATE KEY" | "RSA PRIVATE KEY" => key = Some(block.der),
                "EC PRIVATE KEY" => {
                    return bad(
                        "is in the old form of OpenSSL; write it anew: openssl pkcs8 -topk8 \
                         -nodes -in OLD -out NEW",
                    );
                }
                "ENCRYPTED PRIVATE KEY" => {
                    return bad(
                        "is encrypted PEM; put key and certificates in a PKCS #12 file: openssl \
                         pkcs12 -export -inkey KEY -in CERTIFICATES -out FILE",
                    );
                }
                "CERTIFICATE" => match Certificate::from_der(&block.der) {
                    Some(one) => certificates.push(one),
                    None => return bad("has a certificate that cannot be read"),
                },
                _ => {}
            }
        }
        match key {
            Some(key) => Self::of(&key, certificates),
            None => bad("is missing: the file has no block PRIVATE KEY"),
        }
    }

    /// The key of a `PrivateKeyInfo` or an `RSAPrivateKey`, with its certificate first.
    fn of(key: &[u8], mut certificates: Vec<Certificate>) -> Result<Self, Error> {
        if certificates.len() > MAX_CERTIFICATES {
            return bad(format!("has more than {MAX_CERTIFICATES} certificates"));
        }
        let pair = Pair::read(key)?;
        let is_own = |one: &Certificate| one.key_info().content.ends_with(pair.public_key());
        let Some(own) = certificates.iter().position(is_own) else {
            return bad("has no certificate: none in the file is that of its public key");
        };
        let own = certificates.remove(own);
        certificates.insert(0, own);
        Ok(Self { certificates, pair })
    }
}

impl Pair {
    fn read(key: &[u8]) -> Result<Self, Error> {
        let unusable = |problem: &dyn fmt::Display| {
            let message = format!("cannot be used: {problem}; RSA keys have 2048 to 8192 bits");
            Error::BadKey(message)
        };
        let Some(kind) = Kind::of(key) else {
            return bad("is none that can be used: it is RSA, or ECDSA on P-256 or P-384");
        };
        let random = SystemRandom::new();
        let ecdsa = |algorithm, way| {
            let pair = EcdsaKeyPair::from_pkcs8(way, key, &random);
            pair.map(|pair| Self::Ecdsa(algorithm, Box::new(pair)))
                .map_err(|error| Error::BadKey(format!("cannot be used: {error}")))
        };
        match kind {
            Kind::BareRsa => RsaKeyPair::from_der(key)
                .map(|pair| Self::Rsa(Box::new(pair)))
                .map_err(|error| unusable(&error)),
            Kind::Rsa => RsaKeyPair::from_pkcs8(key)
                .map(|pair| Self::Rsa(Box::new(pair)))
                .map_err(|error| unusable(&error)),
            Kind::P256 => ecdsa(Algorithm::EcdsaP256Sha256, &ECDSA_P256_SHA256_ASN1_SIGNING),
            Kind::P384 => ecdsa(Algorithm::EcdsaP384Sha384, &ECDSA_P384_SHA384_ASN1_SIGNING),
        }
    }

    /// The bits with which the public key of its certificate ends.
    fn public_key(&self) -> &[u8] {
        use ring::signature::KeyPair;
        match self {
            Self::Rsa(pair) => pair.public_key().as_ref(),
            Self::Ecdsa(_, pair) => pair.public_key().as_ref(),
        }
    }
}

enum Kind {
    BareRsa,
    Rsa,
    P256,
    P384,
}

impl Kind {
    fn of(key: &[u8]) -> Option<Self> {
        let mut fields = Reader::new(key).sequence().ok()?;
        fields.expect(tag::INTEGER).ok()?;
        if fields.peek() == Some(tag::INTEGER) {
            return Some(Self::BareRsa);
        }
        let mut algorithm = fields.sequence().ok()?;
        let name = algorithm.expect(tag::OID).ok()?;
        if oid::is(name, oid::RSA) {
            return Some(Self::Rsa);
        }
        let curve = algorithm.expect(tag::OID).ok()?;
        match oid::is(name, oid::EC) {
            true if oid::is(curve, oid::P_256) => Some(Self::P256),
            true if oid::is(curve, oid::P_384) => Some(Self::P384),
            _ => None,
        }
    }
}

impl Signer for KeyFile {
    fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }

    fn algorithm(&self) -> Algorithm {
        match &self.pair {
            Pair::Rsa(_) => Algorithm::RsaSha256,
            Pair::Ecdsa(algorithm, _) => *algorithm,
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        let random = SystemRandom::new();
        let failed = |_| "the key refused".to_owned();
        match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .map_err(failed)?;
                Ok(signature)
            }
            Pair::Ecdsa(_, pair) => {
                let signature = pair.sign(&random, message).map_err(failed)?;
                Ok(signature.as_ref().to_vec())
            }
        }
    }
}
