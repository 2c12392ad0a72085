//! Timestamps (RFC 3161): an authority says that it saw a digest, and when.

use crate::{
    Certificate, Error, Network,
    algorithm::Digest,
    cms::SignedData,
    der::{self, DerError, integer, sequence, tag, value},
    oid, time,
};

/// What a timestamp says, once its signature holds.
pub(crate) struct Timestamp {
    /// When, in seconds since 1970.
    pub(crate) time: i64,
    /// The certificate of the authority.
    pub(crate) certificate: Certificate,
    /// The certificates that came with it.
    pub(crate) others: Vec<Certificate>,
}

/// Asks the authority at `address` for a timestamp of `message`.
pub(crate) fn request(
    network: &dyn Network,
    address: &str,
    message: &[u8],
) -> Result<Vec<u8>, Error> {
    let failed = |problem: &str| Error::Timestamp(format!("{address}: {problem}"));
    let mut nonce = [0; 16];
    getrandom::fill(&mut nonce).map_err(|error| failed(&error.to_string()))?;
    let digest = Digest::Sha256.of(&[message]);
    let imprint = sequence(&[
        Digest::Sha256.identifier(),
        value(tag::OCTET_STRING, &[digest]),
    ]);
    let wanted = integer(&nonce);
    let request = sequence(&[
        integer(&[1]),
        imprint,
        wanted.clone(),
        value(tag::BOOLEAN, &[[0xff]]),
    ]);
    let body = Some(("application/timestamp-query", &request[..]));
    let answer = network
        .fetch(address, body)
        .map_err(|error| failed(&error))?;
    let token = granted(&answer).ok_or_else(|| failed("it granted no timestamp"))?;
    let said = Token::read(token).map_err(|_| failed("its timestamp cannot be read"))?;
    if said.nonce != Some(&wanted[2..]) {
        return Err(failed("its timestamp answers another request"));
    }
    judge(token, message).map_err(|problem| failed(&format!("its timestamp: {problem}")))?;
    Ok(token.to_vec())
}

/// The token of a `TimeStampResp` that grants one.
fn granted(answer: &[u8]) -> Option<&[u8]> {
    let mut answer = der::only(answer).ok()?.inside();
    let status = answer.sequence().ok()?.expect(tag::INTEGER).ok()?;
    match status.content {
        [0 | 1] => Some(answer.expect(tag::SEQUENCE).ok()?.whole),
        _ => None,
    }
}

/// A `TSTInfo`.
struct Token<'a> {
    digest: Option<Digest>,
    imprint: &'a [u8],
    time: i64,
    nonce: Option<&'a [u8]>,
}

impl<'a> Token<'a> {
    fn read(token: &'a [u8]) -> Result<Self, DerError> {
        let signed = SignedData::new(token)?;
        Self::of(signed.content.ok_or(DerError)?)
    }

    fn of(content: &'a [u8]) -> Result<Self, DerError> {
        let mut info = der::only(content)?.inside();
        info.expect(tag::INTEGER)?;
        info.expect(tag::OID)?;
        let mut imprint = info.sequence()?;
        let digest = Digest::read(&mut imprint)?;
        let imprint = imprint.expect(tag::OCTET_STRING)?.content;
        info.expect(tag::INTEGER)?;
        let time = time::read(info.expect(tag::GENERALIZED_TIME)?)?;
        info.optional(tag::SEQUENCE)?;
        info.optional(tag::BOOLEAN)?;
        let nonce = info.optional(tag::INTEGER)?.map(|nonce| nonce.content);
        Ok(Self {
            digest,
            imprint,
            time,
            nonce,
        })
    }
}

/// What a timestamp of `message` says; the problem if it is not one, or does not hold. Whether the
/// authority is trusted is another question.
pub(crate) fn judge(token: &[u8], message: &[u8]) -> Result<Timestamp, &'static str> {
    let unreadable = |_| "it cannot be read";
    let signed = SignedData::new(token).map_err(unreadable)?;
    let content = signed.content.ok_or("it cannot be read")?;
    if !oid::is(signed.content_type, oid::TST_INFO) {
        return Err("it is none");
    }
    let info = Token::of(content).map_err(unreadable)?;
    let old = "its digest proves nothing today";
    if info.digest.ok_or(old)?.of(&[message]) != info.imprint {
        return Err("it is for something else");
    }
    let certificate = signed.certificate().ok_or("its certificate is missing")?;
    if !certificate.is_for(oid::TIME_STAMPING) {
        return Err("its certificate is not for timestamps");
    }
    let digest = signed.digest().ok_or(old)?.of(&[content]);
    signed.holds(certificate, &digest)?;
    Ok(Timestamp {
        time: info.time,
        certificate: certificate.clone(),
        others: signed.certificates.clone(),
    })
}
