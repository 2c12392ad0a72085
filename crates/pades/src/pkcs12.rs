//! Keys in PKCS #12 files (RFC 7292), as OpenSSL 3, Java and Windows write them today: PBES2 with
//! AES, and a MAC with SHA-256. Files with the ciphers of the 1990s are refused with what to do.

use std::num::NonZeroU32;

use aes::cipher::{BlockModeDecrypt, KeyIvInit, block_padding::Pkcs7};
use ring::{digest, hmac, pbkdf2};

use crate::{
    Certificate,
    der::{DerError, Reader, Value, only, tag},
    oid,
};

/// Maximum number of rounds of a password, which take a second at most.
const MAX_ROUNDS: u32 = 1_000_000;
/// Size of a block of SHA-256, in bytes.
const BLOCK: usize = 64;

const BROKEN: &str = "cannot be read: it is neither PEM nor PKCS #12";
const OLD: &str = "is in a PKCS #12 file with old encryption; write it anew: openssl pkcs12 \
                   -legacy -in OLD -nodes | openssl pkcs12 -export -out NEW";
const WRONG_PASSWORD: &str = "cannot be opened: the password is wrong";

impl From<DerError> for Problem {
    fn from(_: DerError) -> Self {
        Self(BROKEN)
    }
}

struct Problem(&'static str);

/// The private key, as a `PrivateKeyInfo`, and the certificates of a file.
pub(crate) fn open(file: &[u8], password: &str) -> Result<(Vec<u8>, Vec<Certificate>), String> {
    let mut found = Found::default();
    match found.read(file, password) {
        Ok(()) => {}
        Err(Problem(problem)) => return Err(problem.to_owned()),
    }
    match found.key {
        Some(key) => Ok((key, found.certificates)),
        None => Err("is missing: the PKCS #12 file has none".to_owned()),
    }
}

#[derive(Default)]
struct Found {
    key: Option<Vec<u8>>,
    certificates: Vec<Certificate>,
}

impl Found {
    fn read(&mut self, file: &[u8], password: &str) -> Result<(), Problem> {
        let mut fields = only(file)?.inside();
        fields.expect(tag::INTEGER)?;
        let content = content_of(fields.sequence()?)?;
        let safes = content.expect_octets()?;
        match fields.optional(tag::SEQUENCE)? {
            Some(mac) => check(mac, safes, password)?,
            None => return Err(Problem("is in a PKCS #12 file without a MAC")),
        }
        let mut safes = Reader::new(safes).sequence()?;
        while !safes.is_empty() {
            let safe = safes.sequence()?;
            let mut kind = safe;
            let name = kind.expect(tag::OID)?;
            if oid::is(name, oid::DATA) {
                self.bags(content_of(safe)?.expect_octets()?, password)?;
            } else if oid::is(name, oid::ENCRYPTED_DATA) {
                let mut data = content_of(safe)?.inside();
                data.expect(tag::INTEGER)?;
                let mut sealed = data.sequence()?;
                sealed.expect(tag::OID)?;
                let way = sealed.expect(tag::SEQUENCE)?;
                let sealed = sealed.expect(tag::CONTEXT_PRIMITIVE)?;
                let opened = decrypt(way, sealed.content, password)?;
                self.bags(&opened, password)?;
            }
        }
        Ok(())
    }

    fn bags(&mut self, bags: &[u8], password: &str) -> Result<(), Problem> {
        let mut bags = Reader::new(bags).sequence()?;
        while !bags.is_empty() {
            let mut bag = bags.sequence()?;
            let name = bag.expect(tag::OID)?;
            let content = bag.expect(tag::CONTEXT)?.inside().any()?;
            if oid::is(name, oid::KEY_BAG) {
                self.key = Some(content.whole.to_vec());
            } else if oid::is(name, oid::SHROUDED_KEY_BAG) {
                let mut sealed = content.inside();
                let way = sealed.expect(tag::SEQUENCE)?;
                let bytes = sealed.expect(tag::OCTET_STRING)?.content;
                self.key = Some(decrypt(way, bytes, password)?);
            } else if oid::is(name, oid::CERTIFICATE_BAG) {
                let mut content = content.inside();
                if oid::is(content.expect(tag::OID)?, oid::X509_CERTIFICATE) {
                    let der = content.expect(tag::CONTEXT)?.inside();
                    let der = { der }.expect(tag::OCTET_STRING)?.content;
                    let one = Certificate::from_der(der)
                        .ok_or(Problem("has a certificate that cannot be read"))?;
                    self.certificates.push(one);
                }
            }
        }
        Ok(())
    }
}

impl<'a> Value<'a> {
    fn expect_octets(self) -> Result<&'a [u8], DerError> {
        match self.tag {
            tag::OCTET_STRING => Ok(self.content),
            _ => Err(DerError),
        }
    }
}

/// The content of a `ContentInfo`.
fn content_of(mut info: Reader<'_>) -> Result<Value<'_>, DerError> {
    info.expect(tag::OID)?;
    info.expect(tag::CONTEXT)?.inside().any()
}

fn rounds(value: Value<'_>) -> Result<NonZeroU32, Problem> {
    let sum = |sum: u64, byte: &u8| sum.saturating_mul(256).saturating_add(u64::from(*byte));
    let count = value.content.iter().fold(0, sum);
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    match NonZeroU32::new(count) {
        Some(count) if count.get() <= MAX_ROUNDS => Ok(count),
        _ => Err(Problem("is in a PKCS #12 file with too many rounds")),
    }
}

/// Checks the MAC, which tells a wrong password.
fn check(mac: Value<'_>, content: &[u8], password: &str) -> Result<(), Problem> {
    let mut mac = mac.inside();
    let mut digest = mac.sequence()?;
    let algorithm = digest.sequence()?.expect(tag::OID)?;
    let expected = digest.expect(tag::OCTET_STRING)?.content;
    let salt = mac.expect(tag::OCTET_STRING)?.content;
    let count = match mac.optional(tag::INTEGER)? {
        Some(count) => rounds(count)?,
        None => NonZeroU32::MIN,
    };
    if !oid::is(algorithm, oid::SHA_256) {
        return Err(Problem(OLD));
    }
    let key = hmac::Key::new(hmac::HMAC_SHA256, &mac_key(password, salt, count));
    hmac::verify(&key, content, expected).map_err(|_| Problem(WRONG_PASSWORD))
}

/// The key of the MAC (RFC 7292, appendix B.2, with ID 3), which fits in one round of SHA-256.
fn mac_key(password: &str, salt: &[u8], count: NonZeroU32) -> Vec<u8> {
    let mut text: Vec<u8> = password.encode_utf16().flat_map(u16::to_be_bytes).collect();
    text.extend([0, 0]);
    let filled = |part: &[u8]| -> Vec<u8> {
        let size = part.len().div_ceil(BLOCK) * BLOCK;
        part.iter().copied().cycle().take(size).collect()
    };
    let first = [vec![3; BLOCK], filled(salt), filled(&text)].concat();
    let mut key = digest::digest(&digest::SHA256, &first);
    for _ in 1..count.get() {
        key = digest::digest(&digest::SHA256, key.as_ref());
    }
    key.as_ref().to_vec()
}

/// Decrypts by PBES2 (RFC 8018, 6.2).
fn decrypt(way: Value<'_>, sealed: &[u8], password: &str) -> Result<Vec<u8>, Problem> {
    let mut way = way.inside();
    if !oid::is(way.expect(tag::OID)?, oid::PBES2) {
        return Err(Problem(OLD));
    }
    let mut parameters = way.sequence()?;
    let mut derivation = parameters.sequence()?;
    let mut cipher = parameters.sequence()?;
    if !oid::is(derivation.expect(tag::OID)?, oid::PBKDF2) {
        return Err(Problem(OLD));
    }
    let mut derivation = derivation.sequence()?;
    let salt = derivation.expect(tag::OCTET_STRING)?.content;
    let count = rounds(derivation.expect(tag::INTEGER)?)?;
    derivation.optional(tag::INTEGER)?;
    let function = match derivation.optional(tag::SEQUENCE)? {
        None => pbkdf2::PBKDF2_HMAC_SHA1,
        Some(function) if oid::is(function.inside().any()?, oid::HMAC_SHA_256) => {
            pbkdf2::PBKDF2_HMAC_SHA256
        }
        Some(_) => return Err(Problem(OLD)),
    };
    let name = cipher.expect(tag::OID)?;
    let start = cipher.expect(tag::OCTET_STRING)?.content;
    let size = match () {
        () if oid::is(name, oid::AES_256_CBC) => 32,
        () if oid::is(name, oid::AES_128_CBC) => 16,
        () => return Err(Problem(OLD)),
    };
    let mut key = vec![0; size];
    pbkdf2::derive(function, count, salt, password.as_bytes(), &mut key);
    let opened = match size {
        32 => cbc::Decryptor::<aes::Aes256>::new_from_slices(&key, start)
            .map_err(|_| DerError)?
            .decrypt_padded_vec::<Pkcs7>(sealed),
        _ => cbc::Decryptor::<aes::Aes128>::new_from_slices(&key, start)
            .map_err(|_| DerError)?
            .decrypt_padded_vec::<Pkcs7>(sealed),
    };
    opened.map_err(|_| Problem(WRONG_PASSWORD))
}
