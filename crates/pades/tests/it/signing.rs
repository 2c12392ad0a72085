//! What is signed holds, whatever the key, the kind of the file and the level.

use std::time::{SystemTime, UNIX_EPOCH};

use platen_pades::{
    Error, KeyFile, Level, Signer, Signing, Trust, Validity, VerificationReport, add_timestamp,
    sign, verify,
};
use platen_pdf::{Appearance, Certification, Limits, SignaturePlace};

use crate::{
    authority::authority,
    file::{pdf, pdf_of, updated},
};

pub(crate) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(now.expect("after 1970").as_secs()).expect("a time")
}

pub(crate) fn signing(level: Level) -> Signing {
    // Certificates are valid from when they were made.
    authority();
    Signing {
        level,
        timestamp_url: Some("http://time.test/".to_owned()),
        field: None,
        reason: Some("Approved (für München)".to_owned()),
        location: Some("Köln".to_owned()),
        contact: None,
        time: now(),
        certification: None,
        appearance: None,
    }
}

pub(crate) fn signed(file: &[u8], signing: &Signing, key: &str) -> Vec<u8> {
    let authority = authority();
    let signer = authority.signer(key);
    sign(file, signing, &signer, authority, &Limits::default()).expect("signed")
}

pub(crate) fn judged(file: &[u8]) -> VerificationReport {
    verify(
        file,
        &authority().trust(),
        now(),
        &Limits::default(),
        &|| {},
    )
    .expect("judged")
}

#[test]
fn every_kind_of_key_signs_both_kinds_of_files() {
    for modern in [false, true] {
        for key in ["rsa", "p256", "p384"] {
            let file = pdf(modern);
            let made = signed(&file, &signing(Level::Basic), key);
            assert!(made.starts_with(&file), "the file stays as it is");
            let judgement = judged(&made);
            assert!(judgement.valid, "{key}: {judgement:#?}");
            let report = &judgement.signatures[0];
            assert_eq!(report.field, "Signature1");
            assert_eq!(report.reason.as_deref(), Some("Approved (für München)"));
            assert_eq!(report.location.as_deref(), Some("Köln"));
            assert_eq!(report.signer.as_ref().map(|it| it.name.as_str()), Some(key));
            assert!(report.covers_whole_file && report.changes.is_empty());
            assert_eq!(report.revocation, "unknown");
        }
    }
}

#[test]
fn each_level_proves_what_it_says() {
    let stamped = judged(&signed(&pdf(true), &signing(Level::Timestamp), "p256"));
    assert!(stamped.valid, "{stamped:#?}");
    let stamp = stamped.signatures[0]
        .timestamp
        .as_ref()
        .expect("a timestamp");
    assert!(stamp.is_trusted);
    assert_eq!(stamp.authority.name, "stamper");

    let lasting = judged(&signed(&pdf(false), &signing(Level::LongTerm), "rsa"));
    assert!(lasting.valid, "{lasting:#?}");
    assert_eq!(lasting.signatures[0].revocation, "good");
    assert_eq!(lasting.signatures[0].changes.len(), 1);

    let archival = judged(&signed(&pdf(true), &signing(Level::Archival), "p384"));
    assert!(archival.valid, "{archival:#?}");
    assert_eq!(archival.signatures.len(), 2);
    assert!(archival.signatures[1].is_timestamp);
}

#[test]
fn signatures_stand_on_each_other() {
    let first = signed(&pdf(true), &signing(Level::Basic), "rsa");
    let second = signed(&first, &signing(Level::Basic), "p256");
    let limits = Limits::default();
    let third = add_timestamp(&second, "http://time.test/", authority(), &limits).expect("a time");
    let judgement = judged(&third);
    assert!(judgement.valid, "{judgement:#?}");
    let fields: Vec<&str> = (judgement.signatures.iter())
        .map(|it| it.field.as_str())
        .collect();
    assert_eq!(fields, ["Signature1", "Signature2", "Signature3"]);
    assert_eq!(judgement.signatures[0].changes.len(), 2);
}

#[test]
fn what_is_certified_says_what_may_be_changed() {
    let limits = Limits::default();
    let certified = |certification| Signing {
        certification: Some(certification),
        ..signing(Level::Basic)
    };
    let closed = signed(&pdf(false), &certified(Certification::Nothing), "rsa");
    let authority = authority();
    let signer = authority.signer("p256");
    let refused = sign(&closed, &signing(Level::Basic), &signer, authority, &limits);
    assert!(
        refused
            .expect_err("closed")
            .to_string()
            .contains("Signature1")
    );
    let stamped = add_timestamp(&closed, "http://time.test/", authority, &limits).expect("a time");
    let judgement = judged(&stamped);
    assert!(judgement.valid, "{judgement:#?}");
    assert_eq!(
        judgement.signatures[0].certification,
        Some(Certification::Nothing)
    );

    let open = signed(&pdf(true), &certified(Certification::Filling), "rsa");
    let second = signed(&open, &signing(Level::Basic), "p256");
    assert!(judged(&second).valid);
    let late = sign(
        &second,
        &certified(Certification::Filling),
        &signer,
        authority,
        &limits,
    );
    assert!(late.expect_err("late").to_string().contains("first"));
}

#[test]
fn fields_that_a_signature_locks_stay_as_they_are() {
    let field = |number: usize, name: &str, value: &str| {
        format!(
            "{number} 0 obj\n<</Type/Annot/Subtype/Widget/FT/Tx/T({name})/V({value})/Rect[0 0 9 9]\
             /P 3 0 R>>\nendobj\n"
        )
    };
    let object = |text: &str| {
        let text = text.split_once("obj\n").expect("an object").1;
        text.strip_suffix("\nendobj\n").expect("an end").to_owned()
    };
    for (lock, is_locked) in [
        (
            "/Lock<</Type/SigFieldLock/Action/Include/Fields[(total)]>>",
            true,
        ),
        ("/Lock<</Type/SigFieldLock/Action/All>>", true),
        (
            "/Lock<</Type/SigFieldLock/Action/Exclude/Fields[(total)]>>",
            false,
        ),
        ("", false),
    ] {
        let file = pdf_of(&[
            "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R 5 0 R]>>>>".to_owned(),
            "<</Type/Pages/Count 1/Kids[3 0 R]/MediaBox[0 0 300 200]>>".to_owned(),
            "<</Type/Page/Parent 2 0 R/Annots[4 0 R 5 0 R]>>".to_owned(),
            object(&field(4, "total", "100")),
            format!(
                "<</Type/Annot/Subtype/Widget/FT/Sig/T(approval)/Rect[0 0 0 0]/P 3 0 R{lock}>>"
            ),
        ]);
        let signing = Signing {
            field: Some("approval".to_owned()),
            ..signing(Level::Basic)
        };
        let made = signed(&file, &signing, "rsa");
        assert!(judged(&made).valid, "{lock}");
        let changed = updated(&made, &[&field(4, "total", "999")], "");
        let judgement = judged(&changed);
        assert_eq!(judgement.valid, !is_locked, "{lock}: {judgement:#?}");
    }
}

#[test]
fn a_signature_is_to_be_seen_where_it_is_put() {
    let signing = Signing {
        field: Some("Director".to_owned()),
        appearance: Some(Appearance {
            file: pdf(false),
            extent: platen_pdf::Extent::Page,
            place: Some(SignaturePlace {
                page: 2,
                area: [20.0, 20.0, 140.0, 80.0],
            }),
            is_needed: true,
        }),
        ..signing(Level::Basic)
    };
    let made = signed(&pdf(true), &signing, "rsa");
    let judgement = judged(&made);
    assert!(judgement.valid, "{judgement:#?}");
    let report = &judgement.signatures[0];
    assert_eq!((report.field.as_str(), report.page), ("Director", Some(2)));

    let authority = authority();
    let signer = authority.signer("rsa");
    let again = sign(&made, &signing, &signer, authority, &Limits::default());
    assert!(again.expect_err("signed").to_string().contains("Director"));
}

#[test]
fn keys_come_in_pkcs_12_too() {
    let authority = authority();
    for (key, cipher) in [("rsa", "AES-256-CBC"), ("p256", "AES-128-CBC")] {
        authority.run(&format!(
            "pkcs12 -export -inkey {key}.key -in {key}.crt -certfile middle.crt -passout \
             pass:Grüße -keypbe {cipher} -certpbe {cipher} -out {key}.p12"
        ));
        let file = std::fs::read(authority.path(&format!("{key}.p12"))).expect("a file");
        let signer = KeyFile::read(&file, Some("Grüße")).expect("a key");
        assert_eq!(signer.certificates()[0].name(), key);
        let limits = Limits::default();
        let made = sign(
            &pdf(true),
            &signing(Level::Basic),
            &signer,
            authority,
            &limits,
        );
        assert!(judged(&made.expect("signed")).valid);
        let wrong = KeyFile::read(&file, Some("Gruesse")).expect_err("a wrong password");
        assert!(wrong.to_string().contains("password is wrong"), "{wrong}");
    }
    authority
        .run("pkcs12 -export -legacy -inkey rsa.key -in rsa.crt -passout pass:old -out old.p12");
    let old = std::fs::read(authority.path("old.p12")).expect("a file");
    let refused = KeyFile::read(&old, Some("old")).expect_err("old encryption");
    assert!(refused.to_string().contains("-legacy"), "{refused}");
}

#[test]
fn keys_that_cannot_be_used_say_why() {
    let authority = authority();
    let (key, other) = (authority.text("rsa.key"), authority.text("p256.crt"));
    for (file, reason) in [
        (String::new(), "neither PEM nor PKCS #12"),
        (other.clone(), "no block PRIVATE KEY"),
        (key.clone(), "none in the file"),
        (key + &other, "none in the file"),
        (
            "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n".to_owned(),
            "PEM",
        ),
    ] {
        let error = KeyFile::read(file.as_bytes(), None).expect_err("not a key");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn who_is_revoked_gets_no_lasting_signature() {
    let authority = authority();
    let limits = Limits::default();
    let signer = authority.signer("revoked");
    let refused = sign(
        &pdf(true),
        &signing(Level::LongTerm),
        &signer,
        authority,
        &limits,
    );
    match refused {
        Err(Error::Revocation { name, problem }) => {
            assert_eq!(name, "revoked");
            assert!(problem.contains("revoked on"), "{problem}");
        }
        other => panic!("{other:?}"),
    }
}

/// A verifier whose clock is an hour behind: for it, both timestamps are from the future.
#[test]
fn timestamps_from_the_future_prove_nothing() {
    let limits = Limits::default();
    let stamped = signed(&pdf(true), &signing(Level::Timestamp), "p256");
    let basic = signed(&pdf(true), &signing(Level::Basic), "p256");
    let document = add_timestamp(&basic, "http://time.test/", authority(), &limits).expect("one");
    for (file, which) in [(&stamped, 0), (&document, 1)] {
        assert!(judged(file).valid);
        let early = verify(file, &authority().trust(), now() - 3_600, &limits, &|| {});
        let early = early.expect("judged");
        assert!(!early.valid, "{early:#?}");
        let report = &early.signatures[which];
        let is_told = report
            .problems
            .iter()
            .any(|it| it.contains("from the future"));
        assert!(is_told, "{report:#?}");
        assert_eq!(report.validity, Validity::Invalid);
    }
}

#[test]
fn who_is_not_trusted_or_must_not_sign_is_told() {
    let made = signed(&pdf(true), &signing(Level::Basic), "rsa");
    let limits = Limits::default();
    let nobody = verify(&made, &Trust::default(), now(), &limits, &|| {}).expect("judged");
    assert_eq!(nobody.signatures[0].validity, Validity::Untrusted);
    assert!(nobody.signatures[0].problems[0].contains("no authority is trusted"));
    let other = Trust::from_pem(&authority().text("stamper.crt")).expect("an anchor");
    let other = verify(&made, &other, now(), &limits, &|| {}).expect("judged");
    assert!(
        other.signatures[0].problems[0].contains("is not trusted"),
        "{other:#?}"
    );
    let later = now() + 2_000 * 86_400;
    let expired = verify(&made, &authority().trust(), later, &limits, &|| {}).expect("judged");
    assert!(
        expired.signatures[0].problems[0].contains("expired"),
        "{expired:#?}"
    );
    let server = judged(&signed(&pdf(true), &signing(Level::Basic), "server"));
    assert!(
        server.signatures[0].problems[0].contains("not for such"),
        "{server:#?}"
    );
}
