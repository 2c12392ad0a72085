//! Draws what the examples in `docs/reference/nodes.md` make, and shows the pictures there.

use std::{
    io::{Error, Result},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use crate::picture::{self, Keep};

/// Resolution of the pictures in dots per inch.
const DOTS_PER_INCH: &str = "84";
/// The time of the rendering in seconds since 1970, the same as in the tests.
const NOW: &str = "1795219200";
/// How an example begins.
const OPENING: &str = "```json platen\n";

/// Draws the first example of each section by the binary `platen`.
pub fn write(platen: &str) -> Result<()> {
    let root =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").ok_or(std::io::ErrorKind::NotFound)?)
            .join("..");
    let reference = root.join("docs/reference");
    let pictures = reference.join("nodes");
    if pictures.exists() {
        std::fs::remove_dir_all(&pictures)?;
    }
    std::fs::create_dir_all(&pictures)?;
    let path = reference.join("nodes.md");
    let page = std::fs::read_to_string(&path)?;
    let data = data_of(&page)?;
    let mut shown = String::new();
    for (index, section) in page.split("\n## ").enumerate() {
        if index == 0 {
            shown += section;
            continue;
        }
        shown += "\n## ";
        let name = section.lines().next().unwrap_or_default();
        match example_of(section) {
            Some((json, end)) => {
                let example: Value = serde_json::from_str(json)?;
                draw(
                    platen,
                    &template(example),
                    &data,
                    &pictures.join(format!("{name}.png")),
                )?;
                shown += &with_picture(section, end, name);
            }
            None => shown += section,
        }
    }
    std::fs::write(path, shown)
}

/// The first example of a section, and where it ends.
fn example_of(section: &str) -> Option<(&str, usize)> {
    let start = section.find(OPENING)? + OPENING.len();
    let length = section[start..].find("\n```")?;
    let end = start + length + "\n```\n".len();
    Some((&section[start..start + length], end.min(section.len())))
}

/// The section with its picture behind the example that ends at `end`.
fn with_picture(section: &str, end: usize, name: &str) -> String {
    let line = format!("\n![What this example makes](nodes/{name}.png)\n");
    let (before, after) = section.split_at(end);
    match after.starts_with(&line) {
        true => section.to_owned(),
        false => format!("{before}{line}{after}"),
    }
}

fn data_of(page: &str) -> Result<Value> {
    const DATA: &str = "```json data\n";
    let Some(start) = page.find(DATA) else {
        return Ok(json!({}));
    };
    let rest = &page[start + DATA.len()..];
    let end = rest.find("\n```").unwrap_or(rest.len());
    Ok(serde_json::from_str(&rest[..end])?)
}

/// A template around an example: a node, nodes, or a whole template already.
fn template(example: Value) -> Value {
    let mut template = match example {
        whole if whole.get("key").is_some() && whole.get("body").is_some() => whole,
        Value::Array(nodes) => json!({"body": nodes}),
        node => json!({"body": [node]}),
    };
    let own = [
        ("kind", json!("document")),
        ("key", json!("reference")),
        ("locale", json!("en-GB")),
        ("currency", json!("GBP")),
        (
            "page",
            json!({"size": {"width": "130mm", "height": "120mm"}, "margins": "6mm"}),
        ),
    ];
    for (field, value) in own {
        if template.get(field).is_none() {
            template[field] = value;
        }
    }
    template
}

fn draw(platen: &str, template: &Value, data: &Value, path: &Path) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("platen-nodes-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let write = |name: &str, value: &Value| -> Result<PathBuf> {
        let path = folder.join(name);
        std::fs::write(&path, value.to_string())?;
        Ok(path)
    };
    let done = Command::new(platen)
        .arg("render")
        .arg(write("template.json", template)?)
        .arg(write("data.json", data)?)
        .args(["--now", NOW, "--no-system-fonts", "--quiet"])
        .args(["--dpi", DOTS_PER_INCH, "-o"])
        .arg(path)
        .status()?;
    std::fs::remove_dir_all(&folder)?;
    if !done.success() {
        return Err(Error::other(format!("{} was not drawn", path.display())));
    }
    let drawn = std::fs::read(path)?;
    std::fs::write(path, picture::reduce(&drawn, Keep::Content)?)
}
