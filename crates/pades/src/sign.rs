//! Signs files.

use platen_pdf::{
    Appearance, Certification, Evidence as Store, Limits, NewSignature, Prepared, add_evidence,
    prepare_signature, read_evidence, read_signatures,
};

use serde::Deserialize;

use crate::{
    Certificate, Error, Network, Signer,
    chain::known_chain,
    cms::{NewSignedData, SignedData},
    oid,
    revocation::{Evidence, ask},
    time, timestamp,
};

/// Room for a signature besides its certificates, in bytes.
const ROOM: usize = 4 << 10;
/// Room for a timestamp, in bytes.
const TIMESTAMP_ROOM: usize = 24 << 10;
/// Maximum number of issuers that are fetched to complete a chain.
const MAX_FETCHED: usize = 5;

/// How much a signature proves (ETSI EN 319 142-1, 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Level {
    /// Who signed (B-B).
    #[default]
    #[serde(rename = "b-b")]
    Basic,
    /// When as well, by a timestamp (B-T).
    #[serde(rename = "b-t")]
    Timestamp,
    /// And that the certificates were not revoked then (B-LT).
    #[serde(rename = "b-lt")]
    LongTerm,
    /// And that nothing of it was made up later, by a timestamp of the document (B-LTA).
    #[serde(rename = "b-lta")]
    Archival,
}

/// A signature to be made.
#[derive(Clone, Debug)]
pub struct Signing {
    /// How much it proves.
    pub level: Level,
    /// Address of a timestamp authority, which all levels but the first need.
    pub timestamp_url: Option<String>,
    /// The field: one that is not signed, or the name of a new one.
    pub field: Option<String>,
    /// Why it is signed.
    pub reason: Option<String>,
    /// Where it is signed.
    pub location: Option<String>,
    /// How to reach who signs.
    pub contact: Option<String>,
    /// When it is signed, in seconds since 1970, by the signer's own clock.
    pub time: i64,
    /// What may be changed afterwards, where the signature certifies the document.
    pub certification: Option<Certification>,
    /// What is to be seen of it.
    pub appearance: Option<Appearance>,
}

/// Signs `file` behind what it has; its bytes stay as they are.
///
/// # Errors
/// The file cannot be read or signed, the key refuses, or an authority does not answer as it should.
pub fn sign(
    file: &[u8],
    signing: &Signing,
    signer: &dyn Signer,
    network: &dyn Network,
    limits: &Limits,
) -> Result<Vec<u8>, Error> {
    let Some(certificate) = signer.certificates().first() else {
        return Err(Error::BadKey("has no certificate".to_owned()));
    };
    let (from, until) = certificate.validity();
    if signing.time < from || signing.time > until {
        return Err(Error::BadKey(format!(
            "has a certificate that is valid from {} to {}",
            time::text(from),
            time::text(until)
        )));
    }
    let stamper = TimestampClient::of(signing, network)?;
    let size: usize = (signer.certificates().iter())
        .map(|it| it.der().len())
        .sum();
    let new = NewSignature {
        field: signing.field.clone(),
        is_timestamp: false,
        room: ROOM + size + stamper.as_ref().map_or(0, |_| TIMESTAMP_ROOM),
        name: Some(certificate.name()),
        reason: signing.reason.clone(),
        location: signing.location.clone(),
        contact: signing.contact.clone(),
        time: Some(pdf_date(signing.time)),
        certification: signing.certification,
        appearance: signing.appearance.clone(),
    };
    let prepared = prepare_signature(file, &new, limits)?;
    let digest = signer.algorithm().digest().of(&prepared.covered());
    let made = NewSignedData::sign(signer, &digest)?;
    let token = match &stamper {
        Some(stamper) => Some(stamper.stamp(made.signature())?),
        None => None,
    };
    let contents = made.finish(signer, token.as_deref())?;
    let mut signed = prepared.fill(&contents)?;
    if signing.level >= Level::LongTerm {
        signed = with_evidence(&signed, file.len(), network, signing.time, limits)?;
    }
    match (signing.level, &stamper) {
        (Level::Archival, Some(stamper)) => {
            let stamped = stamper.stamp_file(&signed, limits)?;
            with_evidence(&stamped, signed.len(), network, signing.time, limits)
        }
        _ => Ok(signed),
    }
}

/// Adds a timestamp of the whole document.
///
/// # Errors
/// The file cannot be read, or the authority does not answer as it should.
pub fn add_timestamp(
    file: &[u8],
    address: &str,
    network: &dyn Network,
    limits: &Limits,
) -> Result<Vec<u8>, Error> {
    TimestampClient { address, network }.stamp_file(file, limits)
}

/// Asks for timestamps.
struct TimestampClient<'a> {
    address: &'a str,
    network: &'a dyn Network,
}

impl<'a> TimestampClient<'a> {
    fn of(signing: &'a Signing, network: &'a dyn Network) -> Result<Option<Self>, Error> {
        match (&signing.timestamp_url, signing.level) {
            (_, Level::Basic) => Ok(None),
            (Some(address), _) => Ok(Some(Self { address, network })),
            (None, _) => Err(Error::NoAuthority),
        }
    }

    fn stamp(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        timestamp::request(self.network, self.address, message)
    }

    fn stamp_file(&self, file: &[u8], limits: &Limits) -> Result<Vec<u8>, Error> {
        let new = NewSignature {
            field: None,
            is_timestamp: true,
            room: TIMESTAMP_ROOM,
            name: None,
            reason: None,
            location: None,
            contact: None,
            time: None,
            certification: None,
            appearance: None,
        };
        let prepared: Prepared = prepare_signature(file, &new, limits)?;
        let token = self.stamp(&prepared.covered().concat())?;
        Ok(prepared.fill(&token)?)
    }
}

/// Adds what proves later the signatures that are behind the first `old` bytes of a file: their
/// chains, and that nobody in them was revoked. Older signatures are not looked at, as they may name
/// any address to be asked.
fn with_evidence(
    file: &[u8],
    old: usize,
    network: &dyn Network,
    now: i64,
    limits: &Limits,
) -> Result<Vec<u8>, Error> {
    let known = read_evidence(file, limits)?;
    let mut store = Store::default();
    let mut gathered = EvidenceCollector {
        network,
        now,
        others: (known.certificates.iter())
            .filter_map(|der| Certificate::from_der(der))
            .collect(),
        fetched: 0,
        store: &mut store,
    };
    for signature in read_signatures(file, limits)? {
        if signature.covered[1].end <= old {
            continue;
        }
        let read = SignedData::new(&signature.contents)?;
        gathered.add(&read)?;
        if let Some(token) = read.timestamp() {
            gathered.add(&SignedData::new(token)?)?;
        }
    }
    Ok(add_evidence(file, &store, limits)?)
}

struct EvidenceCollector<'a> {
    network: &'a dyn Network,
    now: i64,
    others: Vec<Certificate>,
    fetched: usize,
    store: &'a mut Store,
}

impl EvidenceCollector<'_> {
    fn add(&mut self, signature: &SignedData<'_>) -> Result<(), Error> {
        let Some(leaf) = signature.certificate() else {
            return Ok(());
        };
        self.others.extend(signature.certificates.iter().cloned());
        let chain = self.chain(leaf);
        for (index, certificate) in chain.iter().enumerate() {
            let der = certificate.der().to_vec();
            if self.store.certificates.contains(&der) {
                continue;
            }
            self.store.certificates.push(der);
            if certificate.is_self_issued() {
                continue;
            }
            let Some(issuer) = chain.get(index + 1) else {
                let problem = format!(
                    "the certificate of its issuer, `{}`, is not known; add it to the file of \
                     the key",
                    certificate.issuer()
                );
                let name = certificate.name();
                return Err(Error::Revocation { name, problem });
            };
            match ask(self.network, certificate, issuer, self.now)? {
                Evidence::Ocsp(answer) => self.store.ocsp.push(answer),
                Evidence::List(list) if self.store.lists.contains(&list) => {}
                Evidence::List(list) => self.store.lists.push(list),
            }
        }
        Ok(())
    }

    /// The chain of a certificate; issuers that are missing are fetched where it says.
    fn chain(&mut self, leaf: &Certificate) -> Vec<Certificate> {
        loop {
            let chain = known_chain(leaf, &self.others);
            let Some(last) = chain.last() else {
                return chain;
            };
            if last.is_self_issued() || self.fetched == MAX_FETCHED {
                return chain;
            }
            self.fetched += 1;
            let fetched = (last.access(oid::CA_ISSUERS).iter()).find_map(|address| {
                let found = self.network.fetch(address, None).ok()?;
                Certificate::from_der(&found).filter(|it| last.is_issued_by(it))
            });
            match fetched {
                Some(issuer) => self.others.push(issuer),
                None => return chain,
            }
        }
    }
}

/// A date of PDF (7.9.4), in UTC.
fn pdf_date(seconds: i64) -> String {
    let digits: String = time::text(seconds)
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    format!("D:{digits}Z")
}
