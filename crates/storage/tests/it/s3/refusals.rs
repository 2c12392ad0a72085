//! Buckets that cannot be used, and what is said about it.

use std::time::Duration;

use platen_outbound::Trust;
use platen_storage::blobs::{BlobError, Bucket, BucketSettings};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::{
    place::{Place, place, settings},
    proxy::{Fault, Proxy},
    server::Server,
};

type Change = fn(&mut BucketSettings);

fn said(settings: &BucketSettings) -> String {
    let bucket = Bucket::new(settings).unwrap();
    match bucket.check() {
        Err(error @ (BlobError::Refused(_) | BlobError::Unavailable(_))) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_check_says_what_is_wrong() {
    let Some(place) = place() else { return };
    place.bucket().check().unwrap();
    let left = std::fs::read_dir(place.file("check")).map(Iterator::count);
    assert!(left.unwrap_or(0) == 0, "it leaves nothing behind");
    let wrong: [(Change, &str); 4] = [
        (|it| it.bucket = "nobodys".to_owned(), "S3_BUCKET"),
        (
            |it| it.access_key_id = "other".to_owned(),
            "S3_ACCESS_KEY_ID",
        ),
        (
            |it| it.secret_access_key = "other".to_owned(),
            "S3_SECRET_ACCESS_KEY",
        ),
        (|it| it.region = "eu-west-1".to_owned(), "S3_REGION"),
    ];
    for (change, name) in wrong {
        let mut settings = place.settings();
        change(&mut settings);
        let text = said(&settings);
        assert!(text.contains(name), "{name}: {text}");
        assert!(!text.contains(super::server::SECRET), "{text}");
    }
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let nobody = BucketSettings {
        timeout: Duration::from_millis(200),
        ..settings(&format!("http://127.0.0.1:{port}"), "bucket")
    };
    let text = said(&nobody);
    assert!(text.contains("refused"), "{text}");
}

#[test]
fn what_a_server_does_not_support_is_said() {
    let Some(mut place) = place() else { return };
    let proxy = Proxy::start(place.port);
    place.port = proxy.port;
    proxy.next("PUT", Fault::Answer(501, "NotImplemented"), 1);
    let text = said(&place.settings());
    assert!(text.contains("If-None-Match"), "{text}");
    proxy.next("PUT", Fault::Answer(403, "AccessDenied"), 1);
    let text = said(&place.settings());
    assert!(
        text.contains("s3:PutObject") && text.contains("writing"),
        "{text}"
    );
    proxy.next("DELETE", Fault::Answer(403, "AccessDenied"), 1);
    let text = said(&place.settings());
    assert!(text.contains("deleting"), "{text}");
    // The second of the check's writes is said to be stored.
    place.bucket().check().unwrap();
}

#[test]
fn certificates_are_checked() {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::<String>::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = authority.self_signed(&authority_key).unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let own = params.signed_by(&key, &issuer).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (chain, key) = (
        write("server.pem", &own.pem()),
        write("server.key", &key.serialize_pem()),
    );
    let Some(server) = Server::start(&["--cert", &chain, "--key", &key]) else {
        return;
    };
    let place = Place::of(server.into());
    let at = |host: &str, trust: Trust| BucketSettings {
        trust,
        ..settings(&format!("https://{host}:{}", place.port), &place.name)
    };
    let trust = || Trust::only(write("ca.pem", &certificate.pem()).as_ref()).unwrap();
    let bucket = Bucket::new(&at("localhost", trust())).unwrap();
    bucket.check().unwrap();
    let text = said(&at("localhost", Trust::default()));
    assert!(
        text.contains("trusted authority") && text.contains("S3_CA_FILE"),
        "{text}"
    );
    let text = said(&at("127.0.0.1", trust()));
    assert!(text.contains("another name"), "{text}");
}
