//! Chains of certificates: from who signed to an authority that is trusted (RFC 5280, 6).

use x509_cert::der::oid::ObjectIdentifier;

use crate::{Certificate, Error};

/// Maximum length of a chain.
const MAX_LENGTH: usize = 10;
/// Maximum number of signatures that are checked while a chain is looked for.
const MAX_CHECKS: usize = 200;

/// The authorities that are trusted.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    anchors: Vec<Certificate>,
}

impl Trust {
    /// Trusts the certificates of a PEM file.
    ///
    /// # Errors
    /// There is none in it, or one cannot be read.
    pub fn from_pem(text: &str) -> Result<Self, Error> {
        match Certificate::from_pem(text) {
            None => Err(Error::BadTrust("cannot be read: they are no PEM")),
            Some(anchors) if anchors.is_empty() => Err(Error::BadTrust(
                "are missing: the file has no block CERTIFICATE",
            )),
            Some(anchors) => Ok(Self { anchors }),
        }
    }

    /// Trusts these as well.
    pub fn add(&mut self, more: Self) {
        self.anchors.extend(more.anchors);
    }

    /// Whether nobody is trusted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.anchors.is_empty()
    }
}

/// Why a certificate is not trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Distrust {
    /// Nobody that is trusted issued it; the last certificate that was found.
    NoAnchor(String),
    /// It, or one that issued it, was not valid at the time.
    NotValid { name: String, is_early: bool },
    /// It, or one that issued it, must not be used like this.
    NotAllowed(String),
}

/// A chain, from the certificate that was asked for to the trusted one.
pub(crate) type Chain = Vec<Certificate>;

/// Looks for a chain from `leaf` to a trusted certificate, through `others`, all valid at `time`
/// (in seconds since 1970). `purpose` is one that the leaf must have.
pub(crate) fn chain(
    leaf: &Certificate,
    others: &[Certificate],
    trust: &Trust,
    time: i64,
    purpose: Option<ObjectIdentifier>,
) -> Result<Chain, Distrust> {
    let purpose_fits = purpose.is_none_or(|purpose| leaf.is_for(purpose));
    if !leaf.may_sign() || !purpose_fits {
        let message = format!("the key of `{}` is not for such signatures", leaf.name());
        return Err(Distrust::NotAllowed(message));
    }
    let mut search = Search {
        others,
        trust,
        time,
        checks: MAX_CHECKS,
        worst: None,
    };
    let mut path = vec![leaf.clone()];
    match search.extend(&mut path) {
        true => Ok(path),
        false => Err(search
            .worst
            .unwrap_or_else(|| Distrust::NoAnchor(leaf.issuer()))),
    }
}

struct Search<'a> {
    others: &'a [Certificate],
    trust: &'a Trust,
    time: i64,
    checks: usize,
    worst: Option<Distrust>,
}

impl Search<'_> {
    /// Extends the path to an anchor; the path is as it was if there is none.
    fn extend(&mut self, path: &mut Vec<Certificate>) -> bool {
        let Some(last) = path.last().cloned() else {
            return false;
        };
        if let Some(problem) = self.problem_of(&last, path.len()) {
            self.worst.get_or_insert(problem);
            return false;
        }
        if self.trust.anchors.contains(&last) {
            return true;
        }
        if path.len() == MAX_LENGTH {
            return false;
        }
        for issuer in self.trust.anchors.iter().chain(self.others) {
            if last.issuer_der() != issuer.subject_der() || path.contains(issuer) {
                continue;
            }
            if self.checks == 0 {
                return false;
            }
            self.checks -= 1;
            if last.is_issued_by(issuer) {
                path.push(issuer.clone());
                if self.extend(path) {
                    return true;
                }
                path.pop();
            }
        }
        if path.len() > 1 && self.worst.is_none() && last.is_self_issued() {
            self.worst = Some(Distrust::NoAnchor(last.subject()));
        }
        false
    }

    fn problem_of(&self, one: &Certificate, length: usize) -> Option<Distrust> {
        let (from, until) = one.validity();
        if self.time < from || self.time > until {
            return Some(Distrust::NotValid {
                name: one.name(),
                is_early: self.time < from,
            });
        }
        // The first is who signed; the second issued it, with nobody between them.
        let is_allowed = length == 1 || one.is_authority(length - 2);
        if !is_allowed {
            let message = format!("`{}` must not issue such certificates", one.name());
            return Some(Distrust::NotAllowed(message));
        }
        let name = one.unknown_extension()?;
        let message = format!(
            "`{}` has the critical extension {name}, of which nothing is known",
            one.name()
        );
        Some(Distrust::NotAllowed(message))
    }
}

/// Orders certificates from `leaf` to the last issuer that is among `others`.
pub(crate) fn known_chain(leaf: &Certificate, others: &[Certificate]) -> Chain {
    let mut path = vec![leaf.clone()];
    while path.len() < MAX_LENGTH
        && let Some(last) = path.last()
        && !last.is_self_issued()
        && let Some(issuer) = others
            .iter()
            .find(|it| !path.contains(it) && last.is_issued_by(it))
    {
        path.push(issuer.clone());
    }
    path
}
