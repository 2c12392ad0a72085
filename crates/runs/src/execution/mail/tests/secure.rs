//! Mail over TLS, and what a server hears where there is none.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{ServerConfig, ServerConnection, StreamOwned, crypto::ring, pki_types::PrivateKeyDer};

use super::*;

/// Nothing here takes so long on any machine.
const LONG: Duration = Duration::from_secs(60);
/// What a client tells with `AUTH PLAIN` (RFC 4616): NUL, ada, NUL, hidden.
const SECRET: &str = "AGFkYQBoaWRkZW4=";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// TLS from the first byte.
    Wrapped,
    /// After STARTTLS.
    Asked,
    /// STARTTLS is offered, and refused when it is asked for.
    Withdrawn,
    /// There is none.
    Plain,
}

/// What a server heard.
#[derive(Debug, Default)]
struct Heard {
    plain: String,
    secret: String,
    /// How TLS failed.
    failure: Option<String>,
}

/// An authority, and certificates of it.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let issuer = CertifiedIssuer::self_signed(authority, key).unwrap();
        Self { issuer }
    }

    fn trust(&self) -> Trust {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), self.issuer.pem()).unwrap();
        Trust::only(file.path()).unwrap()
    }

    fn config(&self, names: &[&str]) -> Arc<ServerConfig> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let server = CertificateParams::new(names).unwrap();
        let server = server.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![server.der().clone()], key);
        Arc::new(config.unwrap())
    }
}

/// A server for one connection, its port, and what it heard.
fn server(way: Way, config: Arc<ServerConfig>) -> (u16, JoinHandle<Heard>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let mut heard = Heard::default();
        heard.failure = serve(stream, way, config, &mut heard)
            .err()
            .map(|error| error.to_string());
        heard
    });
    (port, heard)
}

fn serve(
    mut stream: TcpStream,
    way: Way,
    config: Arc<ServerConfig>,
    heard: &mut Heard,
) -> io::Result<()> {
    if way != Way::Wrapped {
        stream.write_all(b"220 here\r\n")?;
        if !talk(&mut stream, way, &mut heard.plain)? {
            return Ok(());
        }
    }
    let connection = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, stream);
    if way == Way::Wrapped {
        stream.write_all(b"220 here\r\n")?;
    }
    talk(&mut stream, Way::Plain, &mut heard.secret).map(drop)
}

/// Talks until the other side has ended (false) or wants TLS (true).
fn talk(stream: &mut (impl Read + Write), way: Way, heard: &mut String) -> io::Result<bool> {
    let mut in_data = false;
    loop {
        let line = line(stream)?;
        *heard += &line;
        let answer = match line.trim_end() {
            "" if line.is_empty() => return Ok(false),
            "." if in_data => {
                in_data = false;
                "250 kept as 7"
            }
            _ if in_data => continue,
            "DATA" => {
                in_data = true;
                "354 go on"
            }
            "STARTTLS" if way == Way::Withdrawn => "454 not now",
            "STARTTLS" => "220 go on",
            "QUIT" => "221 bye",
            text if text.starts_with("EHLO") && way == Way::Plain => "250-here\r\n250 AUTH PLAIN",
            text if text.starts_with("EHLO") => "250-here\r\n250-STARTTLS\r\n250 AUTH PLAIN",
            text if text.starts_with("AUTH") => "235 welcome",
            _ => "250 well",
        };
        stream.write_all(format!("{answer}\r\n").as_bytes())?;
        stream.flush()?;
        if answer == "220 go on" {
            return Ok(true);
        }
    }
}

/// A line with its end; nothing where the other side has ended.
fn line(stream: &mut impl Read) -> io::Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"\n") && stream.read(&mut byte)? > 0 {
        line.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

fn url(way: Way, host: &str, port: u16) -> String {
    match way {
        Way::Wrapped => format!("smtps://ada:hidden@{host}:{port}"),
        _ => format!("smtp://ada:hidden@{host}:{port}?tls=required"),
    }
}

fn send(way: Way, host: &str, port: u16, trust: &Trust) -> Result<Json, StepError> {
    let smtp = Smtp::new(&url(way, host, port), "platen@example.com", trust).unwrap();
    smtp.send(&mail(), "1", &limit())
}

#[track_caller]
fn assert_kept_back(heard: &Heard) {
    for text in [&heard.plain, &heard.secret] {
        for word in ["AUTH", SECRET, "MAIL FROM", "RCPT", "ada", "Subject"] {
            assert!(!text.contains(word), "{word}: {heard:?}");
        }
    }
}

#[test]
fn mail_is_sent_over_tls_to_a_server_of_the_own_authority() {
    let authority = Authority::new();
    let config = authority.config(&["localhost", "127.0.0.1"]);
    for way in [Way::Wrapped, Way::Asked] {
        for host in ["localhost", "127.0.0.1"] {
            let (port, heard) = server(way, Arc::clone(&config));
            let sent = send(way, host, port, &authority.trust());
            let heard = heard.join().unwrap();
            assert_eq!(sent.unwrap()["accepted"], true, "{way:?} {host} {heard:?}");
            for part in [
                "AUTH PLAIN ",
                SECRET,
                "RCPT TO:<eve@example.com>",
                "Subject: ",
            ] {
                assert!(
                    heard.secret.contains(part),
                    "{way:?} {host} {part}: {heard:?}"
                );
            }
            let begin: Vec<&str> = heard.plain.lines().map(|line| &line[..4]).collect();
            match way {
                Way::Wrapped => assert!(begin.is_empty(), "{heard:?}"),
                _ => assert_eq!(begin, ["EHLO", "STAR"], "{heard:?}"),
            }
        }
    }
}

#[test]
fn a_server_that_is_not_trusted_gets_nothing() {
    let authority = Authority::new();
    let config = authority.config(&["localhost"]);
    for way in [Way::Wrapped, Way::Asked] {
        for trust in [Trust::default(), Authority::new().trust()] {
            let (port, heard) = server(way, Arc::clone(&config));
            let error = send(way, "localhost", port, &trust).unwrap_err();
            let heard = heard.join().unwrap();
            assert!(error.message.contains("SMTP_CA_FILE"), "{way:?} {error:?}");
            assert!(!error.retryable && error.code == "mail-failed", "{error:?}");
            assert!(heard.failure.is_some(), "{heard:?}");
            assert_kept_back(&heard);
        }
        let (port, heard) = server(way, authority.config(&["other.example"]));
        let error = send(way, "localhost", port, &authority.trust()).unwrap_err();
        let said = &error.message;
        assert!(
            said.contains("another name") && said.contains("other.example"),
            "{said}"
        );
        assert!(!error.retryable, "{error:?}");
        assert_kept_back(&heard.join().unwrap());
    }
}

#[test]
fn nothing_is_sent_in_the_clear_where_tls_is_required() {
    let authority = Authority::new();
    let config = authority.config(&["localhost"]);
    for (way, words, is_later) in [
        (Way::Plain, "STARTTLS", false),
        (Way::Withdrawn, "not now", true),
    ] {
        for trust in [Trust::default(), authority.trust()] {
            let (port, heard) = server(way, Arc::clone(&config));
            let error = send(way, "localhost", port, &trust).unwrap_err();
            assert!(error.message.contains(words), "{way:?} {error:?}");
            assert_eq!(error.retryable, is_later, "{way:?} {error:?}");
            let heard = heard.join().unwrap();
            assert!(heard.plain.starts_with("EHLO"), "{heard:?}");
            assert_kept_back(&heard);
        }
    }
    let (port, heard) = server(Way::Plain, config);
    let error = send(Way::Wrapped, "localhost", port, &authority.trust()).unwrap_err();
    assert!(error.message.contains("tls=required"), "{error:?}");
    assert_kept_back(&heard.join().unwrap());
}

#[test]
fn an_authority_wants_tls() {
    let trust = Authority::new().trust();
    let new = |url: &str| Smtp::new(url, "platen@example.com", &trust).map(drop);
    let refused = new("smtp://ada:hidden@localhost").unwrap_err();
    assert!(
        refused.contains("smtps://") && !refused.contains("hidden"),
        "{refused}"
    );
    for well in ["smtp://a?tls=required", "smtps://a", "smtps://[::1]:465"] {
        new(well).unwrap();
    }
}
