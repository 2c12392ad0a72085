//! The reference is true: every example of `docs/reference` renders, every row of its tables of
//! expressions gives what it says, and every property of the template format is described, also in German.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    process::Command,
};

use serde_json::{Value, json};

fn reference() -> PathBuf {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let root = manifest.ancestors().nth(2).expect("a root");
    root.join("docs/reference")
}

fn pages() -> Vec<(String, String)> {
    let mut pages: Vec<(String, String)> = std::fs::read_dir(reference())
        .expect("docs/reference")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a page");
            (path.display().to_string(), text)
        })
        .collect();
    pages.sort();
    pages
}

/// The fenced blocks of `page` that are marked `mark`, with the lines where they start.
fn blocks<'p>(page: &'p str, mark: &str) -> Vec<(usize, &'p str)> {
    let opening = format!("```{mark}\n");
    let mut blocks = Vec::new();
    let mut from = 0;
    while let Some(found) = page[from..].find(&opening) {
        let start = from + found + opening.len();
        let end = start + page[start..].find("\n```").expect("a closing fence");
        blocks.push((page[..start].lines().count(), &page[start..end]));
        from = end;
    }
    blocks
}

fn data_of(page: &str) -> Value {
    blocks(page, "json data")
        .first()
        .map_or_else(|| json!({}), |(_, data)| parse(data))
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// Renders `template` with `data`; what was said where that failed. It may import the templates
/// `before` it on the page.
fn render(
    template: &Value,
    before: &[Value],
    data: &Value,
    format: &str,
    locale: &str,
) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, value: &Value| {
        let path = folder.path().join(name);
        std::fs::write(&path, value.to_string()).expect("a file");
        path
    };
    for other in before {
        write(
            &format!("{}.json", other["key"].as_str().expect("a key")),
            other,
        );
    }
    let target = folder.path().join(format!("out.{format}"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    command
        .arg("render")
        .arg(write("template.json", template))
        .arg(write("data.json", data))
        .args(["--now", "1795219200", "--no-system-fonts", "-o"])
        .arg(&target);
    if !locale.is_empty() {
        command.args(["--locale", locale]);
    }
    let output = command.output().expect("platen runs");
    if output.status.success() {
        Ok(std::fs::read(target).expect("the file that was made"))
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// A template around `example`: a node, nodes, or a whole template already.
fn template_around(example: Value) -> Value {
    if example.get("key").is_some() && example.get("body").is_some() {
        return example;
    }
    let body = match example {
        Value::Array(nodes) => nodes,
        node => vec![node],
    };
    json!({
        "kind": "document",
        "key": "reference",
        "locale": "en-GB",
        "currency": "GBP",
        "body": body,
    })
}

#[test]
fn examples_render() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (path, page) in pages() {
        let data = data_of(&page);
        let mut before: Vec<Value> = Vec::new();
        for (line, example) in blocks(&page, "json platen") {
            count += 1;
            let template = template_around(parse(example));
            let made = render(&template, &before, &data, "pdf", "");
            before.push(template);
            if let Err(said) = made {
                wrong.push(format!("{path}:{line}: {said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 30, "only {count} examples were found");
}

/// A row of a table of expressions.
struct Row {
    line: usize,
    locale: String,
    expression: String,
    result: String,
}

/// The rows of tables whose header names an expression and its result.
fn expressions(page: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut columns: Vec<String> = Vec::new();
    for (number, line) in page.lines().enumerate() {
        let Some(inner) = line
            .strip_prefix('|')
            .and_then(|line| line.strip_suffix('|'))
        else {
            columns.clear();
            continue;
        };
        let inner = inner.replace("\\|", "\u{0}");
        let cells: Vec<String> = inner
            .split('|')
            .map(|cell| cell.trim().trim_matches('`').replace('\u{0}', "|"))
            .collect();
        if columns.is_empty() {
            columns = cells;
            continue;
        }
        let cell = |name: &str| {
            let at = columns.iter().position(|column| column == name)?;
            cells.get(at).cloned()
        };
        let (Some(expression), Some(result)) = (cell("Expression"), cell("Result")) else {
            continue;
        };
        if !expression.starts_with("--") {
            rows.push(Row {
                line: number + 1,
                locale: cell("Locale").unwrap_or_default(),
                expression,
                result,
            });
        }
    }
    rows
}

/// The fields of a CSV's second column, quotes and the marks around each value taken off.
fn results(csv: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(csv).replace("\"\"", "\"");
    text.split("[[")
        .skip(1)
        .filter_map(|rest| rest.split("]]").next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn expressions_give_their_results() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (path, page) in pages() {
        let data = data_of(&page);
        let mut by_locale: BTreeMap<String, Vec<Row>> = BTreeMap::new();
        for row in expressions(&page) {
            by_locale.entry(row.locale.clone()).or_default().push(row);
        }
        for (locale, rows) in by_locale {
            count += rows.len();
            let cells: Vec<Value> = rows
                .iter()
                .map(|row| json!({"cells": [format!("[[{{{{ {} }}}}]]", row.expression)]}))
                .collect();
            let template = json!({
                "kind": "document", "key": "reference", "locale": "en-GB", "currency": "GBP",
                "timeZone": "Europe/London",
                "messages": {
                    "en-GB": {"greeting": "Hello, {name}!"},
                    "de-DE": {"greeting": "Guten Tag, {name}!"},
                },
                "body": [{"type": "table", "columns": [{"key": "value"}], "bodyRows": cells}],
            });
            match render(&template, &[], &data, "csv", &locale) {
                Err(said) => wrong.push(format!("{path}: {said}")),
                Ok(csv) => {
                    let found = results(&csv);
                    assert_eq!(found.len(), rows.len(), "{path}: {found:?}");
                    for (row, found) in rows.iter().zip(found) {
                        let expected = row.result.replace('~', "\u{A0}");
                        if found.replace('\u{202F}', "\u{A0}") != expected {
                            wrong.push(format!(
                                "{path}:{}: {} gives {found:?}, not {expected:?}",
                                row.line, row.expression
                            ));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 60, "only {count} expressions were found");
}

/// The JSON Schema of templates.
fn template_schema() -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_platen"))
        .arg("schema")
        .output()
        .expect("platen runs");
    serde_json::from_slice(&output.stdout).expect("a schema")
}

#[test]
fn every_property_is_described() {
    let schema = template_schema();
    let text: String = pages().into_iter().map(|(_, page)| page).collect();
    let mut names = Vec::new();
    collect(&schema, &mut names);
    names.sort();
    names.dedup();
    let missing: Vec<&String> = names
        .iter()
        .filter(|name| !text.contains(&format!("`{name}`")))
        .collect();
    assert!(missing.is_empty(), "the reference lacks {missing:?}");
}

/// Names of properties and constants anywhere in a schema.
fn collect(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Array(parts) => parts.iter().for_each(|part| collect(part, names)),
        Value::Object(fields) => {
            if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
                names.extend(properties.keys().cloned());
            }
            if let Some(name) = fields.get("const").and_then(Value::as_str) {
                names.push(name.to_owned());
            }
            fields.values().for_each(|part| collect(part, names));
        }
        _ => {}
    }
}

/// Studio shows the descriptions of both formats in German, too; none is left of a former one.
#[test]
fn every_description_has_a_german_one() {
    let template = template_schema();
    let mut english = BTreeSet::new();
    for schema in [&template, &platen_flow::schema()] {
        add_descriptions(schema, &mut english);
    }
    let web = reference().join("../../crates/studio/web");
    let mut german: BTreeMap<String, String> = BTreeMap::new();
    for part in ["document", "nodes", "invoice", "flow"] {
        let name = format!("schema-de-{part}.js");
        let text = std::fs::read_to_string(web.join(&name)).expect("a catalogue");
        for line in text.lines().filter(|line| line.starts_with("  \"")) {
            let entry = format!("{{{}}}", line.trim_end_matches(','));
            let entry: BTreeMap<String, String> = serde_json::from_str(&entry).expect(line);
            for (english, of) in entry {
                let former = german.insert(english, of);
                assert!(former.is_none(), "{name}: twice: {line}");
            }
        }
    }
    assert!(english.len() > 800, "{}", english.len());
    let missing: Vec<&String> = english
        .iter()
        .filter(|text| !german.contains_key(*text))
        .collect();
    assert!(missing.is_empty(), "schema-de-*.js lack {missing:#?}");
    let former: Vec<&String> = german
        .keys()
        .filter(|text| !english.contains(*text))
        .collect();
    assert!(former.is_empty(), "no schema has {former:#?}");
    for (english, of) in &german {
        // What is written as code is the same in all languages.
        for code in english.split('`').skip(1).step_by(2) {
            assert!(of.contains(&format!("`{code}`")), "`{code}` is not in {of}");
        }
    }
}

/// The descriptions anywhere in a schema.
fn add_descriptions(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Array(parts) => parts.iter().for_each(|part| add_descriptions(part, found)),
        Value::Object(fields) => {
            for (name, part) in fields {
                match part.as_str() {
                    Some(text) if name == "description" => drop(found.insert(text.to_owned())),
                    _ => add_descriptions(part, found),
                }
            }
        }
        _ => {}
    }
}
