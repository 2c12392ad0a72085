//! Object identifiers.

use x509_cert::der::oid::ObjectIdentifier;

use crate::der::{tag, value};

const fn oid(text: &str) -> ObjectIdentifier {
    ObjectIdentifier::new_unwrap(text)
}

/// Content types and attributes of CMS (RFC 5652, RFC 5035, RFC 3161).
pub(crate) const DATA: ObjectIdentifier = oid("1.2.840.113549.1.7.1");
pub(crate) const SIGNED_DATA: ObjectIdentifier = oid("1.2.840.113549.1.7.2");
pub(crate) const ENCRYPTED_DATA: ObjectIdentifier = oid("1.2.840.113549.1.7.6");
pub(crate) const CONTENT_TYPE: ObjectIdentifier = oid("1.2.840.113549.1.9.3");
pub(crate) const MESSAGE_DIGEST: ObjectIdentifier = oid("1.2.840.113549.1.9.4");
pub(crate) const SIGNING_CERTIFICATE: ObjectIdentifier = oid("1.2.840.113549.1.9.16.2.12");
pub(crate) const SIGNING_CERTIFICATE_V2: ObjectIdentifier = oid("1.2.840.113549.1.9.16.2.47");
pub(crate) const TIMESTAMP_TOKEN: ObjectIdentifier = oid("1.2.840.113549.1.9.16.2.14");
pub(crate) const TST_INFO: ObjectIdentifier = oid("1.2.840.113549.1.9.16.1.4");

/// Digests.
pub(crate) const SHA_1: ObjectIdentifier = oid("1.3.14.3.2.26");
pub(crate) const SHA_256: ObjectIdentifier = oid("2.16.840.1.101.3.4.2.1");
pub(crate) const SHA_384: ObjectIdentifier = oid("2.16.840.1.101.3.4.2.2");
pub(crate) const SHA_512: ObjectIdentifier = oid("2.16.840.1.101.3.4.2.3");

/// Keys and signatures.
pub(crate) const RSA: ObjectIdentifier = oid("1.2.840.113549.1.1.1");
pub(crate) const RSA_PSS: ObjectIdentifier = oid("1.2.840.113549.1.1.10");
pub(crate) const RSA_SHA_256: ObjectIdentifier = oid("1.2.840.113549.1.1.11");
pub(crate) const RSA_SHA_384: ObjectIdentifier = oid("1.2.840.113549.1.1.12");
pub(crate) const RSA_SHA_512: ObjectIdentifier = oid("1.2.840.113549.1.1.13");
pub(crate) const EC: ObjectIdentifier = oid("1.2.840.10045.2.1");
pub(crate) const P_256: ObjectIdentifier = oid("1.2.840.10045.3.1.7");
pub(crate) const P_384: ObjectIdentifier = oid("1.3.132.0.34");
pub(crate) const ECDSA_SHA_256: ObjectIdentifier = oid("1.2.840.10045.4.3.2");
pub(crate) const ECDSA_SHA_384: ObjectIdentifier = oid("1.2.840.10045.4.3.3");
pub(crate) const ED25519: ObjectIdentifier = oid("1.3.101.112");

/// Extensions and purposes of certificates (RFC 5280, RFC 6960).
pub(crate) const BASIC_CONSTRAINTS: ObjectIdentifier = oid("2.5.29.19");
pub(crate) const KEY_USAGE: ObjectIdentifier = oid("2.5.29.15");
pub(crate) const EXTENDED_KEY_USAGE: ObjectIdentifier = oid("2.5.29.37");
pub(crate) const CERTIFICATE_POLICIES: ObjectIdentifier = oid("2.5.29.32");
pub(crate) const ISSUING_DISTRIBUTION_POINT: ObjectIdentifier = oid("2.5.29.28");
pub(crate) const DELTA_LIST: ObjectIdentifier = oid("2.5.29.27");
pub(crate) const SUBJECT_ALT_NAME: ObjectIdentifier = oid("2.5.29.17");
pub(crate) const TIME_STAMPING: ObjectIdentifier = oid("1.3.6.1.5.5.7.3.8");
pub(crate) const OCSP_SIGNING: ObjectIdentifier = oid("1.3.6.1.5.5.7.3.9");
pub(crate) const OCSP: ObjectIdentifier = oid("1.3.6.1.5.5.7.48.1");
pub(crate) const OCSP_BASIC: ObjectIdentifier = oid("1.3.6.1.5.5.7.48.1.1");
pub(crate) const CA_ISSUERS: ObjectIdentifier = oid("1.3.6.1.5.5.7.48.2");

/// Containers of keys (RFC 7292, RFC 8018).
pub(crate) const KEY_BAG: ObjectIdentifier = oid("1.2.840.113549.1.12.10.1.1");
pub(crate) const SHROUDED_KEY_BAG: ObjectIdentifier = oid("1.2.840.113549.1.12.10.1.2");
pub(crate) const CERTIFICATE_BAG: ObjectIdentifier = oid("1.2.840.113549.1.12.10.1.3");
pub(crate) const X509_CERTIFICATE: ObjectIdentifier = oid("1.2.840.113549.1.9.22.1");
pub(crate) const PBES2: ObjectIdentifier = oid("1.2.840.113549.1.5.13");
pub(crate) const PBKDF2: ObjectIdentifier = oid("1.2.840.113549.1.5.12");
pub(crate) const HMAC_SHA_256: ObjectIdentifier = oid("1.2.840.113549.2.9");
pub(crate) const AES_128_CBC: ObjectIdentifier = oid("2.16.840.1.101.3.4.1.2");
pub(crate) const AES_256_CBC: ObjectIdentifier = oid("2.16.840.1.101.3.4.1.42");

/// An object identifier in DER.
pub(crate) fn encoded(oid: ObjectIdentifier) -> Vec<u8> {
    value(tag::OID, &[oid.as_bytes()])
}

/// Whether a value is this object identifier.
pub(crate) fn is(value: crate::der::Value<'_>, oid: ObjectIdentifier) -> bool {
    value.tag == tag::OID && value.content == oid.as_bytes()
}
