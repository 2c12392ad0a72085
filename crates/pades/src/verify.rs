//! Verifies the signatures of files: who signed, whether it holds, what was changed since, and whether
//! the certificates are trusted.

use platen_pdf::{
    Certification, Change, Limits, Signature, changes_since, read_evidence, read_signatures,
};
use serde::Serialize;

use crate::{
    Certificate, Error, Trust,
    chain::{Chain, Distrust, chain},
    cms::SignedData,
    oid,
    revocation::{Evidence, Status},
    time, timestamp,
};

/// Maximum number of certificates of a file that chains are looked for in.
const MAX_CERTIFICATES: usize = 500;
/// How far clocks may differ, in seconds.
const CLOCKS: i64 = 300;

/// What the verification of a file found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerificationReport {
    /// Whether there are signatures, and all are valid.
    pub valid: bool,
    /// The signatures and timestamps, in the order in which they cover the file.
    pub signatures: Vec<SignatureReport>,
}

/// The result for a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// It holds, nothing was changed that must not be, and its certificate is trusted.
    Valid,
    /// It holds, but who signed is not known to be who it says.
    Untrusted,
    /// It does not hold, or the file was changed.
    Invalid,
}

/// A signature or a timestamp of the whole document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SignatureReport {
    /// Its field.
    pub field: String,
    /// Whether it is a timestamp of the document.
    pub is_timestamp: bool,
    /// The result.
    pub validity: Validity,
    /// Why it is not valid.
    pub problems: Vec<String>,
    /// Who signed.
    pub signer: Option<CertificateReport>,
    /// How it is encoded: `ETSI.CAdES.detached` is PAdES.
    pub encoding: String,
    /// When it was made, by the signer's own clock.
    pub claimed_time: Option<String>,
    /// When it was made, by a timestamp.
    pub timestamp: Option<TimestampReport>,
    /// Why it was made.
    pub reason: Option<String>,
    /// Where it was made.
    pub location: Option<String>,
    /// The page that shows it, from 1.
    pub page: Option<usize>,
    /// What may be changed, where it certifies the document.
    pub certification: Option<Certification>,
    /// Whether it covers the file to its end.
    pub covers_whole_file: bool,
    /// What was changed since.
    pub changes: Vec<Change>,
    /// `good`, `revoked`, or `unknown` where the file does not say.
    pub revocation: &'static str,
}

/// A certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CertificateReport {
    /// What its owner is called.
    pub name: String,
    /// The whole name.
    pub subject: String,
    /// Who issued it.
    pub issuer: String,
    /// Its serial number, in hexadecimal digits.
    pub serial: String,
    /// From when it is valid.
    pub valid_from: String,
    /// Until when it is valid.
    pub valid_until: String,
}

/// A timestamp of a signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TimestampReport {
    /// When.
    pub time: String,
    /// Who says so.
    pub authority: CertificateReport,
    /// Whether that authority is trusted.
    pub is_trusted: bool,
}

impl CertificateReport {
    fn of(certificate: &Certificate) -> Self {
        let (from, until) = certificate.validity();
        Self {
            name: certificate.name(),
            subject: certificate.subject(),
            issuer: certificate.issuer(),
            serial: certificate.serial_text(),
            valid_from: time::text(from),
            valid_until: time::text(until),
        }
    }
}

/// Verifies the signatures of `file` at the time `now`, in seconds since 1970. Calls `checkpoint`
/// before each, which may unwind to end the work.
///
/// # Errors
/// The file cannot be read.
pub fn verify(
    file: &[u8],
    trust: &Trust,
    now: i64,
    limits: &Limits,
    checkpoint: &dyn Fn(),
) -> Result<VerificationReport, Error> {
    let signatures = read_signatures(file, limits)?;
    if signatures.is_empty() {
        return Ok(VerificationReport {
            valid: false,
            signatures: Vec::new(),
        });
    }
    let store = read_evidence(file, limits)?;
    let certificates = store.certificates.iter().take(MAX_CERTIFICATES);
    let ocsp = store.ocsp.into_iter().map(Evidence::Ocsp);
    let lists = store.lists.into_iter().map(Evidence::List);
    let verifier = Verifier {
        file,
        trust,
        now,
        limits,
        known: certificates
            .filter_map(|der| Certificate::from_der(der))
            .collect(),
        evidence: ocsp.chain(lists).collect(),
    };
    // From the last to the first: timestamps of the document prove when what they cover was there.
    let mut proven = now;
    let mut reports = Vec::with_capacity(signatures.len());
    for signature in signatures.iter().rev() {
        checkpoint();
        reports.push(verifier.signature(signature, &mut proven)?);
    }
    reports.reverse();
    Ok(VerificationReport {
        valid: reports.iter().all(|it| it.validity == Validity::Valid),
        signatures: reports,
    })
}

struct Verifier<'a> {
    file: &'a [u8],
    trust: &'a Trust,
    now: i64,
    limits: &'a Limits,
    /// Certificates that the file carries.
    known: Vec<Certificate>,
    evidence: Vec<Evidence>,
}

/// A signature that holds: who made it, what came with it, and when it was there.
struct VerifiedSignature {
    certificate: Certificate,
    others: Vec<Certificate>,
    time: i64,
    purpose: Option<x509_cert::der::oid::ObjectIdentifier>,
    /// The time that it proves for what it covers, where it is a timestamp of the document.
    proves: Option<i64>,
}

impl Verifier<'_> {
    /// Verifies one; a trusted timestamp of the document moves `proven` back.
    fn signature(&self, signature: &Signature, proven: &mut i64) -> Result<SignatureReport, Error> {
        let mut report = SignatureReport {
            field: signature.field.clone(),
            is_timestamp: signature.encoding == "ETSI.RFC3161",
            validity: Validity::Invalid,
            problems: Vec::new(),
            signer: None,
            encoding: signature.encoding.clone(),
            claimed_time: signature.time.as_deref().and_then(time::of_pdf),
            timestamp: None,
            reason: signature.reason.clone(),
            location: signature.location.clone(),
            page: signature.page,
            certification: signature.certification,
            covers_whole_file: signature.covered[1].end == self.file.len(),
            changes: Vec::new(),
            revocation: "unknown",
        };
        if let Some(problem) = signature.problem {
            report.problems.push(problem.to_owned());
            report.covers_whole_file = false;
            return Ok(report);
        }
        let held = match report.is_timestamp {
            true => self.document_timestamp(signature, &mut report, *proven),
            false => self.held(signature, &mut report, *proven),
        };
        let held = match held {
            Ok(held) => held,
            Err(problem) => {
                report.problems.push(problem.to_owned());
                return Ok(report);
            }
        };
        let end = signature.covered[1].end;
        match changes_since(self.file, end, self.limits) {
            Ok(changes) => report.changes = changes,
            Err(_) => {
                let problem = "what was signed is not a whole file";
                report.problems.push(problem.to_owned());
                return Ok(report);
            }
        }
        let forbidden = |change: &&Change| !is_allowed(change, signature);
        if report.changes.iter().any(|change| forbidden(&change)) {
            let problem = "the file was changed afterwards in a way that is not allowed";
            report.problems.push(problem.to_owned());
            return Ok(report);
        }
        report.validity = Validity::Untrusted;
        match self.chain(&held) {
            Ok(chain) => match self.revocation(&chain, held.time) {
                Ok(true) => report.revocation = "good",
                Ok(false) => {}
                Err(problem) => {
                    report.revocation = "revoked";
                    report.problems.push(problem);
                }
            },
            Err(distrust) => report.problems.push(describe(&distrust, self.trust)),
        }
        if report.problems.is_empty() {
            report.validity = Validity::Valid;
            *proven = (*proven).min(held.proves.unwrap_or(*proven));
        }
        Ok(report)
    }

    fn covered(&self, signature: &Signature) -> [&[u8]; 2] {
        let [first, second] = &signature.covered;
        [&self.file[first.clone()], &self.file[second.clone()]]
    }

    fn held(
        &self,
        signature: &Signature,
        report: &mut SignatureReport,
        proven: i64,
    ) -> Result<VerifiedSignature, &'static str> {
        let read = SignedData::new(&signature.contents).map_err(|_| "it cannot be read")?;
        if read.content.is_some() {
            return Err("it is not one of the file but of bytes inside of it");
        }
        let digest = read.digest().ok_or("its digest proves nothing today")?;
        let certificate = read.certificate().ok_or("its certificate is missing")?;
        report.signer = Some(CertificateReport::of(certificate));
        read.holds(certificate, &digest.of(&self.covered(signature)))?;
        if report.encoding == "ETSI.CAdES.detached" && !read.is_cades() {
            return Err("it does not name its certificate, as PAdES asks for");
        }
        let mut time = proven;
        if let Some(token) = read.timestamp() {
            let stamp = timestamp::judge(token, read.signature())
                .map_err(|_| "its timestamp does not hold")?;
            if stamp.time > self.now + CLOCKS {
                return Err("its timestamp is from the future");
            }
            let by = VerifiedSignature {
                certificate: stamp.certificate,
                others: stamp.others,
                time: proven,
                purpose: Some(oid::TIME_STAMPING),
                proves: None,
            };
            let is_trusted = self
                .chain(&by)
                .is_ok_and(|chain| self.revocation(&chain, proven).is_ok());
            if is_trusted {
                time = time.min(stamp.time);
            }
            report.timestamp = Some(TimestampReport {
                time: time::text(stamp.time),
                authority: CertificateReport::of(&by.certificate),
                is_trusted,
            });
        }
        Ok(VerifiedSignature {
            certificate: certificate.clone(),
            others: read.certificates.clone(),
            time,
            purpose: None,
            proves: None,
        })
    }

    fn document_timestamp(
        &self,
        signature: &Signature,
        report: &mut SignatureReport,
        proven: i64,
    ) -> Result<VerifiedSignature, &'static str> {
        let covered = self.covered(signature).concat();
        let stamp = timestamp::judge(&signature.contents, &covered)?;
        let authority = CertificateReport::of(&stamp.certificate);
        report.signer = Some(authority);
        report.claimed_time = Some(time::text(stamp.time));
        if stamp.time > self.now + CLOCKS {
            return Err("it is from the future");
        }
        Ok(VerifiedSignature {
            certificate: stamp.certificate,
            others: stamp.others,
            time: proven,
            purpose: Some(oid::TIME_STAMPING),
            proves: Some(stamp.time),
        })
    }

    fn chain(&self, held: &VerifiedSignature) -> Result<Chain, Distrust> {
        let others: Vec<Certificate> = held.others.iter().chain(&self.known).cloned().collect();
        chain(
            &held.certificate,
            &others,
            self.trust,
            held.time,
            held.purpose,
        )
    }

    /// What the file says of the certificates of a chain: whether all were good at that time, or else
    /// nothing.
    ///
    /// # Errors
    /// One was revoked.
    fn revocation(&self, chain: &[Certificate], at: i64) -> Result<bool, String> {
        let mut is_good = chain.len() > 1;
        for pair in chain.windows(2) {
            let [certificate, issuer] = pair else {
                continue;
            };
            let mut is_known = false;
            for evidence in &self.evidence {
                match evidence.status(certificate, issuer, at) {
                    Some(Status::Revoked(since)) if since <= at => {
                        let name = certificate.name();
                        return Err(format!("`{name}` was revoked on {}", time::text(since)));
                    }
                    Some(_) => is_known = true,
                    None => {}
                }
            }
            is_good &= is_known;
        }
        Ok(is_good)
    }
}

/// Whether a change leaves a signature valid. Without certification forms may be filled in, as with
/// it by default, except for the fields that the signature locks.
fn is_allowed(change: &Change, signature: &Signature) -> bool {
    let allowed = signature.certification.unwrap_or(Certification::Filling);
    let lock = signature.lock.as_ref();
    match change {
        Change::Field { field } if lock.is_some_and(|lock| lock.locks(field)) => false,
        Change::Evidence | Change::Timestamp { .. } => true,
        // Who adds a signature also writes when the file was changed.
        Change::Signature { .. } | Change::Field { .. } | Change::Properties => {
            allowed >= Certification::Filling
        }
        Change::Annotations { .. } => allowed >= Certification::Comments,
        Change::Page { .. } | Change::Pages | Change::Content => false,
    }
}

fn describe(distrust: &Distrust, trust: &Trust) -> String {
    match distrust {
        Distrust::NoAnchor(name) if trust.is_empty() => {
            format!("no authority is trusted; this one leads to `{name}`")
        }
        Distrust::NoAnchor(name) => format!("it leads to `{name}`, which is not trusted"),
        Distrust::NotValid { name, is_early } => match is_early {
            true => format!("`{name}` was not valid yet"),
            false => format!("`{name}` has expired"),
        },
        Distrust::NotAllowed(problem) => problem.clone(),
    }
}
