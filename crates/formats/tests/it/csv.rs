//! CSV: quoting, formulas, typed values, choice of the table.

use platen_formats::{
    Error,
    csv::{CsvOptions, CsvValues, write},
};

use crate::{sample, whole::bound_to};

fn text(document: &platen_document::bound::Document, options: &CsvOptions) -> String {
    String::from_utf8(write(document, options).unwrap().bytes).unwrap()
}

#[test]
fn spans_quotes_and_formulas() {
    let document = sample::spans();
    assert_eq!(
        text(&document, &CsvOptions::default()),
        "a,b,c\r\ntall,wide,\r\n,inner paragraph,'=1+1\r\n\"one, \"\"two\"\"\",'-5,\r\n"
    );
    let options = CsvOptions {
        neutralise_formulas: false,
        delimiter: ';',
        bom: true,
        ..CsvOptions::default()
    };
    assert_eq!(
        text(&document, &options),
        "\u{FEFF}a;b;c\r\ntall;wide;\r\n;inner paragraph;=1+1\r\n\"one, \"\"two\"\"\";-5;\r\n"
    );
}

#[test]
fn typed_values_are_raw_by_default() {
    let document = sample::everything("en");
    let csv = text(&document, &CsvOptions::default());
    assert!(
        csv.starts_with("no,date,description,quantity,price,amount\r\n1,2026-09-04,"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 7, "totals are no data");
    let options = CsvOptions {
        values: CsvValues::Formatted,
        ..CsvOptions::default()
    };
    assert!(text(&document, &options).contains("01 Sep 2026"));
    let warnings = write(&document, &CsvOptions::default()).unwrap().warnings;
    let codes: Vec<&str> = warnings.iter().map(|it| &*it.code).collect();
    assert_eq!(codes, ["content-omitted", "summary-rows-omitted"]);
}

#[test]
fn long_integers_keep_their_digits() {
    let template = serde_json::json!({"key": "t", "name": "T", "locale": "de-DE", "body": [
        {"type": "table", "rows": "items", "columns": [
            {"header": "id", "value": "{{ item }}", "format": "integer"}
        ]}
    ]});
    let data = serde_json::json!({"items": [
        1_234_567_890_123_456_789_i64, -9_007_199_254_740_993_i64, 42, 2.5e18
    ]});
    assert_eq!(
        text(&bound_to(template, &data), &CsvOptions::default()),
        "id\r\n1234567890123456789\r\n-9007199254740993\r\n42\r\n2.5e18\r\n"
    );
}

#[test]
fn an_unknown_table_is_the_authors_mistake() {
    let options = CsvOptions {
        table: Some("other".to_owned()),
        ..CsvOptions::default()
    };
    let Err(Error::Author(diagnostic)) = write(&sample::everything("en"), &options) else {
        panic!("no error")
    };
    assert_eq!(diagnostic.code, "unknown-table");
    assert!(diagnostic.hint.unwrap().contains("`items`"));
}

#[test]
fn every_field_may_be_quoted() {
    let options = CsvOptions {
        quote_all: true,
        delimiter: '\t',
        ..CsvOptions::default()
    };
    let csv = text(&sample::spans(), &options);
    assert_eq!(
        csv.lines().next(),
        Some("\"a\"\t\"b\"\t\"c\""),
        "the head is quoted, too"
    );
    for line in csv.lines().filter(|line| !line.contains("\"\"")) {
        assert!(line.starts_with('"') && line.ends_with('"'), "{line}");
    }
}
