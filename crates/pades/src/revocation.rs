//! Whether certificates were revoked: answers of OCSP (RFC 6960) and lists (RFC 5280, 5).

use ring::digest;

use crate::{
    Certificate, Error, Network,
    algorithm::Digest,
    der::{self, DerError, Reader, Value, sequence, tag, value},
    oid, time,
};

/// Maximum number of certificates in an answer.
const MAX_CERTIFICATES: usize = 20;
/// How long an answer without an end counts, in seconds.
const MAX_AGE: i64 = 86_400;

/// What is known of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Not revoked.
    Good,
    /// Revoked since this time.
    Revoked(i64),
}

/// What says something of certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// An `OCSPResponse`.
    Ocsp(Vec<u8>),
    /// A `CertificateList`.
    List(Vec<u8>),
}

impl Evidence {
    /// What it says of `certificate`; `None` if nothing, or if it does not hold. That it was not
    /// revoked must hold still at `time`.
    pub(crate) fn status(
        &self,
        certificate: &Certificate,
        issuer: &Certificate,
        time: i64,
    ) -> Option<Status> {
        match self {
            Self::Ocsp(answer) => ocsp_status(answer, certificate, issuer, time),
            Self::List(list) => list_status(list, certificate, issuer, time),
        }
        .ok()
        .flatten()
    }
}

/// Asks whether `certificate` was revoked: the OCSP service that it names, or else its list.
pub(crate) fn ask(
    network: &dyn Network,
    certificate: &Certificate,
    issuer: &Certificate,
    now: i64,
) -> Result<Evidence, Error> {
    let mut problem = "it names neither an OCSP service nor a list".to_owned();
    let ocsp = certificate
        .access(oid::OCSP)
        .into_iter()
        .map(|it| (it, true));
    let lists = certificate.lists().into_iter().map(|it| (it, false));
    for (address, is_ocsp) in ocsp.chain(lists) {
        let request = ocsp_request(certificate, issuer);
        let body = is_ocsp.then_some(("application/ocsp-request", &request[..]));
        let evidence = match network.fetch(&address, body) {
            Ok(answer) if is_ocsp => Evidence::Ocsp(answer),
            Ok(list) => Evidence::List(list),
            Err(error) => {
                problem = format!("{address}: {error}");
                continue;
            }
        };
        match evidence.status(certificate, issuer, now) {
            Some(Status::Good) => return Ok(evidence),
            Some(Status::Revoked(since)) => {
                problem = format!("it was revoked on {}", time::text(since));
                break;
            }
            None => problem = format!("{address}: its answer says nothing of it"),
        }
    }
    Err(Error::Revocation {
        name: certificate.name(),
        problem,
    })
}

fn sha_1(bytes: &[u8]) -> Vec<u8> {
    let made = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, bytes);
    made.as_ref().to_vec()
}

/// The bits of the key of a certificate.
fn key_bits(certificate: &Certificate) -> Option<&[u8]> {
    let mut info = certificate.key_info().inside();
    info.any().ok()?;
    info.any().ok()?.bits().ok()
}

/// An `OCSPRequest`. Services know certificates by SHA-1, which is a name here and proves nothing.
fn ocsp_request(certificate: &Certificate, issuer: &Certificate) -> Vec<u8> {
    let null = value::<&[u8]>(tag::NULL, &[]);
    let octets = |bytes: Vec<u8>| value(tag::OCTET_STRING, &[bytes]);
    let id = sequence(&[
        sequence(&[oid::encoded(oid::SHA_1), null]),
        octets(sha_1(issuer.subject_der())),
        octets(sha_1(key_bits(issuer).unwrap_or_default())),
        value(tag::INTEGER, &[certificate.serial()]),
    ]);
    sequence(&[sequence(&[sequence(&[sequence(&[id])])])])
}

fn ocsp_status(
    answer: &[u8],
    certificate: &Certificate,
    issuer: &Certificate,
    time: i64,
) -> Result<Option<Status>, DerError> {
    let mut answer = der::only(answer)?.inside();
    if answer.expect(tag::ENUMERATED)?.content != [0] {
        return Ok(None);
    }
    let mut basic = answer.expect(tag::CONTEXT)?.inside().sequence()?;
    if !oid::is(basic.expect(tag::OID)?, oid::OCSP_BASIC) {
        return Ok(None);
    }
    let mut basic = Reader::new(basic.expect(tag::OCTET_STRING)?.content).sequence()?;
    let said = basic.expect(tag::SEQUENCE)?;
    let algorithm = basic.expect(tag::SEQUENCE)?;
    let signature = basic.any()?.bits()?;
    let delegates = match basic.optional(tag::CONTEXT)? {
        Some(list) => certificates(list.inside().sequence()?)?,
        None => Vec::new(),
    };
    let signs = |by: &Certificate| {
        by.key()
            .is_some_and(|key| key.verifies(algorithm, None, said.whole, signature))
    };
    let is_delegate = |by: &Certificate| {
        let (from, until) = by.validity();
        by.is_for(oid::OCSP_SIGNING) && (from..=until).contains(&time) && by.is_issued_by(issuer)
    };
    if !signs(issuer) && !delegates.iter().any(|by| is_delegate(by) && signs(by)) {
        return Ok(None);
    }
    let mut said = said.inside();
    said.optional(tag::CONTEXT)?;
    said.any()?;
    said.expect(tag::GENERALIZED_TIME)?;
    let mut all = said.sequence()?;
    while !all.is_empty() {
        let mut one = all.sequence()?;
        if !is_named(one.sequence()?, certificate, issuer)? {
            continue;
        }
        let status = one.any()?;
        let from = time::read(one.expect(tag::GENERALIZED_TIME)?)?;
        let until = match one.optional(tag::CONTEXT)? {
            Some(until) => Some(time::read(until.inside().any()?)?),
            None => None,
        };
        // Without an end, newer answers are there at any time.
        let is_old = until.unwrap_or(from + MAX_AGE) < time;
        return match status.tag {
            tag::CONTEXT_PRIMITIVE if is_old => Ok(None),
            tag::CONTEXT_PRIMITIVE => Ok(Some(Status::Good)),
            0xa1 => Ok(Some(Status::Revoked(time::read(status.inside().any()?)?))),
            _ => Ok(None),
        };
    }
    Ok(None)
}

fn certificates(mut list: Reader<'_>) -> Result<Vec<Certificate>, DerError> {
    let mut found = Vec::new();
    while !list.is_empty() && found.len() < MAX_CERTIFICATES {
        found.extend(Certificate::from_der(list.any()?.whole));
    }
    Ok(found)
}

/// Whether a `CertID` names the certificate.
fn is_named(
    mut id: Reader<'_>,
    certificate: &Certificate,
    issuer: &Certificate,
) -> Result<bool, DerError> {
    let algorithm = id.sequence()?.expect(tag::OID)?;
    let hash = |bytes: &[u8]| match Digest::of_oid(algorithm) {
        Some(digest) => Some(digest.of(&[bytes])),
        None => oid::is(algorithm, oid::SHA_1).then(|| sha_1(bytes)),
    };
    let name = id.expect(tag::OCTET_STRING)?.content;
    let key = id.expect(tag::OCTET_STRING)?.content;
    let serial = id.expect(tag::INTEGER)?.content;
    Ok(serial == certificate.serial()
        && hash(issuer.subject_der()).as_deref() == Some(name)
        && key_bits(issuer).and_then(hash).as_deref() == Some(key))
}

fn list_status(
    list: &[u8],
    certificate: &Certificate,
    issuer: &Certificate,
    time: i64,
) -> Result<Option<Status>, DerError> {
    let mut outer = der::only(list)?.inside();
    let signed = outer.expect(tag::SEQUENCE)?;
    let algorithm = outer.expect(tag::SEQUENCE)?;
    let signature = outer.any()?.bits()?;
    let mut fields = signed.inside();
    fields.optional(tag::INTEGER)?;
    fields.expect(tag::SEQUENCE)?;
    let is_of_issuer = fields.expect(tag::SEQUENCE)?.whole == issuer.subject_der()
        && issuer.may_revoke()
        && issuer
            .key()
            .is_some_and(|key| key.verifies(algorithm, None, signed.whole, signature));
    if !is_of_issuer {
        return Ok(None);
    }
    let from = time::read(fields.any()?)?;
    let has_end = matches!(fields.peek(), Some(tag::UTC_TIME | tag::GENERALIZED_TIME));
    let until = match has_end {
        true => time::read(fields.any()?)?,
        false => from + MAX_AGE,
    };
    // An old list still says who was revoked, but not who was not.
    let unnamed = (until >= time).then_some(Status::Good);
    let revoked = fields.optional(tag::SEQUENCE)?;
    if let Some(extensions) = fields.optional(tag::CONTEXT)?
        && !is_whole(extensions)?
    {
        return Ok(None);
    }
    let Some(revoked) = revoked else {
        return Ok(unnamed);
    };
    let mut revoked = revoked.inside();
    while !revoked.is_empty() {
        let mut one = revoked.sequence()?;
        if one.expect(tag::INTEGER)?.content == certificate.serial() {
            return Ok(Some(Status::Revoked(time::read(one.any()?)?)));
        }
    }
    Ok(unnamed)
}

/// Whether a list with these extensions has all certificates of its issuer that were revoked.
fn is_whole(extensions: Value<'_>) -> Result<bool, DerError> {
    /// Some reasons only, an indirect list, or attribute certificates only (RFC 5280, 5.2.5).
    const PARTS: [u8; 3] = [0x83, 0x84, 0x85];
    let mut extensions = extensions.inside().sequence()?;
    while !extensions.is_empty() {
        let mut one = extensions.sequence()?;
        let name = one.expect(tag::OID)?;
        one.optional(tag::BOOLEAN)?;
        let content = one.expect(tag::OCTET_STRING)?.content;
        if oid::is(name, oid::DELTA_LIST) {
            return Ok(false);
        }
        if oid::is(name, oid::ISSUING_DISTRIBUTION_POINT) {
            let mut point = Reader::new(content).sequence()?;
            while !point.is_empty() {
                if PARTS.contains(&point.any()?.tag) {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}
