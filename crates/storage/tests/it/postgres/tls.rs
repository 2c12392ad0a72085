//! The modes of TLS, against a server with a certificate for `localhost`.

use std::path::PathBuf;

use platen_storage::{Error, PostgresStore};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::{
    options,
    server::{Server, write_for_server},
};

/// A server with TLS, and the certificate of its authority.
async fn server() -> Option<(Server, PathBuf, tempfile::TempDir)> {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::<String>::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = authority.self_signed(&authority_key).unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let own = params.signed_by(&key, &issuer).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let write = |name: &str, text: &str| {
        let path = write_for_server(folder.path(), name, text);
        path.to_str().unwrap().to_owned()
    };
    let (chain, key) = (
        write("server.pem", &own.pem()),
        write("server.key", &key.serialize_pem()),
    );
    let ca_file = PathBuf::from(write("ca.pem", &certificate.pem()));
    let chain = format!("ssl_cert_file={chain}");
    let key = format!("ssl_key_file={key}");
    let server = Server::start(&["ssl=on", &chain, &key]).await?;
    Some((server, ca_file, folder))
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_checked_as_the_address_demands() {
    let Some((server, ca_file, folder)) = server().await else {
        return;
    };
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let other_file = folder.path().join("other.pem");
    std::fs::write(&other_file, other.cert.pem()).unwrap();
    let url = server.database().await;
    let by_name = url.replace("127.0.0.1", "localhost");
    for (url, mode, file, is_opened) in [
        (&url, "disable", None, true),
        (&url, "prefer", None, true),
        (&url, "require", None, true),
        (&url, "require", Some(&other_file), false),
        (&url, "verify-ca", Some(&ca_file), true),
        (&url, "verify-ca", Some(&other_file), false),
        (&url, "verify-full", Some(&ca_file), false),
        (&by_name, "verify-full", Some(&ca_file), true),
        (&by_name, "verify-full", Some(&other_file), false),
        (&by_name, "verify-full", None, false),
    ] {
        let label = format!("{url} {mode} {file:?}");
        let mut options = options();
        options.ca_file = file.cloned();
        let opened = PostgresStore::open(&format!("{url}?sslmode={mode}"), &options).await;
        match (opened, is_opened) {
            (Ok(store), true) => store.templates().check().await.unwrap(),
            // A system without any authority says so.
            (Err(Error::Server(_) | Error::Address(_)), false) => {}
            (opened, _) => panic!("{label}: {:?}", opened.err()),
        }
    }
    let in_address = format!(
        "{by_name}?sslmode=verify-full&sslrootcert={}",
        ca_file.display()
    );
    let store = PostgresStore::open(&in_address, &options()).await.unwrap();
    let name = url.rsplit('/').next().unwrap();
    let encrypted = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                     WHERE application_name = 'platen' AND datname = current_database() AND ssl";
    assert!(server.number(name, encrypted).await >= 1);
    drop(store);
}
