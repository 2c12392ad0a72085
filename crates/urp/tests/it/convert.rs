//! Conversions with every kind of input and output.

use bytes::Bytes;
use platen_urp::{Client, Conversion, Converted, Input, Options, Output, Property, Transfer};
use tokio::io::AsyncReadExt;

use crate::soffice::{Soffice, program, until};

/// A small flat document, from which every format that LibreOffice writes is created.
pub const FLAT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text><text:h text:outline-level="1">A letter</text:h><text:p>Dear reader, this is a line.</text:p></office:text></office:body></office:document>"#;

/// Not written by LibreOffice, whose own HTML has comments, which a LibreOffice without a user
/// interface cannot show.
const HTML: &[u8] = b"<html><body><h1>A letter</h1><p>Dear reader.</p></body></html>";

/// A flat spreadsheet.
pub const SHEET: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet><table:table table:name="One"><table:table-row><table:table-cell office:value-type="string"><text:p>cell</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document>"#;

pub fn pdf() -> Conversion {
    Conversion {
        filter: "writer_pdf_Export".to_owned(),
        ..Conversion::default()
    }
}

/// Creates a document in another format with LibreOffice.
pub async fn make(client: &platen_urp::Client, flat: &'static str, filter: &str) -> Bytes {
    let conversion = Conversion {
        filter: filter.to_owned(),
        import_filter: Some(import_of(flat).to_owned()),
        ..Conversion::default()
    };
    let input = Input::Bytes(Bytes::from_static(flat.as_bytes()));
    let converted = client.convert(input, Output::Bytes, &conversion).await;
    converted.unwrap().bytes.unwrap()
}

fn import_of(flat: &str) -> &'static str {
    match flat.contains("spreadsheet") {
        true => "OpenDocument Spreadsheet Flat XML",
        false => "OpenDocument Text Flat XML",
    }
}

fn is_pdf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"%PDF-") && bytes.ends_with(b"%%EOF\n") && bytes.len() > 3000
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversion_over_tcp() {
    let Some(program) = program() else { return };
    let soffice = Soffice::start(&program).await;
    let address = format!("127.0.0.1:{}", soffice.port);
    let mut connected = None;
    // The pipe may exist a moment before the port.
    until("soffice listens", async || {
        connected = Client::connect_tcp(&address, Options::default()).await.ok();
        connected.is_some()
    })
    .await;
    let client = connected.unwrap();
    let docx = make(&client, FLAT, "MS Word 2007 XML").await;
    for transfer in [Transfer::File, Transfer::Stream] {
        let conversion = Conversion {
            import_filter: Some("MS Word 2007 XML".to_owned()),
            input: transfer,
            output: transfer,
            ..pdf()
        };
        let input = Input::Bytes(docx.clone());
        let converted = client.convert(input, Output::Bytes, &conversion).await;
        assert!(is_pdf(&converted.unwrap().bytes.unwrap()), "{transfer:?}");
    }
    assert!(
        client
            .version()
            .await
            .unwrap()
            .starts_with(char::is_numeric)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_in_and_out() {
    let Some(program) = program() else { return };
    let soffice = Soffice::start(&program).await;
    let client = soffice.client().await;
    let docx = make(&client, FLAT, "MS Word 2007 XML").await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter ü.docx");
    std::fs::write(&path, &docx).unwrap();
    let mut sizes = Vec::new();
    for input_transfer in [Transfer::File, Transfer::Stream] {
        for output_transfer in [Transfer::File, Transfer::Stream] {
            for kind in 0..12 {
                let conversion = Conversion {
                    import_filter: Some("MS Word 2007 XML".to_owned()),
                    input: input_transfer,
                    output: output_transfer,
                    ..pdf()
                };
                let input = match kind % 4 {
                    0 => Input::Path(path.clone()),
                    1 => Input::Bytes(docx.clone()),
                    2 => Input::Stream(Box::new(std::io::Cursor::new(docx.clone()))),
                    _ => Input::Seekable(Box::new(std::io::Cursor::new(docx.clone()))),
                };
                let target = folder.path().join("out.pdf");
                let (ours, mut theirs) = tokio::io::duplex(1 << 20);
                let output = match kind / 4 {
                    0 => {
                        drop(ours);
                        Output::Path(target.clone())
                    }
                    1 => {
                        drop(ours);
                        Output::Bytes
                    }
                    _ => Output::Stream(Box::new(ours)),
                };
                let reader = tokio::spawn(async move {
                    let mut bytes = Vec::new();
                    theirs.read_to_end(&mut bytes).await.unwrap();
                    bytes
                });
                let converted = client.convert(input, output, &conversion).await.unwrap();
                let streamed = reader.await.unwrap();
                let bytes = match kind / 4 {
                    0 => std::fs::read(&target).unwrap(),
                    1 => converted.bytes.as_ref().unwrap().to_vec(),
                    _ => streamed,
                };
                assert!(is_pdf(&bytes), "{kind}");
                if let Some(size) = converted.size_bytes {
                    assert_eq!(size, bytes.len() as u64);
                }
                assert_phases(&converted);
                sizes.push(bytes.len());
                let _ = std::fs::remove_file(&target);
            }
        }
    }
    let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
    assert!(most - least < 64, "{sizes:?}");
    assert_eq!(client.bridge().exported(), 0);
    assert_eq!(client.close_documents().await.unwrap(), 0);
}

fn assert_phases(converted: &Converted) {
    let phases = converted.phases;
    assert!(phases.load.as_nanos() > 0 && phases.store.as_nanos() > 0);
    assert!(phases.total() >= phases.load + phases.store);
}

/// Checks our table of formats against the installed LibreOffice: with our choice of whether a
/// stream can seek, every format gives the same pages as a file.
#[tokio::test(flavor = "multi_thread")]
async fn streams_of_every_format_give_what_files_give() {
    let Some(program) = program() else { return };
    let soffice = Soffice::start(&program).await;
    let client = soffice.client().await;
    let formats = [
        (FLAT, "MS Word 2007 XML", "writer_pdf_Export"),
        (FLAT, "writer8", "writer_pdf_Export"),
        (FLAT, "MS Word 97", "writer_pdf_Export"),
        (FLAT, "Rich Text Format", "writer_pdf_Export"),
        (FLAT, "HTML (StarWriter)", "writer_web_pdf_Export"),
        (FLAT, "Text (encoded)", "writer_pdf_Export"),
        (FLAT, "OpenDocument Text Flat XML", "writer_pdf_Export"),
        (SHEET, "Calc MS Excel 2007 XML", "calc_pdf_Export"),
        (SHEET, "calc8", "calc_pdf_Export"),
        (SHEET, "MS Excel 97", "calc_pdf_Export"),
    ];
    for (flat, filter, export) in formats {
        let document = match filter.starts_with("HTML") {
            true => Bytes::from_static(HTML),
            false => make(&client, flat, filter).await,
        };
        let mut sizes = Vec::new();
        let mut calls = Vec::new();
        for input in [Transfer::File, Transfer::Stream] {
            let conversion = Conversion {
                filter: export.to_owned(),
                import_filter: Some(filter.to_owned()),
                load: match filter {
                    "Text (encoded)" => vec![Property::new("FilterOptions", "UTF8")],
                    _ => Vec::new(),
                },
                input,
                ..Conversion::default()
            };
            let document = Input::Bytes(document.clone());
            let converted = client.convert(document, Output::Bytes, &conversion).await;
            let converted = converted.unwrap_or_else(|error| panic!("{filter}: {error}"));
            sizes.push(converted.size_bytes.unwrap());
            calls.push(converted.input_calls);
        }
        eprintln!("{filter}: {sizes:?} bytes, {} calls", calls[1]);
        assert!(sizes[0].abs_diff(sizes[1]) < 64, "{filter}: {sizes:?}");
        assert!(sizes[0] > 3000, "{filter}: {sizes:?}");
        // Documents go as a whole to later versions.
        let by_calls = client.version().await.unwrap().starts_with("7.");
        assert!(
            calls[0] == 0 && (calls[1] > 0) == by_calls,
            "{filter}: {calls:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_stream_goes_in_pieces() {
    let Some(program) = program() else { return };
    let soffice = Soffice::start(&program).await;
    let client = soffice.client().await;
    // Longer than what is sent as one sequence; one line of text, of which one page is enough.
    let text = bytes::Bytes::from(vec![b' '; 40 * 1024 * 1024]);
    let conversion = Conversion {
        import_filter: Some("Text".to_owned()),
        filter_data: vec![Property::new("PageRange", "1")],
        ..pdf()
    };
    let input = Input::Stream(Box::new(std::io::Cursor::new(text)));
    let converted = client.convert(input, Output::Bytes, &conversion).await;
    let converted = converted.unwrap();
    assert!(converted.bytes.unwrap().starts_with(b"%PDF"));
    assert_eq!(converted.input_calls, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn options_indexes_and_landscape_reach_the_document() {
    let Some(program) = program() else { return };
    let soffice = Soffice::start(&program).await;
    let client = soffice.client().await;
    let odt = make(&client, FLAT, "writer8").await;
    let conversion = Conversion {
        import_filter: Some("writer8".to_owned()),
        update_indexes: true,
        landscape: true,
        filter_data: vec![
            Property::new("SelectPdfVersion", 2),
            Property::new("UseTaggedPDF", true),
        ],
        ..pdf()
    };
    let converted = client.convert(Input::Bytes(odt), Output::Bytes, &conversion);
    let bytes = converted.await.unwrap().bytes.unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("pdfaid:part>2<"), "not PDF/A-2");
    let media = text.split("/MediaBox[").nth(1).unwrap();
    let numbers: Vec<f64> = media
        .split([' ', ']'])
        .take(4)
        .map(|it| it.parse().unwrap())
        .collect();
    assert!(numbers[2] > numbers[3], "{numbers:?}");
}
