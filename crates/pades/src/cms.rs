//! Signatures in CMS (RFC 5652), as PAdES has them (ETSI EN 319 142-1): detached, over the digest of
//! the file, with the certificate that signed named in what is signed.

use x509_cert::der::oid::ObjectIdentifier;

use crate::{
    Certificate, Error, Signer,
    algorithm::Digest,
    der::{self, DerError, Reader, Value, integer, sequence, set, tag, value},
    oid,
};

/// Maximum number of certificates in a signature.
const MAX_CERTIFICATES: usize = 100;

/// A signature as it is made.
pub(crate) struct NewSignedData {
    signed_attributes: Vec<u8>,
    signature: Vec<u8>,
}

impl NewSignedData {
    /// Signs the digest of a file.
    pub(crate) fn sign(signer: &dyn Signer, digest: &[u8]) -> Result<Self, Error> {
        let certificate = own(signer)?;
        let hash = signer.algorithm().digest();
        let mut ess = vec![];
        if hash != Digest::Sha256 {
            ess.push(hash.identifier());
        }
        ess.push(value(tag::OCTET_STRING, &[hash.of(&[certificate.der()])]));
        let named = sequence(&[sequence(&[sequence(&ess)])]);
        let attributes = set(vec![
            attribute(oid::CONTENT_TYPE, &oid::encoded(oid::DATA)),
            attribute(oid::MESSAGE_DIGEST, &value(tag::OCTET_STRING, &[digest])),
            attribute(oid::SIGNING_CERTIFICATE_V2, &named),
        ]);
        let signature = signer.sign(&attributes).map_err(Error::NotSigned)?;
        let algorithm = signer.algorithm().identifier();
        let signs = certificate.key().is_some_and(|key| {
            der::only(&algorithm)
                .is_ok_and(|algorithm| key.verifies(algorithm, None, &attributes, &signature))
        });
        if !signs {
            let message = "its signature is not that of its certificate".to_owned();
            return Err(Error::NotSigned(message));
        }
        Ok(Self {
            signed_attributes: attributes,
            signature,
        })
    }

    /// The bytes that a timestamp is for.
    pub(crate) fn signature(&self) -> &[u8] {
        &self.signature
    }

    /// The `ContentInfo`, with a timestamp of the signature if there is one.
    pub(crate) fn finish(
        &self,
        signer: &dyn Signer,
        timestamp: Option<&[u8]>,
    ) -> Result<Vec<u8>, Error> {
        let certificate = own(signer)?;
        let hash = signer.algorithm().digest().identifier();
        let serial = value(tag::INTEGER, &[certificate.serial()]);
        let mut attributes = self.signed_attributes.clone();
        // Signed as a set, written as `[0]` (RFC 5652, 5.4).
        attributes[0] = tag::CONTEXT;
        let mut info = vec![
            integer(&[1]),
            sequence(&[certificate.issuer_der(), &serial]),
            hash.clone(),
            attributes,
            signer.algorithm().identifier(),
            value(tag::OCTET_STRING, &[&self.signature]),
        ];
        if let Some(token) = timestamp {
            let attribute = attribute(oid::TIMESTAMP_TOKEN, token);
            info.push(value(tag::CONTEXT + 1, &[attribute]));
        }
        let mut certificates: Vec<Vec<u8>> = (signer.certificates().iter())
            .map(|one| one.der().to_vec())
            .collect();
        certificates.sort();
        certificates.dedup();
        let data = sequence(&[
            integer(&[1]),
            set(vec![hash]),
            sequence(&[oid::encoded(oid::DATA)]),
            value(tag::CONTEXT, &certificates),
            set(vec![sequence(&info)]),
        ]);
        Ok(sequence(&[
            oid::encoded(oid::SIGNED_DATA),
            value(tag::CONTEXT, &[data]),
        ]))
    }
}

fn own(signer: &dyn Signer) -> Result<&Certificate, Error> {
    signer
        .certificates()
        .first()
        .ok_or_else(|| Error::BadKey("has no certificate".to_owned()))
}

fn attribute(name: ObjectIdentifier, content: &[u8]) -> Vec<u8> {
    sequence(&[oid::encoded(name), set(vec![content.to_vec()])])
}

/// A signature as it is read.
pub(crate) struct SignedData<'a> {
    /// What is signed inside of it, such as a `TSTInfo`; `None` if it is detached.
    pub(crate) content: Option<&'a [u8]>,
    pub(crate) content_type: Value<'a>,
    pub(crate) certificates: Vec<Certificate>,
    signer: SignerInfo<'a>,
}

struct SignerInfo<'a> {
    id: Value<'a>,
    digest: Option<Digest>,
    /// The signed attributes: with their tag, and each.
    attributes: Option<Value<'a>>,
    algorithm: Value<'a>,
    signature: &'a [u8],
    unsigned: Option<Value<'a>>,
}

impl<'a> SignedData<'a> {
    /// Reads a `ContentInfo` with one signature.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, DerError> {
        let mut info = der::only(bytes)?.inside();
        if !oid::is(info.expect(tag::OID)?, oid::SIGNED_DATA) {
            return Err(DerError);
        }
        let mut data = info.expect(tag::CONTEXT)?.inside().sequence()?;
        data.expect(tag::INTEGER)?;
        data.expect(tag::SET)?;
        let mut content = data.sequence()?;
        let content_type = content.expect(tag::OID)?;
        let content = match content.optional(tag::CONTEXT)? {
            Some(inside) => Some(inside.inside().expect(tag::OCTET_STRING)?.content),
            None => None,
        };
        let mut certificates = Vec::new();
        if let Some(list) = data.optional(tag::CONTEXT)? {
            let mut list = list.inside();
            while !list.is_empty() {
                if certificates.len() == MAX_CERTIFICATES {
                    return Err(DerError);
                }
                // Other kinds of certificates are nothing that a signature needs.
                certificates.extend(Certificate::from_der(list.any()?.whole));
            }
        }
        data.optional(tag::CONTEXT + 1)?;
        let mut signers = data.expect(tag::SET)?.inside();
        let signer = SignerInfo::read(signers.sequence()?)?;
        match signers.is_empty() {
            true => Ok(Self {
                content,
                content_type,
                certificates,
                signer,
            }),
            // PAdES has one signer in each (EN 319 142-1, 4.1).
            false => Err(DerError),
        }
    }

    /// The digest with which it is made; `None` if that proves nothing today.
    pub(crate) fn digest(&self) -> Option<Digest> {
        self.signer.digest
    }

    /// The certificate that it names as its signer's.
    pub(crate) fn certificate(&self) -> Option<&Certificate> {
        let mut all = self.certificates.iter();
        let id = self.signer.id;
        if id.tag == tag::CONTEXT_PRIMITIVE {
            return all.find(|it| it.key_identifier().as_deref() == Some(id.content));
        }
        let mut id = id.inside();
        let issuer = id.any().ok()?;
        let serial = id.expect(tag::INTEGER).ok()?;
        all.find(|it| it.issuer_der() == issuer.whole && it.serial() == serial.content)
    }

    /// Whether the signature is that of `certificate` over a document of this digest.
    pub(crate) fn holds(
        &self,
        certificate: &Certificate,
        digest: &[u8],
    ) -> Result<(), &'static str> {
        let signer = &self.signer;
        let key = certificate
            .key()
            .ok_or("the kind of its key is not known")?;
        let Some(attributes) = signer.attributes else {
            return Err("it has no signed attributes");
        };
        let signed = signed_attribute(attributes, oid::MESSAGE_DIGEST)
            .and_then(|mut it| it.expect(tag::OCTET_STRING).ok());
        if signed.is_none_or(|signed| signed.content != digest) {
            return Err("what it signs was changed");
        }
        let kind = signed_attribute(attributes, oid::CONTENT_TYPE)
            .and_then(|mut it| it.expect(tag::OID).ok());
        if kind.is_none_or(|kind| kind.content != self.content_type.content) {
            return Err("it does not say what it signs");
        }
        if !self.names(attributes, certificate) {
            return Err("it does not name its certificate");
        }
        let mut message = attributes.whole.to_vec();
        message[0] = tag::SET;
        match key.verifies(signer.algorithm, signer.digest, &message, signer.signature) {
            true => Ok(()),
            false => Err("it is not the signature of its certificate"),
        }
    }

    /// Whether the signed attributes name the certificate, where they name one (RFC 5035). Old
    /// signatures and timestamps name it by SHA-1, which is not looked at.
    fn names(&self, attributes: Value<'_>, certificate: &Certificate) -> bool {
        let Some(named) = signed_attribute(attributes, oid::SIGNING_CERTIFICATE_V2) else {
            return true;
        };
        let first = || {
            let mut named = { named }.sequence()?.sequence()?.sequence()?;
            let digest = match named.peek() == Some(tag::SEQUENCE) {
                true => Digest::read(&mut named)?,
                false => Some(Digest::Sha256),
            };
            Ok::<_, DerError>((digest, named.expect(tag::OCTET_STRING)?.content))
        };
        first().is_ok_and(|(digest, expected)| {
            digest.is_some_and(|digest| digest.of(&[certificate.der()]) == expected)
        })
    }

    /// Whether it names its certificate in what is signed, as PAdES asks for.
    pub(crate) fn is_cades(&self) -> bool {
        self.signer.attributes.is_some_and(|attributes| {
            signed_attribute(attributes, oid::SIGNING_CERTIFICATE_V2).is_some()
                || signed_attribute(attributes, oid::SIGNING_CERTIFICATE).is_some()
        })
    }

    /// The bytes that a timestamp of it is for.
    pub(crate) fn signature(&self) -> &'a [u8] {
        self.signer.signature
    }

    /// The timestamp of the signature.
    pub(crate) fn timestamp(&self) -> Option<&'a [u8]> {
        let mut found = signed_attribute(self.signer.unsigned?, oid::TIMESTAMP_TOKEN)?;
        found.any().ok().map(|token| token.whole)
    }
}

impl<'a> SignerInfo<'a> {
    fn read(mut info: Reader<'a>) -> Result<Self, DerError> {
        info.expect(tag::INTEGER)?;
        Ok(Self {
            id: info.any()?,
            digest: Digest::read(&mut info)?,
            attributes: info.optional(tag::CONTEXT)?,
            algorithm: info.expect(tag::SEQUENCE)?,
            signature: info.expect(tag::OCTET_STRING)?.content,
            unsigned: info.optional(tag::CONTEXT + 1)?,
        })
    }
}

/// The values of an attribute; `None` if it is missing, or there twice.
fn signed_attribute(attributes: Value<'_>, name: ObjectIdentifier) -> Option<Reader<'_>> {
    let mut all = attributes.inside();
    let mut found = None;
    while !all.is_empty() {
        let mut attribute = all.sequence().ok()?;
        if oid::is(attribute.expect(tag::OID).ok()?, name) {
            if found.is_some() {
                return None;
            }
            found = Some(attribute.expect(tag::SET).ok()?.inside());
        }
    }
    found
}
