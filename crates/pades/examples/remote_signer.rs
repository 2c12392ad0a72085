//! Signs a PDF file with a key that this process never sees, as those of a hardware module or a cloud
//! service: a command gets what is to be signed on standard input, and writes the signature.
//!
//!     cargo run -p platen-pades --example remote_signer -- in.pdf out.pdf chain.pem \
//!         openssl dgst -sha256 -sign key.pem
//!
//! `chain.pem` is the certificate of the key, here one of RSA, with those that issued it. The command
//! signs as CMS has it: RSA by PKCS #1 v1.5 with SHA-256.

use std::{
    error::Error,
    io::Write,
    process::{Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use platen_pades::{Algorithm, Certificate, Level, Network, Signer, Signing, sign};
use platen_pdf::Limits;

/// A key elsewhere, which a command reaches.
struct Remote {
    chain: Vec<Certificate>,
    command: Vec<String>,
}

impl Signer for Remote {
    fn certificates(&self) -> &[Certificate] {
        &self.chain
    }

    fn algorithm(&self) -> Algorithm {
        Algorithm::RsaSha256
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        let signed = || -> std::io::Result<_> {
            let mut child = Command::new(&self.command[0])
                .args(&self.command[1..])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            // A command that exits without reading its input reports why in its exit status.
            if let Some(mut input) = child.stdin.take() {
                let _ = input.write_all(message);
            }
            child.wait_with_output()
        };
        match signed() {
            Ok(output) if output.status.success() => Ok(output.stdout),
            Ok(output) => Err(format!("{} ended with {}", self.command[0], output.status)),
            Err(error) => Err(format!("{}: {error}", self.command[0])),
        }
    }
}

/// Level B-B asks no authority.
struct Offline;

impl Network for Offline {
    fn fetch(&self, address: &str, _: Option<(&str, &[u8])>) -> Result<Vec<u8>, String> {
        Err(format!("{address} is not reached"))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&std::env::args().skip(1).collect::<Vec<_>>())
}

/// Signs, as the arguments say.
pub fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [from, to, chain, command @ ..] = arguments else {
        return Err("arguments: IN OUT CHAIN COMMAND...".into());
    };
    if command.is_empty() {
        return Err("the command is missing".into());
    }
    let chain = Certificate::from_pem(&std::fs::read_to_string(chain)?);
    let remote = Remote {
        chain: chain.ok_or("the chain is no PEM")?,
        command: command.to_vec(),
    };
    let signing = Signing {
        level: Level::Basic,
        timestamp_url: None,
        field: None,
        reason: None,
        location: None,
        contact: None,
        time: i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs())?,
        certification: None,
        appearance: None,
    };
    let file = std::fs::read(from)?;
    let signed = sign(&file, &signing, &remote, &Offline, &Limits::default())?;
    std::fs::write(to, signed)?;
    Ok(())
}
