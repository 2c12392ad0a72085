//! Documents that do not open, programs that crash: each gives a typed error.

use std::time::Duration;

use bytes::Bytes;
use platen_urp::{
    Client, Conversion, Converted, Error, Input, Options, Output, Property, Transfer,
    codec::{Any, TypeClass, Value},
};

use crate::{
    convert::{FLAT, make, pdf},
    soffice::{Soffice, program, until},
};

async fn convert(
    client: &Client,
    input: Input,
    conversion: &Conversion,
) -> Result<Converted, Error> {
    client.convert(input, Output::Bytes, conversion).await
}

fn from(filter: &str) -> Conversion {
    Conversion {
        import_filter: Some(filter.to_owned()),
        ..pdf()
    }
}

/// Microsoft formats take a password in another property than LibreOffice's own.
fn store_password(filter: &str, password: &str) -> Property {
    if filter == "writer8" {
        return Property::new("Password", password);
    }
    let ty = |class, name: &str| platen_urp::codec::Type::named(class, name);
    let named = |name: &str, value: &str| Value::Struct(vec![name.into(), Any::from(value).into()]);
    let list = Value::Sequence(vec![
        named("CryptoType", "Standard"),
        named("OOXPassword", password),
    ]);
    let list_type = ty(TypeClass::Sequence, "[]com.sun.star.beans.NamedValue");
    Property::new("EncryptionData", Any::new(list_type, list))
}

#[tokio::test(flavor = "multi_thread")]
async fn passwords() {
    let Some(program) = program() else { return };
    let soffice = Soffice::start(&program).await;
    let client = soffice.client().await;
    for filter in ["writer8", "MS Word 2007 XML"] {
        let conversion = Conversion {
            filter: filter.to_owned(),
            store: vec![store_password(filter, "open sesame")],
            ..from("OpenDocument Text Flat XML")
        };
        let flat = Input::Bytes(Bytes::from_static(FLAT.as_bytes()));
        let made = convert(&client, flat, &conversion).await.unwrap();
        let locked = made.bytes.unwrap();
        for transfer in [Transfer::File, Transfer::Stream] {
            let mut conversion = from(filter);
            conversion.input = transfer;
            let none = convert(&client, Input::Bytes(locked.clone()), &conversion).await;
            assert!(
                matches!(none, Err(Error::PasswordNeeded)),
                "{filter} {none:?}"
            );
            conversion.password = Some("wrong".to_owned());
            let wrong = convert(&client, Input::Bytes(locked.clone()), &conversion).await;
            // Newer versions encrypt these packages as a whole, and one that stays locked is damaged.
            let is_damage = filter == "writer8" && matches!(wrong, Err(Error::NotLoaded { .. }));
            assert!(
                is_damage || matches!(wrong, Err(Error::PasswordWrong)),
                "{filter} {wrong:?}"
            );
            conversion.password = Some("open sesame".to_owned());
            let right = convert(&client, Input::Bytes(locked.clone()), &conversion).await;
            assert!(right.is_ok(), "{filter} {right:?}");
        }
    }
    assert_eq!(client.close_documents().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_missing_and_unknown() {
    let Some(program) = program() else { return };
    let soffice = Soffice::start(&program).await;
    let client = soffice.client().await;
    let odt = make(&client, FLAT, "writer8").await;
    let cut = odt.slice(..odt.len() * 2 / 3);
    let broken = convert(&client, Input::Bytes(cut), &from("writer8")).await;
    assert!(
        matches!(broken, Err(Error::Broken | Error::NotLoaded { .. })),
        "{broken:?}"
    );
    let docx = make(&client, FLAT, "MS Word 2007 XML").await;
    let cut = docx.slice(..docx.len() * 2 / 3);
    let broken = convert(&client, Input::Bytes(cut), &from("MS Word 2007 XML")).await;
    assert!(
        matches!(broken, Err(Error::Broken | Error::NotLoaded { .. })),
        "{broken:?}"
    );

    let missing = Input::Path("/no/such/file.odt".into());
    let missing = convert(&client, missing, &pdf()).await;
    assert!(matches!(missing, Err(Error::Missing(_))), "{missing:?}");
    let filter = Conversion {
        filter: "no_such_filter".to_owned(),
        ..from("writer8")
    };
    let unknown = convert(&client, Input::Bytes(odt.clone()), &filter).await;
    assert!(matches!(unknown, Err(Error::NotStored(_))), "{unknown:?}");
    let pages = Conversion {
        filter_data: vec![Property::new("PageRange", "7-9")],
        ..from("writer8")
    };
    let pages = convert(&client, Input::Bytes(odt.clone()), &pages).await;
    assert!(matches!(pages, Err(Error::NotStored(_))), "{pages:?}");
    let sound = convert(&client, Input::Bytes(odt), &from("writer8")).await;
    assert!(sound.is_ok());
    assert_eq!(client.close_documents().await.unwrap(), 0);
    assert_eq!(client.bridge().exported(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn repair_on_request() {
    let Some(program) = program() else { return };
    let soffice = Soffice::start(&program).await;
    let client = soffice.client().await;
    let odt = make(&client, FLAT, "writer8").await;
    // Without the directory at the end.
    let end = odt.windows(4).rposition(|it| it == b"PK\x05\x06").unwrap();
    let cut = odt.slice(..end);
    let refused = convert(&client, Input::Bytes(cut.clone()), &from("writer8")).await;
    assert!(
        matches!(refused, Err(Error::NotLoaded { .. })),
        "{refused:?}"
    );
    // Only LibreOffice's own detection asks whether to repair.
    let refused = convert(&client, Input::Bytes(cut.clone()), &pdf()).await;
    assert!(matches!(refused, Err(Error::Broken)), "{refused:?}");
    let repair = Conversion {
        repair: true,
        ..from("writer8")
    };
    let repaired = convert(&client, Input::Bytes(cut), &repair).await.unwrap();
    assert!(repaired.bytes.unwrap().starts_with(b"%PDF"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_or_output_that_fails() {
    struct Failing;
    impl tokio::io::AsyncRead for Failing {
        fn poll_read(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            _: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Ready(Err(std::io::ErrorKind::ConnectionReset.into()))
        }
    }
    let Some(program) = program() else { return };
    let soffice = Soffice::start(&program).await;
    let client = soffice.client().await;
    for transfer in [Transfer::File, Transfer::Stream] {
        let mut conversion = from("MS Word 2007 XML");
        conversion.input = transfer;
        let failed = convert(&client, Input::Stream(Box::new(Failing)), &conversion).await;
        assert!(matches!(failed, Err(Error::Input(_))), "{failed:?}");
    }
    let docx = make(&client, FLAT, "MS Word 2007 XML").await;
    for transfer in [Transfer::File, Transfer::Stream] {
        let mut conversion = from("MS Word 2007 XML");
        conversion.output = transfer;
        let (ours, theirs) = tokio::io::duplex(16);
        drop(theirs);
        let output = Output::Stream(Box::new(ours));
        let failed = client
            .convert(Input::Bytes(docx.clone()), output, &conversion)
            .await;
        assert!(matches!(failed, Err(Error::Output(_))), "{failed:?}");
    }
    let sound = convert(&client, Input::Bytes(docx), &from("MS Word 2007 XML")).await;
    assert!(sound.is_ok());
    assert_eq!(client.close_documents().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_killed_or_stopped() {
    let Some(program) = program() else { return };
    let soffice = Soffice::start(&program).await;
    let options = Options {
        silence: Duration::from_secs(2),
        ..Options::default()
    };
    let client = Client::connect_unix(&soffice.pipe, options).await.unwrap();
    soffice.signal("-STOP");
    // The signal takes a while to reach every thread; answers may arrive until then.
    let mut silent = client.ping().await;
    for _ in 0..100 {
        if silent.is_err() {
            break;
        }
        silent = client.ping().await;
    }
    assert!(matches!(silent, Err(Error::Silent(_))), "{silent:?}");
    let conversion = Conversion {
        timeout: Some(Duration::from_millis(300)),
        ..from("OpenDocument Text Flat XML")
    };
    let flat = Input::Bytes(Bytes::from_static(FLAT.as_bytes()));
    let late = convert(&client, flat, &conversion).await;
    assert!(matches!(late, Err(Error::Timeout { .. })), "{late:?}");
    soffice.signal("-KILL");
    let dead = client.ping().await;
    assert!(
        matches!(dead, Err(Error::Closed(_) | Error::Silent(_))),
        "{dead:?}"
    );
    // The system releases the pipe a moment after the signal.
    until("nobody answers", async || {
        let nobody = Client::connect_unix(&soffice.pipe, Options::default()).await;
        matches!(nobody, Err(Error::Connect { .. }))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_a_conversion_in_memory() {
    let Some(program) = program() else { return };
    let soffice = Soffice::start(&program).await;
    let client = soffice.client().await;
    let before = soffice.leftovers().len();
    for _ in 0..3 {
        make(&client, FLAT, "writer8").await;
    }
    client.ping().await.unwrap();
    let inside = |name: &String| {
        std::fs::read_dir(soffice.folder.path().join(name)).map_or(0, Iterator::count)
    };
    let left: usize = soffice.leftovers().iter().map(inside).sum();
    assert_eq!((soffice.leftovers().len(), left), (before, 0));
}
