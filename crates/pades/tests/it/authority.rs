//! Authorities of certificates, timestamps and revocation, by `openssl`.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, OnceLock},
};

use platen_pades::{KeyFile, Network, Trust};
use tempfile::TempDir;

/// What they have.
pub(crate) struct Authority {
    folder: TempDir,
    /// `openssl` counts in a file that is not locked.
    turn: Mutex<()>,
}

const CONFIGURATION: &str = "\
[req]\ndistinguished_name=dn\nprompt=no\n[dn]\nCN=unused\n\
[ca]\nbasicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign,digitalSignature\n\
subjectKeyIdentifier=hash\n\
[middle]\nbasicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=critical,keyCertSign,cRLSign,digitalSignature\n\
subjectKeyIdentifier=hash\ncrlDistributionPoints=URI:http://list.test/root.crl\n\
[signer]\nkeyUsage=critical,nonRepudiation\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n\
authorityInfoAccess=OCSP;URI:http://ocsp.test/,caIssuers;URI:http://list.test/middle.der\n\
[stamper]\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=critical,timeStamping\n\
crlDistributionPoints=URI:http://list.test/root.crl\n\
[server]\nkeyUsage=critical,keyEncipherment\n\
[tsa]\ndefault_tsa=here\n[here]\nserial=tsa.serial\ncrypto_device=builtin\nsigner_digest=sha256\n\
default_policy=1.2.3.4\ndigests=sha256\nordering=yes\n\
[store]\ndatabase=root.index\ndefault_md=sha256\ncrlnumber=root.crlnumber\n\
[minor]\ndatabase=middle.index\ndefault_md=sha256\ncrlnumber=middle.crlnumber\n\
policy=any\nnew_certs_dir=.\nserial=middle.serial\n[any]\ncommonName=supplied\n";

/// Runs `openssl` in `folder`; the words of `line` are its arguments.
pub(crate) fn openssl(folder: &Path, line: &str) {
    let output = Command::new("openssl")
        .args(line.split_whitespace())
        .current_dir(folder)
        .output()
        .expect("openssl is installed");
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "openssl {line}: {problem}");
}

/// One for all tests: keys take a while.
pub(crate) fn authority() -> &'static Authority {
    static MADE: OnceLock<Authority> = OnceLock::new();
    MADE.get_or_init(Authority::new)
}

impl Authority {
    fn new() -> Self {
        let made = Self {
            folder: TempDir::new().expect("a folder"),
            turn: Mutex::new(()),
        };
        for (name, content) in [
            ("openssl.cnf", CONFIGURATION),
            ("root.index", ""),
            ("middle.index", ""),
            ("root.crlnumber", "01\n"),
            ("middle.crlnumber", "01\n"),
            ("middle.serial", "1001\n"),
            ("tsa.serial", "01\n"),
        ] {
            std::fs::write(made.path(name), content).expect("a file");
        }
        let rsa = "rsa:2048";
        let p256 = "ec -pkeyopt ec_paramgen_curve:P-256";
        made.key("root", p256);
        made.run(
            "req -x509 -config openssl.cnf -extensions ca -key root.key -subj /CN=Platen-Root \
             -days 3650 -out root.crt",
        );
        made.issue("middle", rsa, "root", "middle");
        made.issue("stamper", rsa, "root", "stamper");
        made.issue("rsa", rsa, "middle", "signer");
        made.issue("p256", p256, "middle", "signer");
        made.issue(
            "p384",
            "ec -pkeyopt ec_paramgen_curve:P-384",
            "middle",
            "signer",
        );
        made.issue("revoked", p256, "middle", "signer");
        made.issue("server", p256, "middle", "server");
        made.run("ca -config openssl.cnf -name minor -keyfile middle.key -cert middle.crt -revoke revoked.crt");
        made.run("ca -config openssl.cnf -name store -keyfile root.key -cert root.crt -gencrl -crldays 30 -out root.pem");
        made.run("crl -in root.pem -outform DER -out root.crl");
        made.run("x509 -in middle.crt -outform DER -out middle.der");
        // OCSP knows what stands in the index.
        let mut index = std::fs::read_to_string(made.path("middle.index")).expect("an index");
        for name in ["rsa", "p256", "p384"] {
            let serial = made.serial(name);
            index += &format!("V\t351231235959Z\t\t{serial}\tunknown\t/CN={name}\n");
        }
        std::fs::write(made.path("middle.index"), index).expect("an index");
        made
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn run(&self, line: &str) {
        openssl(self.folder.path(), line);
    }

    fn key(&self, name: &str, kind: &str) {
        let kind = kind.replace("rsa:2048", "rsa -pkeyopt rsa_keygen_bits:2048");
        self.run(&format!("genpkey -algorithm {kind} -out {name}.key"));
    }

    fn issue(&self, name: &str, kind: &str, issuer: &str, extensions: &str) {
        self.key(name, kind);
        self.run(&format!(
            "req -new -config openssl.cnf -key {name}.key -subj /C=DE/O=Platen/CN={name} \
             -out {name}.csr"
        ));
        self.run(&format!(
            "x509 -req -in {name}.csr -CA {issuer}.crt -CAkey {issuer}.key -CAcreateserial \
             -extfile openssl.cnf -extensions {extensions} -days 1000 -out {name}.crt"
        ));
    }

    fn serial(&self, name: &str) -> String {
        let output = Command::new("openssl")
            .args(["x509", "-noout", "-serial", "-in"])
            .arg(self.path(&format!("{name}.crt")))
            .output()
            .expect("openssl");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.trim().trim_start_matches("serial=").to_owned()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }

    /// A key with its own certificate and those that issued it.
    pub(crate) fn signer(&self, name: &str) -> KeyFile {
        let file = [".key", ".crt"].map(|ending| self.text(&format!("{name}{ending}")));
        let file = file.concat() + &self.text("middle.crt") + &self.text("root.crt");
        KeyFile::read(file.as_bytes(), None).expect("a key")
    }

    pub(crate) fn trust(&self) -> Trust {
        Trust::from_pem(&self.text("root.crt")).expect("an anchor")
    }
}

impl Network for Authority {
    fn fetch(&self, address: &str, body: Option<(&str, &[u8])>) -> Result<Vec<u8>, String> {
        let _turn = self.turn.lock();
        let scratch = TempDir::new().expect("a folder");
        let (query, answer) = (scratch.path().join("query"), scratch.path().join("answer"));
        let (query_text, answer_text) = (query.display(), answer.display());
        if let Some((_, bytes)) = body {
            std::fs::write(&query, bytes).expect("a request");
        }
        match (address, body.map(|(kind, _)| kind)) {
            ("http://time.test/", Some("application/timestamp-query")) => self.run(&format!(
                "ts -reply -config openssl.cnf -queryfile {query_text} -signer stamper.crt -inkey \
                 stamper.key -chain root.crt -out {answer_text}"
            )),
            ("http://ocsp.test/", Some("application/ocsp-request")) => self.run(&format!(
                "ocsp -index middle.index -CA middle.crt -rsigner middle.crt -rkey middle.key \
                 -ndays 7 -reqin {query_text} -respout {answer_text}"
            )),
            ("http://list.test/root.crl", None) => {
                return Ok(std::fs::read(self.path("root.crl")).expect("a list"));
            }
            ("http://list.test/middle.der", None) => {
                return Ok(std::fs::read(self.path("middle.der")).expect("a certificate"));
            }
            _ => return Err("nobody is there".to_owned()),
        }
        std::fs::read(&answer).map_err(|error| error.to_string())
    }
}
