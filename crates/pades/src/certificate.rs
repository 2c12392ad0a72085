//! Certificates (RFC 5280).

use std::fmt;

use x509_cert::{
    Certificate as Parsed,
    der::{
        Decode,
        oid::{AssociatedOid, ObjectIdentifier},
    },
    ext::{
        Extension,
        pkix::{
            AuthorityInfoAccessSyntax, BasicConstraints, CrlDistributionPoints, ExtendedKeyUsage,
            KeyUsage, SubjectKeyIdentifier,
            name::{DistributionPointName, GeneralName},
        },
    },
};

use crate::{
    algorithm::PublicKey,
    der::{DerError, Reader, Value, tag},
    oid,
};

/// Maximum size of a certificate, in bytes.
const MAX_BYTES: usize = 64 << 10;
/// Critical extensions that [`crate::chain`] looks at, or that restrict nothing here.
const KNOWN: [ObjectIdentifier; 5] = [
    oid::BASIC_CONSTRAINTS,
    oid::KEY_USAGE,
    oid::EXTENDED_KEY_USAGE,
    oid::CERTIFICATE_POLICIES,
    oid::SUBJECT_ALT_NAME,
];

/// A certificate.
#[derive(Clone)]
pub struct Certificate {
    der: Vec<u8>,
    parsed: Parsed,
}

impl PartialEq for Certificate {
    fn eq(&self, other: &Self) -> bool {
        self.der == other.der
    }
}

impl Eq for Certificate {}

impl fmt::Debug for Certificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Certificate")
            .field(&self.subject())
            .finish()
    }
}

/// The fields of a certificate that are compared byte for byte.
struct Raw<'a> {
    signed: &'a [u8],
    serial: &'a [u8],
    issuer: &'a [u8],
    subject: &'a [u8],
    key: Value<'a>,
    algorithm: Value<'a>,
    signature: &'a [u8],
}

impl Certificate {
    /// Reads one in DER; `None` if it is none.
    #[must_use]
    pub fn from_der(der: &[u8]) -> Option<Self> {
        if der.len() > MAX_BYTES {
            return None;
        }
        let parsed = Parsed::from_der(der).ok()?;
        let made = Self {
            der: der.to_vec(),
            parsed,
        };
        made.try_raw().ok()?;
        Some(made)
    }

    /// Reads all in a PEM file, in their order.
    #[must_use]
    pub fn from_pem(text: &str) -> Option<Vec<Self>> {
        let found = crate::pem::blocks(text)?;
        let found = found.iter().filter(|block| block.label == "CERTIFICATE");
        found.map(|block| Self::from_der(&block.der)).collect()
    }

    /// Its bytes.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    fn try_raw(&self) -> Result<Raw<'_>, DerError> {
        let mut outer = Reader::new(&self.der).sequence()?;
        let signed = outer.expect(tag::SEQUENCE)?;
        let algorithm = outer.expect(tag::SEQUENCE)?;
        let signature = outer.any()?.bits()?;
        let mut fields = signed.inside();
        fields.optional(tag::CONTEXT)?;
        let serial = fields.expect(tag::INTEGER)?.content;
        fields.expect(tag::SEQUENCE)?;
        let issuer = fields.expect(tag::SEQUENCE)?.whole;
        fields.expect(tag::SEQUENCE)?;
        let subject = fields.expect(tag::SEQUENCE)?.whole;
        let key = fields.expect(tag::SEQUENCE)?;
        Ok(Raw {
            signed: signed.whole,
            serial,
            issuer,
            subject,
            key,
            algorithm,
            signature,
        })
    }

    fn raw(&self) -> Raw<'_> {
        self.try_raw().expect("read once when it was made")
    }

    /// Its serial number: the content of an integer.
    pub(crate) fn serial(&self) -> &[u8] {
        self.raw().serial
    }

    /// The name of its issuer, in DER.
    pub(crate) fn issuer_der(&self) -> &[u8] {
        self.raw().issuer
    }

    /// The name of its owner, in DER.
    pub(crate) fn subject_der(&self) -> &[u8] {
        self.raw().subject
    }

    /// Its key, as a `SubjectPublicKeyInfo`.
    pub(crate) fn key_info(&self) -> Value<'_> {
        self.raw().key
    }

    /// Its key, where signatures of such keys are known.
    pub(crate) fn key(&self) -> Option<PublicKey<'_>> {
        PublicKey::read(self.raw().key)
    }

    /// The name of its owner, as people write it.
    #[must_use]
    pub fn subject(&self) -> String {
        self.parsed.tbs_certificate().subject().to_string()
    }

    /// The name of its issuer, as people write it.
    #[must_use]
    pub fn issuer(&self) -> String {
        self.parsed.tbs_certificate().issuer().to_string()
    }

    /// What its owner is called: the common name, or the whole name without one.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.parsed.tbs_certificate().subject();
        match name.common_name() {
            Ok(Some(name)) => name.value().into_owned(),
            _ => name.to_string(),
        }
    }

    /// Its serial number, in hexadecimal digits.
    #[must_use]
    pub fn serial_text(&self) -> String {
        self.serial().iter().map(|it| format!("{it:02x}")).collect()
    }

    /// From when and until when it is valid, in seconds since 1970.
    #[must_use]
    pub fn validity(&self) -> (i64, i64) {
        let validity = self.parsed.tbs_certificate().validity();
        let seconds = |time: x509_cert::time::Time| {
            i64::try_from(time.to_unix_duration().as_secs()).unwrap_or(i64::MAX)
        };
        (seconds(validity.not_before), seconds(validity.not_after))
    }

    /// Whether it is issued by the key of `issuer`.
    pub(crate) fn is_issued_by(&self, issuer: &Self) -> bool {
        let raw = self.raw();
        raw.issuer == issuer.raw().subject
            && issuer
                .key()
                .is_some_and(|key| key.verifies(raw.algorithm, None, raw.signed, raw.signature))
    }

    pub(crate) fn is_self_issued(&self) -> bool {
        let raw = self.raw();
        raw.issuer == raw.subject
    }

    fn extensions(&self) -> &[Extension] {
        let found = self.parsed.tbs_certificate().extensions();
        found.map_or(&[], Vec::as_slice)
    }

    fn extension<T: for<'a> Decode<'a>>(&self, oid: ObjectIdentifier) -> Option<Option<T>> {
        let found = self.extensions().iter().find(|it| it.extn_id == oid)?;
        Some(T::from_der(found.extn_value.as_bytes()).ok())
    }

    /// A critical extension that nothing is known of, so that nothing can be said of the
    /// certificate (RFC 5280, 4.2).
    pub(crate) fn unknown_extension(&self) -> Option<String> {
        let mut all = self.extensions().iter();
        let found = all.find(|it| it.critical && !KNOWN.contains(&it.extn_id))?;
        Some(found.extn_id.to_string())
    }

    /// Whether it may issue certificates, with so many authorities between it and the signer.
    pub(crate) fn is_authority(&self, between: usize) -> bool {
        let Some(Some(constraints)) = self.extension::<BasicConstraints>(oid::BASIC_CONSTRAINTS)
        else {
            return false;
        };
        let within = |most| between <= usize::from(most);
        constraints.ca
            && constraints.path_len_constraint.is_none_or(within)
            && match self.extension::<KeyUsage>(oid::KEY_USAGE) {
                None => true,
                Some(usage) => usage.is_some_and(|usage| usage.key_cert_sign()),
            }
    }

    /// Whether its key may sign documents, timestamps and answers.
    pub(crate) fn may_sign(&self) -> bool {
        match self.extension::<KeyUsage>(oid::KEY_USAGE) {
            None => true,
            Some(usage) => {
                usage.is_some_and(|usage| usage.digital_signature() || usage.non_repudiation())
            }
        }
    }

    /// Whether its key may sign lists of revoked certificates.
    pub(crate) fn may_revoke(&self) -> bool {
        match self.extension::<KeyUsage>(oid::KEY_USAGE) {
            None => true,
            Some(usage) => usage.is_some_and(|usage| usage.crl_sign()),
        }
    }

    /// Whether it says that its key is for this purpose.
    pub(crate) fn is_for(&self, purpose: ObjectIdentifier) -> bool {
        let usage = self.extension::<ExtendedKeyUsage>(oid::EXTENDED_KEY_USAGE);
        usage
            .flatten()
            .is_some_and(|usage| usage.0.contains(&purpose))
    }

    /// The identifier of its key, where it has one.
    pub(crate) fn key_identifier(&self) -> Option<Vec<u8>> {
        let found = self.extension::<SubjectKeyIdentifier>(SubjectKeyIdentifier::OID);
        Some(found??.0.as_bytes().to_vec())
    }

    /// Addresses of this kind: of OCSP, or of the certificate of the issuer.
    pub(crate) fn access(&self, method: ObjectIdentifier) -> Vec<String> {
        let name = AuthorityInfoAccessSyntax::OID;
        let found = self.extension::<AuthorityInfoAccessSyntax>(name).flatten();
        let found = found.map_or(Vec::new(), |access| access.0);
        (found.into_iter())
            .filter(|access| access.access_method == method)
            .filter_map(|access| web_address(&access.access_location))
            .collect()
    }

    /// Addresses of lists of revoked certificates.
    pub(crate) fn lists(&self) -> Vec<String> {
        let name = CrlDistributionPoints::OID;
        let found = self.extension::<CrlDistributionPoints>(name).flatten();
        let points = found.map_or(Vec::new(), |points| points.0);
        let mut addresses = Vec::new();
        for point in points {
            if let Some(DistributionPointName::FullName(names)) = point.distribution_point {
                addresses.extend(names.iter().filter_map(web_address));
            }
        }
        addresses
    }
}

fn web_address(name: &GeneralName) -> Option<String> {
    match name {
        GeneralName::UniformResourceIdentifier(address) => {
            let address = address.as_str();
            let is_web = address.starts_with("http://") || address.starts_with("https://");
            is_web.then(|| address.to_owned())
        }
        _ => None,
    }
}
