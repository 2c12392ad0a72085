//! Export filters by name, with their options.

use std::time::Duration;

use platen_office::{Error, Family, Target};

use crate::fixture::{PATIENCE, bench, benches, docx, flat_sheet, pages, small};

const CELLS: &str = r#"<table:table-row><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>b</text:p></table:table-cell></table:table-row>"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_filters_are_listed_with_what_they_write() {
    let Some(bench) = bench(small()).await else {
        return;
    };
    let filters = bench.office.export_filters(PATIENCE).await.unwrap();
    assert!(filters.version.split('.').count() >= 3);
    assert!(filters.all.len() > 60, "{}", filters.all.len());
    let find = |name: &str| {
        let mut found = filters.all.iter().filter(|it| it.name == name);
        found.next().unwrap_or_else(|| panic!("no {name}"))
    };
    let pdf = find("writer_pdf_Export");
    assert_eq!(pdf.family, Family::Text);
    assert_eq!(pdf.format, Target::Pdf.into());
    assert_eq!(find("Text (encoded)").format, Target::Txt.into());
    assert_eq!(find("MS Word 97").format.extension, "doc");
    let page = &find("XHTML Writer File").format;
    assert_eq!(page.media_type, "application/xhtml+xml");
    // Folders of pages, and documents of several files.
    for name in ["impress_html_Export", "writerglobal8"] {
        assert!(filters.all.iter().all(|it| it.name != name), "{name}");
    }
    // From memory now, however little time is left.
    let again = bench.office.export_filters(Duration::ZERO).await.unwrap();
    assert_eq!(again.all.len(), filters.all.len());
    bench.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_written_by_the_filter_that_is_named() {
    for bench in benches().await {
        let with = async |options: &[(&str, &str)]| {
            let made = bench.with(docx(200), None, Target::Pdf, options).await;
            made.unwrap_or_else(|error| panic!("{options:?}: {error}"))
        };
        assert!(
            with(&[("filter", "MS Word 97")])
                .await
                .starts_with(b"\xd0\xcf\x11\xe0")
        );
        let page = with(&[("filter", "XHTML Writer File")]).await;
        assert!(String::from_utf8_lossy(&page).contains("Paragraph"));
        // Options of filters, plain and with types, override the named ones.
        let filter = ("filter", "writer_pdf_Export");
        let all = with(&[filter]).await;
        assert_eq!(all, with(&[]).await, "what the target gives");
        let data = (
            "filter_data",
            r#"{"PageRange":{"type":"string","value":"1"},"UseTaggedPDF":true}"#,
        );
        let first = with(&[filter, data, ("pages", "9")]).await;
        assert!(pages(&all) > 1);
        assert_eq!(pages(&first), 1);
        assert_eq!(first, with(&[data]).await, "they need no filter");
        assert_eq!(first, with(&[filter, data]).await, "the same bytes");
        let data = ("filter_data", r#"{"PixelWidth":64,"PixelHeight":32}"#);
        let png = with(&[("filter", "writer_png_Export"), data]).await;
        // LibreOffice 7.4 makes it a pixel larger.
        assert!(png[19].abs_diff(64) < 2 && png[23].abs_diff(32) < 2);
        let sheet = flat_sheet(CELLS);
        let options = [("filter_options", "59,34,76")];
        let table = bench
            .with(sheet, None, Target::Csv, &options)
            .await
            .unwrap();
        assert_eq!(&*table, b"a;b\n");
        bench.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_filters_are_told_with_similar_ones() {
    let Some(bench) = bench(small()).await else {
        return;
    };
    let problem = async |filter: &str| {
        let options = [("filter", filter)];
        let made = bench.with(docx(1), None, Target::Pdf, &options).await;
        match made {
            Err(Error::BadOption { option, problem }) if option == "filter" => problem,
            made => panic!("{filter}: {:?}", made.map(|it| it.len())),
        }
    };
    let text = problem("writer_pdf_export").await;
    assert!(text.contains("similar: `writer_pdf_Export`"), "{text}");
    let text = problem("calc8").await;
    assert!(text.contains("writes a spreadsheet"), "{text}");
    let text = problem("impress_html_Export").await;
    assert!(text.contains("several files"), "{text}");
    assert!(!problem("???").await.contains("similar"));
    bench.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_travel_as_files_or_over_the_connection() {
    for bench in benches().await {
        let with = async |io: &str| {
            let options = [("io", io)];
            bench.with(docx(2), None, Target::Pdf, &options).await
        };
        let usual = bench.convert(docx(2), Target::Pdf).await.unwrap();
        assert_eq!(with("stream").await.unwrap(), usual);
        for io in ["file", "stream-in", "stream-out"] {
            match with(io).await {
                Ok(made) => assert_eq!(made, usual, "{io}"),
                // Only one that others start shares no folder.
                Err(Error::BadOption { option, problem }) => {
                    assert!(option == "io" && problem.contains("elsewhere"));
                    assert!(bench.office.status().pool.slots == 1);
                }
                Err(error) => panic!("{io}: {error}"),
            }
        }
        bench.close().await;
    }
}
