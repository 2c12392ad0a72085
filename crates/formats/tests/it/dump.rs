//! Writes every sample in every format to the folder `PLATEN_SAMPLES`, for inspection, and prints
//! how long it took. Does nothing if the variable is not set.

use std::{path::PathBuf, time::Instant};

use platen_document::bound::Document;
use platen_formats::{Written, csv, docx, html, pptx, xlsx};

use crate::sample;

type Write = fn(&Document) -> Written;

const FORMATS: &[(&str, Write)] = &[
    ("docx", |document| {
        let pages = ["1", "1", "1", "10"].map(str::to_owned);
        docx::write(
            document,
            &docx::DocxOptions {
                heading_pages: &pages,
            },
        )
        .unwrap()
    }),
    ("html", |document| html::write(document, None).unwrap()),
    ("xlsx", |document| xlsx::write(document).unwrap()),
    ("pptx", |document| pptx::write(document).unwrap()),
    ("csv", |document| {
        csv::write(document, &csv::CsvOptions::default()).unwrap()
    }),
];

#[test]
fn samples_are_written_where_asked() {
    let Some(folder) = std::env::var_os("PLATEN_SAMPLES").map(PathBuf::from) else {
        return;
    };
    let samples = [
        ("everything", sample::everything("en-GB")),
        ("arabic", sample::arabic()),
        ("spans", sample::spans()),
        ("rows400", sample::long_table(400)),
        ("rows4000", sample::long_table(4000)),
    ];
    for (extension, write) in FORMATS {
        for (name, document) in &samples {
            let mut fastest = f64::INFINITY;
            let mut written = write(document);
            for _ in 0..9 {
                let start = Instant::now();
                written = write(document);
                fastest = fastest.min(start.elapsed().as_secs_f64() * 1e3);
            }
            let codes: Vec<_> = written.warnings.iter().map(|w| w.code.as_str()).collect();
            println!(
                "{name}.{extension}: {fastest:.2} ms, {} bytes, {codes:?}",
                written.bytes.len()
            );
            std::fs::write(folder.join(format!("{name}.{extension}")), &written.bytes).unwrap();
        }
    }
}
