//! Older formats, packages with parts in unusual places, and plain texts in several encodings.

use bytes::Bytes;
use platen_office::Target;

use crate::fixture::{benches, docx, zip};

/// `testWORD6.doc` of Apache Tika (Apache License 2.0).
const WORD_6: &[u8] = include_bytes!("files/word6.doc");

#[tokio::test(flavor = "multi_thread")]
async fn what_older_programs_wrote() {
    for bench in benches().await {
        let text = bench.convert(WORD_6.into(), Target::Txt).await.unwrap();
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains("quick brown fox"), "{text}");
        // An HTML table and a tab-separated one, under the name of a workbook.
        for table in ["<table><tr><td>1</td><td>two</td></tr></table>", "1\ttwo\n"] {
            let input = Bytes::from_static(table.as_bytes());
            let made = bench.with(input, Some("a.xls"), Target::Csv, &[]).await;
            assert_eq!(&made.unwrap()[..], b"1,two\n", "{table}");
        }
        bench.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_document_that_was_packed_anew() {
    for bench in benches().await {
        let whole = bench.convert(docx(1), Target::Odt).await.unwrap();
        let mut archive = ::zip::ZipArchive::new(std::io::Cursor::new(&whole[..])).unwrap();
        let mut writer = ::zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for index in 0..archive.len() {
            let mut part = archive.by_index(index).unwrap();
            let name = part.name().unwrap().into_owned();
            let options = ::zip::write::SimpleFileOptions::default();
            writer.start_file(name, options).unwrap();
            std::io::copy(&mut part, &mut writer).unwrap();
        }
        let packed = writer.finish().unwrap().into_inner();
        let text = bench.convert(packed.into(), Target::Txt).await.unwrap();
        assert!(String::from_utf8_lossy(&text).contains("Paragraph 1"));
        bench.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_whose_main_part_is_elsewhere() {
    for bench in benches().await {
        let types = r#"<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/main.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#;
        let relations = r#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="/main.xml"/></Relationships>"#;
        let main = r#"<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>elsewhere</w:t></w:r></w:p></w:body></w:document>"#;
        let package = zip(&[
            ("[Content_Types].xml", types.as_bytes()),
            ("_rels/.rels", relations.as_bytes()),
            ("main.xml", main.as_bytes()),
        ]);
        let text = bench.convert(package, Target::Txt).await.unwrap();
        assert!(String::from_utf8_lossy(&text).contains("elsewhere"));
        bench.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_csv_stay_what_they_are() {
    for bench in benches().await {
        let text = "Name,Stra\u{df}e,x\nCaf\u{e9},1/2,10:30\n5%,\"007\",2020-01-05\n";
        let units = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            let marked = format!("\u{feff}{text}");
            marked.encode_utf16().flat_map(bytes).collect()
        };
        let latin: Vec<u8> = text.chars().map(|it| u32::from(it) as u8).collect();
        let inputs = [
            text.as_bytes().to_vec(),
            format!("\u{feff}{text}").into_bytes(),
            latin,
            units(u16::to_le_bytes),
            units(u16::to_be_bytes),
            text.replace(',', ";").into_bytes(),
        ];
        for (number, input) in inputs.into_iter().enumerate() {
            let made = bench.with(input.clone().into(), Some("a.csv"), Target::Csv, &[]);
            let made = made.await.unwrap();
            let expected = text.replace('"', "");
            assert_eq!(String::from_utf8_lossy(&made), expected, "{number}");
            let made = bench.with(input.into(), Some("a.txt"), Target::Txt, &[]);
            let made = made.await.unwrap();
            let made = String::from_utf8_lossy(&made);
            assert!(
                made.contains("Caf\u{e9}") && made.contains("Stra\u{df}e"),
                "{number}: {made}"
            );
        }
        bench.close().await;
    }
}
