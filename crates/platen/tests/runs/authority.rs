//! A private authority, and certificates of it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new() -> Self {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(authority, key).unwrap())
    }

    /// Its own certificate, for clients of the tests.
    pub fn certificate(&self) -> ureq::tls::Certificate<'static> {
        ureq::tls::Certificate::from_der(self.0.der()).to_owned()
    }

    /// Its own certificate in a file.
    pub fn write(&self, folder: &Path) -> PathBuf {
        let file = folder.join("ca.pem");
        fs::write(&file, self.0.pem()).unwrap();
        file
    }

    /// An address to listen on, at a port that is free, with a certificate for `names`.
    pub fn bind(&self, folder: &Path, names: &[&str]) -> String {
        let (certificate, key) = self.sign(names);
        let place = folder.display();
        fs::write(folder.join("cert.pem"), certificate.pem()).unwrap();
        fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
        format!("tls://127.0.0.1:0?cert={place}/cert.pem&key={place}/key.pem")
    }

    /// A certificate for `names`, and its key.
    pub fn sign(&self, names: &[&str]) -> (rcgen::Certificate, KeyPair) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(names).unwrap();
        (params.signed_by(&key, &self.0).unwrap(), key)
    }
}
