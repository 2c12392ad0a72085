//! Digests, and which signatures are accepted.

use ring::{digest, signature as ring_signature};
use x509_cert::der::oid::ObjectIdentifier;

use crate::{
    der::{DerError, Reader, Value, sequence, tag, value},
    oid,
};

/// A digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digest {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Digest {
    const ALL: [(Self, ObjectIdentifier); 3] = [
        (Self::Sha256, oid::SHA_256),
        (Self::Sha384, oid::SHA_384),
        (Self::Sha512, oid::SHA_512),
    ];

    /// The digest of an object identifier; `None` for SHA-1 and others that prove nothing today.
    pub(crate) fn of_oid(value: Value<'_>) -> Option<Self> {
        let found = Self::ALL.iter().find(|(_, oid)| oid::is(value, *oid));
        found.map(|(digest, _)| *digest)
    }

    /// The digest of the next `AlgorithmIdentifier`.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, DerError> {
        Ok(Self::of_oid(reader.sequence()?.expect(tag::OID)?))
    }

    /// Its `AlgorithmIdentifier`.
    pub(crate) fn identifier(self) -> Vec<u8> {
        let (_, oid) = Self::ALL[self as usize];
        sequence(&[oid::encoded(oid)])
    }

    /// The digest of parts that stand one after another.
    pub(crate) fn of(self, parts: &[&[u8]]) -> Vec<u8> {
        let algorithm = match self {
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
        };
        let mut context = digest::Context::new(algorithm);
        for part in parts {
            context.update(part);
        }
        context.finish().as_ref().to_vec()
    }
}

/// How a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// RSA with PKCS #1 v1.5 and SHA-256.
    RsaSha256,
    /// ECDSA on P-256 with SHA-256.
    EcdsaP256Sha256,
    /// ECDSA on P-384 with SHA-384.
    EcdsaP384Sha384,
}

impl Algorithm {
    /// The digest that it signs.
    #[must_use]
    pub fn digest(self) -> Digest {
        match self {
            Self::RsaSha256 | Self::EcdsaP256Sha256 => Digest::Sha256,
            Self::EcdsaP384Sha384 => Digest::Sha384,
        }
    }

    /// Its `AlgorithmIdentifier`.
    pub(crate) fn identifier(self) -> Vec<u8> {
        let null = value::<&[u8]>(tag::NULL, &[]);
        match self {
            Self::RsaSha256 => sequence(&[oid::encoded(oid::RSA_SHA_256), null]),
            Self::EcdsaP256Sha256 => sequence(&[oid::encoded(oid::ECDSA_SHA_256)]),
            Self::EcdsaP384Sha384 => sequence(&[oid::encoded(oid::ECDSA_SHA_384)]),
        }
    }
}

/// A public key: its kind, and its bits.
pub(crate) struct PublicKey<'a> {
    kind: Kind,
    bits: &'a [u8],
}

#[derive(Clone, Copy)]
enum Kind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

impl<'a> PublicKey<'a> {
    /// Reads a `SubjectPublicKeyInfo`; `None` if signatures of such keys are not known.
    pub(crate) fn read(info: Value<'a>) -> Option<Self> {
        let mut info = info.inside();
        let mut algorithm = info.sequence().ok()?;
        let kind = algorithm.expect(tag::OID).ok()?;
        let bits = info.any().ok()?.bits().ok()?;
        let curve = |oid| (algorithm.peek() == Some(tag::OID)).then_some(oid);
        let kind = if oid::is(kind, oid::RSA) || oid::is(kind, oid::RSA_PSS) {
            Kind::Rsa
        } else if oid::is(kind, oid::EC) {
            let mut rest = algorithm;
            let named = rest.any().ok()?;
            match () {
                () if oid::is(named, curve(oid::P_256)?) => Kind::P256,
                () if oid::is(named, curve(oid::P_384)?) => Kind::P384,
                () => return None,
            }
        } else if oid::is(kind, oid::ED25519) {
            Kind::Ed25519
        } else {
            return None;
        };
        Some(Self { kind, bits })
    }

    /// Whether `signature` is one of this key over `message`. `algorithm` is an
    /// `AlgorithmIdentifier`; where it names the key only, `digest` is what was signed.
    pub(crate) fn verifies(
        &self,
        algorithm: Value<'_>,
        digest: Option<Digest>,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let Some(chosen) = self.chosen(algorithm, digest) else {
            return false;
        };
        ring_signature::UnparsedPublicKey::new(chosen, self.bits)
            .verify(message, signature)
            .is_ok()
    }

    fn chosen(
        &self,
        algorithm: Value<'_>,
        digest: Option<Digest>,
    ) -> Option<&'static dyn ring_signature::VerificationAlgorithm> {
        let mut parts = algorithm.inside();
        let name = parts.expect(tag::OID).ok()?;
        let named = |wanted| oid::is(name, wanted);
        let digest = if named(oid::RSA_SHA_256) || named(oid::ECDSA_SHA_256) {
            Some(Digest::Sha256)
        } else if named(oid::RSA_SHA_384) || named(oid::ECDSA_SHA_384) {
            Some(Digest::Sha384)
        } else if named(oid::RSA_SHA_512) {
            Some(Digest::Sha512)
        } else if named(oid::RSA) || named(oid::EC) {
            digest
        } else if named(oid::RSA_PSS) {
            pss_digest(&mut parts)
        } else {
            None
        };
        Some(match (self.kind, digest) {
            (Kind::Rsa, Some(digest)) => rsa(named(oid::RSA_PSS), digest),
            (Kind::P256, Some(Digest::Sha256)) => &ring_signature::ECDSA_P256_SHA256_ASN1,
            (Kind::P256, Some(Digest::Sha384)) => &ring_signature::ECDSA_P256_SHA384_ASN1,
            (Kind::P384, Some(Digest::Sha256)) => &ring_signature::ECDSA_P384_SHA256_ASN1,
            (Kind::P384, Some(Digest::Sha384)) => &ring_signature::ECDSA_P384_SHA384_ASN1,
            (Kind::Ed25519, _) if named(oid::ED25519) => &ring_signature::ED25519,
            _ => return None,
        })
    }
}

fn rsa(is_pss: bool, digest: Digest) -> &'static dyn ring_signature::VerificationAlgorithm {
    match (is_pss, digest) {
        (false, Digest::Sha256) => &ring_signature::RSA_PKCS1_2048_8192_SHA256,
        (false, Digest::Sha384) => &ring_signature::RSA_PKCS1_2048_8192_SHA384,
        (false, Digest::Sha512) => &ring_signature::RSA_PKCS1_2048_8192_SHA512,
        (true, Digest::Sha256) => &ring_signature::RSA_PSS_2048_8192_SHA256,
        (true, Digest::Sha384) => &ring_signature::RSA_PSS_2048_8192_SHA384,
        (true, Digest::Sha512) => &ring_signature::RSA_PSS_2048_8192_SHA512,
    }
}

/// The digest of `RSASSA-PSS-params` (RFC 4055). Without parameters it is SHA-1, which proves
/// nothing today.
fn pss_digest(parameters: &mut Reader<'_>) -> Option<Digest> {
    let mut parameters = parameters.sequence().ok()?;
    let mut hash = parameters.expect(tag::CONTEXT).ok()?.inside();
    Digest::read(&mut hash).ok()?
}
