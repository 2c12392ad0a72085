//! The round trip through LibreOffice: the Office files of every example become PDF again and still
//! hold the words of headings, table headers and cells.

use std::{collections::BTreeSet, path::Path, process::Command};

use serde_json::Value;

use crate::{
    case::Case,
    tools::{has, ooxml_validator, platen, print_of, repository},
};

const FORMATS: [&str; 3] = ["docx", "pptx", "xlsx"];
/// Rows of a table whose cells are looked for.
const ROWS: usize = 5;

/// The Office files of `examples` keep the schemas of ECMA-376, says an independent validator.
pub fn check_schemas(examples: &[Case]) {
    let Some(validator) = ooxml_validator() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = Vec::new();
    for example in examples {
        files.extend(render(example, folder.path()));
    }
    let findings = |arguments: &[&std::ffi::OsStr]| {
        let output = Command::new(&validator)
            .arg("--quiet")
            .args(arguments)
            .output()
            .expect("the validator runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (!output.status.success()).then_some(said)
    };
    if findings(&["--recursive".as_ref(), folder.path().as_os_str()]).is_none() {
        return;
    }
    // It remembers packages by their address in memory, where another may lie later: what it finds
    // in many files counts where it finds it in one alone.
    let found: String = files
        .iter()
        .filter_map(|file| findings(&[file.as_os_str()]))
        .collect();
    assert!(found.is_empty(), "{found}");
}

/// Converts the Office files of `examples` that have a table and looks for their words.
pub fn check(examples: &[Case]) {
    if !(has("soffice", "--version") & has("pdftotext", "-v")) {
        return;
    }
    let examples: Vec<&Case> = examples.iter().filter(|case| case.has_table()).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = Vec::new();
    for example in &examples {
        files.extend(render(example, folder.path()));
    }
    let profile = folder.path().join("profile");
    // The fonts of the service, so that pages break alike on every machine.
    let place = folder.path().join("fonts");
    let settings = platen_fonts::FontSettings {
        folders: vec![repository().join("examples/fonts")],
        ..platen_fonts::FontSettings::default()
    };
    let fonts = platen_fonts::install(&settings, &place);
    let converted = Command::new("soffice")
        .env("FONTCONFIG_FILE", fonts.expect("fonts").configuration)
        .arg(format!(
            "-env:UserInstallation=file://{}",
            profile.display()
        ))
        .args(["--headless", "--convert-to", "pdf", "--outdir"])
        .arg(folder.path())
        .args(&files)
        .output()
        .expect("soffice runs");
    let mut wrong = Vec::new();
    for example in examples {
        let words = words(example, folder.path());
        assert!(words.len() >= 5, "{}: words {words:?}", example.name);
        for format in FORMATS {
            let pdf = folder.path().join(format!("{}-{format}.pdf", key(example)));
            assert!(
                pdf.exists(),
                "LibreOffice made no {}: {}",
                pdf.display(),
                String::from_utf8_lossy(&converted.stderr)
            );
            let lost = lost(&words, &pdf);
            if !lost.is_empty() {
                wrong.push(format!("{} as {format} lost {lost:?}", example.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn key(example: &Case) -> &str {
    example.name.rsplit('/').next().unwrap_or_default()
}

/// Renders the Office files and the CSV of its table, if it has one; the Office files.
fn render(example: &Case, folder: &Path) -> Vec<std::path::PathBuf> {
    let template = example.source.join("template.json").display().to_string();
    let data = example.source.join("data.json").display().to_string();
    let mut outputs: Vec<_> = FORMATS
        .iter()
        .map(|format| folder.join(format!("{}-{format}.{format}", key(example))))
        .collect();
    let files = outputs.clone();
    if example.has_table() {
        outputs.push(folder.join(format!("{}.csv", key(example))));
    }
    let fonts = example.font_arguments();
    let mut arguments = vec!["render", &template, &data];
    arguments.extend(fonts.iter().map(String::as_str));
    let output = platen(&arguments, &outputs);
    assert!(
        output.status.success(),
        "{}: {}",
        example.name,
        String::from_utf8_lossy(&output.stderr)
    );
    files
}

/// Words of the template's headings and table headers, and of the first cells of its data.
fn words(example: &Case, folder: &Path) -> BTreeSet<String> {
    let template = std::fs::read(example.source.join("template.json")).expect("a template");
    let template: Value = serde_json::from_slice(&template).expect("JSON");
    let mut words = BTreeSet::new();
    collect(&template["body"], &mut words);
    let cells = folder.join(format!("{}.csv", key(example)));
    let cells = std::fs::read_to_string(cells).expect("a CSV");
    for line in cells.lines().skip(1).take(ROWS) {
        add(line, &mut words);
    }
    words
}

fn collect(node: &Value, words: &mut BTreeSet<String>) {
    match node {
        Value::Array(nodes) => nodes.iter().for_each(|node| collect(node, words)),
        Value::Object(fields) => {
            if fields.get("type").is_some_and(|kind| kind == "heading") {
                add(fields["content"].as_str().unwrap_or_default(), words);
            }
            if let Some(header) = fields.get("header").and_then(Value::as_str) {
                add(header, words);
            }
            // The headers of columns that show none name them for screen readers only.
            if fields.get("showHeader") == Some(&Value::Bool(false)) {
                let mut fields = fields.clone();
                let columns = fields.get_mut("columns").and_then(Value::as_array_mut);
                for column in columns.into_iter().flatten() {
                    column.as_object_mut().map(|column| column.remove("header"));
                }
                fields.values().for_each(|node| collect(node, words));
                return;
            }
            fields.values().for_each(|node| collect(node, words));
        }
        _ => {}
    }
}

/// Adds the words of `text`; expressions, numbers and punctuation are none.
fn add(text: &str, words: &mut BTreeSet<String>) {
    let mut plain = String::new();
    for (index, piece) in text.split("{{").enumerate() {
        let literal = match index {
            0 => piece,
            _ => piece.split_once("}}").map_or("", |(_, rest)| rest),
        };
        plain.push_str(literal);
        plain.push(' ');
    }
    let found = plain.split(|symbol: char| !symbol.is_alphabetic());
    words.extend(
        found
            .filter(|word| word.chars().count() > 1)
            .map(str::to_owned),
    );
}

/// False for words whose vowel signs and ligatures LibreOffice's PDF gives in the order of the page:
/// of Arabic, of the scripts of India and of Thai.
fn is_plain(word: &str) -> bool {
    let marked = |symbol| matches!(symbol, '\u{64B}'..='\u{65F}' | '\u{900}'..='\u{DFF}' | '\u{E00}'..='\u{EFF}');
    let ligature = ["لا", "لأ", "لإ", "لآ"].iter().any(|pair| word.contains(pair));
    !ligature && !word.contains(marked)
}

/// The words that a PDF does not hold, in reading order or as laid out.
fn lost(words: &BTreeSet<String>, pdf: &Path) -> Vec<String> {
    let name = pdf.display().to_string();
    let squeezed: Vec<String> = ["-raw", "-layout"]
        .into_iter()
        .map(|order| {
            let text = print_of("pdftotext", &[order, &name, "-"]).expect("pdftotext runs");
            text.chars()
                .filter(|symbol| symbol.is_alphanumeric())
                .collect()
        })
        .collect();
    words
        .iter()
        .filter(|word| is_plain(word))
        .filter(|word| !squeezed.iter().any(|text| text.contains(word.as_str())))
        .cloned()
        .collect()
}
