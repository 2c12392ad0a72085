//! What must not be converted, each with its error; afterwards the converter works as before and leaves nothing.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use platen_fault::Fault;
use platen_office::{Config, Error, Target};
use tokio::{io::AsyncWriteExt, net::TcpListener};

use crate::fixture::{bench, docx, docx_with, flat_sheet, flat_text, job, small, zip};

async fn code(
    bench: &crate::fixture::Bench,
    input: impl Into<Bytes>,
    name: &str,
) -> (&'static str, Fault) {
    let error = bench
        .with(input.into(), Some(name), Target::Pdf, &[])
        .await
        .unwrap_err();
    (error.code().name(), error.code().fault())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_document() {
    let config = Config {
        max_input_bytes: 30 << 20,
        ..small()
    };
    let Some(bench) = bench(config).await else {
        return;
    };
    let caller = |code| (code, Fault::Content);
    assert_eq!(
        code(&bench, Bytes::new(), "a.docx").await,
        caller("document-empty")
    );
    let large = vec![b'a'; (30 << 20) + 1];
    assert_eq!(
        code(&bench, large, "a.txt").await,
        ("too-large", Fault::TooLarge)
    );
    let noise: Vec<u8> = (0..5000_u32)
        .map(|it| (it.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    assert_eq!(
        code(&bench, noise, "a.docx").await,
        caller("unknown-format")
    );
    assert_eq!(
        code(&bench, "only text", "a.docx").await,
        caller("unknown-format")
    );
    let other = zip(&[("a.txt", b"text")]);
    assert_eq!(
        code(&bench, other, "a.docx").await,
        caller("unknown-format")
    );
    let ole = [
        &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1][..],
        &[0; 4000],
    ]
    .concat();
    assert_eq!(code(&bench, ole, "a.bin").await, caller("document-damaged"));
    let whole = docx(200);
    for part in [30, 50, 95] {
        let cut = whole.slice(..whole.len() * part / 100);
        assert_eq!(
            code(&bench, cut, "a.docx").await,
            caller("document-damaged")
        );
    }
    // Damage has the same code in every format.
    let hurt = zip(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", b"<w:document><<"),
    ]);
    assert_eq!(
        code(&bench, hurt, "a.docx").await,
        caller("document-damaged")
    );
    let word = include_bytes!("files/word6.doc");
    for (name, hurt) in [
        ("a.rtf", &b"{\\rtf1 {\\b text"[..]),
        ("a.doc", &word[..word.len() / 2]),
    ] {
        assert_eq!(
            code(&bench, hurt.to_vec(), name).await,
            caller("document-damaged"),
            "{name}"
        );
    }
    // A directory that is sound, and parts that are not.
    let mut hurt = whole.to_vec();
    hurt[200..900].fill(0x55);
    let error = bench.with(hurt.into(), None, Target::Pdf, &[]).await;
    assert!(
        matches!(error, Err(Error::Damaged | Error::NotLoaded(_))),
        "{error:?}"
    );
    // A name that lies does no harm.
    let sound = bench
        .with(whole, Some("picture.png"), Target::Pdf, &[])
        .await;
    assert!(sound.unwrap().starts_with(b"%PDF"));
    bench.close().await;
}

/// A package whose parts are all the same bytes; its directory says that they are empty.
fn shared(content: &[u8], count: u16) -> Vec<u8> {
    let one = zip(&[("word/document.xml", content)]).to_vec();
    let is_end = |bytes: &[u8]| bytes == b"PK\x05\x06";
    let end = one.windows(4).rposition(is_end).unwrap();
    let (rest, tail) = one.split_at(end);
    let at = u32::from_le_bytes(*tail[16..].first_chunk().unwrap());
    let (parts, record) = rest.split_at(at as usize);
    let mut record = record.to_vec();
    record[24..28].fill(0);
    let records = record.repeat(usize::from(count));
    let mut tail = tail.to_vec();
    tail[8..10].copy_from_slice(&count.to_le_bytes());
    tail[10..12].copy_from_slice(&count.to_le_bytes());
    tail[12..16].copy_from_slice(&(records.len() as u32).to_le_bytes());
    [parts, &records, &tail].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn zip_bombs() {
    let Some(bench) = bench(small()).await else {
        return;
    };
    let zeros = vec![b' '; 100 << 20];
    let bomb = zip(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", &zeros),
    ]);
    assert!(bomb.len() < 1 << 20);
    assert_eq!(
        code(&bench, bomb, "a.docx").await,
        ("too-large", Fault::Limit)
    );
    let names: Vec<String> = (0..20_001)
        .map(|it| format!("word/document{it}.xml"))
        .collect();
    let parts: Vec<(&str, &[u8])> = names.iter().map(|it| (it.as_str(), &b""[..])).collect();
    assert_eq!(
        code(&bench, zip(&parts), "a.docx").await,
        ("too-large", Fault::Limit)
    );
    assert_eq!(
        code(&bench, shared(&zeros, 1000), "a.docx").await,
        ("document-damaged", Fault::Content)
    );
    assert!(bench.convert(docx(1), Target::Pdf).await.is_ok());
    bench.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn repair_and_passwords() {
    let Some(bench) = bench(small()).await else {
        return;
    };
    let odt = bench.convert(docx(5), Target::Odt).await.unwrap();
    let end = odt.windows(4).rposition(|it| it == b"PK\x05\x06").unwrap();
    let cut = odt.slice(..end);
    assert_eq!(
        code(&bench, cut.clone(), "a.odt").await.0,
        "document-damaged"
    );
    let repaired = bench
        .with(cut, Some("a.odt"), Target::Pdf, &[("repair", "true")])
        .await;
    assert!(repaired.unwrap().starts_with(b"%PDF"));
    for (target, name) in [(Target::Odt, "a.odt"), (Target::Docx, "a.docx")] {
        let locked = bench
            .with(docx(1), None, target, &[("result_password", "key")])
            .await
            .unwrap();
        assert_eq!(
            code(&bench, locked.clone(), name).await.0,
            "password-needed"
        );
        let wrong = bench
            .with(
                locked.clone(),
                Some(name),
                Target::Pdf,
                &[("password", "no")],
            )
            .await;
        assert_eq!(wrong.unwrap_err().code().name(), "password-wrong");
        // Its name is asked for only where there is a password to open it with.
        assert_eq!(code(&bench, locked.clone(), "a").await.0, "password-needed");
        let right = bench
            .with(locked, Some(name), Target::Pdf, &[("password", "key")])
            .await;
        assert!(right.is_ok());
    }
    bench.close().await;
}

/// Counts who comes.
async fn listener() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let hits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&hits);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = stream
                .write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                .await;
        }
    });
    (address, hits)
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_fetched() {
    let Some(bench) = bench(small()).await else {
        return;
    };
    let (address, hits) = listener().await;
    // The listener does count.
    drop(tokio::net::TcpStream::connect(&address).await.unwrap());
    while hits.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let image = |id: &str| {
        format!(
            r#"<w:p><w:r><w:drawing><wp:inline><wp:extent cx="1000000" cy="1000000"/><wp:docPr id="1" name="p"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:link="{id}"/><a:stretch/></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="1000000" cy="1000000"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"#
        )
    };
    let secret = bench.folder.path().join("secret.png");
    let png = bench.convert(docx(1), Target::Png).await.unwrap();
    std::fs::write(&secret, &png).unwrap();
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relations = format!(
        r#"<Relationship Id="rId1" Type="{kind}/image" Target="http://{address}/a.png" TargetMode="External"/><Relationship Id="rId2" Type="{kind}/image" Target="file://{}" TargetMode="External"/>"#,
        secret.display()
    );
    let template = format!(
        r#"<Relationship Id="rIdT" Type="{kind}/attachedTemplate" Target="http://{address}/t.dotx" TargetMode="External"/>"#
    );
    let body = image("rId1") + &image("rId2");
    let attached = r#"<w:attachedTemplate r:id="rIdT"/>"#;
    let documents = [
        ("a.docx", docx_with(&body, &relations, &template, attached)),
        (
            "a.fodt",
            flat_text(&format!(
                r#"<text:p><draw:frame xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" svg:width="3cm" svg:height="3cm"><draw:image xlink:href="http://{address}/b.png"/></draw:frame><draw:frame xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" svg:width="3cm" svg:height="3cm"><draw:image xlink:href="file://{}"/></draw:frame></text:p>"#,
                secret.display()
            )),
        ),
        (
            "a.html",
            format!(
                r#"<html><head><link rel="stylesheet" href="http://{address}/c.css"></head><body><img src="http://{address}/c.png"><img src="file://{}"><p>text</p></body></html>"#,
                secret.display()
            )
            .into(),
        ),
        // Drawn as a placeholder, which is a picture.
        (
            "frame.html",
            format!(r#"<html><body><iframe src="http://{address}/d"></iframe></body></html>"#).into(),
        ),
        (
            "a.csv",
            format!("=WEBSERVICE(\"http://{address}/e\"),\"=HYPERLINK(\"\"http://{address}/f\"\")\"\n").into(),
        ),
    ];
    for (name, document) in documents {
        let made = bench.with(document, Some(name), Target::Pdf, &[]).await;
        let pdf = made.unwrap_or_else(|error| panic!("{name}: {error}"));
        let picture = b"/Subtype/Image";
        let has_picture = pdf.windows(picture.len()).any(|it| it == picture);
        assert!(
            !has_picture || name == "frame.html",
            "{name}: a file of this machine is in the result"
        );
    }
    assert_eq!(hits.load(Ordering::SeqCst), 1);
    std::fs::remove_file(secret).unwrap();
    bench.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_million_empty_rows() {
    let Some(bench) = bench(small()).await else {
        return;
    };
    let row = r#"<table:table-row><table:table-cell office:value-type="string"><text:p>cell</text:p></table:table-cell></table:table-row>"#;
    let empty = r#"<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="1000"/></table:table-row>"#;
    let rows = format!("{row}{empty}{row}");
    for target in [Target::Pdf, Target::Xlsx, Target::Csv] {
        let mut job = job(flat_sheet(&rows), target, &[]);
        job.timeout = Duration::from_secs(20);
        match bench.office.convert(job).await {
            Ok(document) => assert!(document.size_bytes < 100 << 20),
            Err(error) => assert_eq!(error.code().fault(), Fault::Timeout, "{error}"),
        }
    }
    let sound = bench.convert(docx(1), Target::Pdf).await;
    assert!(sound.is_ok());
    bench.close().await;
}
