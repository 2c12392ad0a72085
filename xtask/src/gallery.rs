//! Writes `docs/gallery.md` and its pictures: every example, page by page.

use std::{
    fmt::Write as _,
    io::{Error, Result},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::picture::{self, Keep};

/// Resolution of the pictures in dots per inch.
const DOTS_PER_INCH: &str = "72";
/// Examples of more pages than this show the first two.
const SHOWN_PAGES: usize = 12;
/// The time of the rendering in seconds since 1970, the same as in the tests.
const NOW: &str = "1795219200";

const INTRODUCTION: &str = "\
# Gallery

Every document in [examples](../examples), page by page, as `platen render` writes it. Each folder
has a template and data; the pictures come from them. Examples in Thai, Hindi, Chinese and Korean
use the fonts in [examples/fonts](../examples/fonts):

```sh
platen render examples/payslip-de/template.json examples/payslip-de/data.json -o payslip.pdf
platen render examples/questionnaire-th/template.json examples/questionnaire-th/data.json \\
  --fonts examples/fonts -o questionnaire.pdf
```

`cargo run -p xtask -- gallery PLATEN` writes this page and its pictures with the binary `PLATEN`.
A click on a picture opens it alone.
";

/// One example.
struct Example {
    key: String,
    name: String,
    description: String,
    locale: String,
    pages: usize,
}

/// Renders the examples by the binary `platen` and writes the page.
pub fn write(platen: &str) -> Result<()> {
    let root =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").ok_or(std::io::ErrorKind::NotFound)?)
            .join("..");
    let pictures = root.join("docs/gallery");
    if pictures.exists() {
        std::fs::remove_dir_all(&pictures)?;
    }
    std::fs::create_dir_all(&pictures)?;
    let mut examples = Vec::new();
    for key in keys(&root.join("examples"))? {
        let folder = root.join("examples").join(&key);
        let template: Value =
            serde_json::from_slice(&std::fs::read(folder.join("template.json"))?)?;
        let text = |field: &str| template[field].as_str().unwrap_or_default().to_owned();
        let pages = draw(platen, &root, &key, &pictures)?;
        examples.push(Example {
            name: text("name"),
            description: text("description"),
            locale: text("locale"),
            key,
            pages,
        });
    }
    std::fs::write(root.join("docs/gallery.md"), page(&examples))
}

/// Names of the folders that hold a template, in order.
fn keys(examples: &Path) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    for entry in std::fs::read_dir(examples)? {
        let entry = entry?;
        if entry.path().join("template.json").exists() {
            keys.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    keys.sort();
    Ok(keys)
}

/// Draws the pages of an example; how many there are.
fn draw(platen: &str, root: &Path, key: &str, pictures: &Path) -> Result<usize> {
    let pages = page_count(root, key)?;
    for page in 1..=shown(pages) {
        let path = pictures.join(format!("{key}-{page}.png"));
        let folder = root.join("examples").join(key);
        let done = Command::new(platen)
            .arg("render")
            .args([folder.join("template.json"), folder.join("data.json")])
            .args(["--now", NOW, "--no-system-fonts", "--quiet", "--fonts"])
            .arg(root.join("examples/fonts"))
            .args(["--dpi", DOTS_PER_INCH, "--page", &page.to_string(), "-o"])
            .arg(&path)
            .status()?;
        if !done.success() {
            return Err(Error::other(format!("{key}: page {page} was not drawn")));
        }
        let drawn = std::fs::read(&path)?;
        std::fs::write(&path, picture::reduce(&drawn, Keep::All)?)?;
    }
    Ok(pages)
}

/// Pages of an example, from the expectations of the tests.
fn page_count(root: &Path, key: &str) -> Result<usize> {
    let path = root.join(format!("tests/cases/examples/{key}/expected/pages.txt"));
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Error::other(format!("{}: {error}", path.display())))?;
    text.trim()
        .parse()
        .map_err(|_| Error::other(format!("{} is not a number", path.display())))
}

/// How many pages of a document of `pages` are shown.
fn shown(pages: usize) -> usize {
    if pages > SHOWN_PAGES { 2 } else { pages }
}

/// The kind of document in a key: `Payslip` for `payslip-de`.
fn kind(key: &str, locale: &str) -> String {
    let language = locale.split('-').next().unwrap_or_default();
    let words = key
        .strip_suffix(&format!("-{language}"))
        .unwrap_or(key)
        .replace('-', " ");
    words[..1].to_uppercase() + &words[1..]
}

fn page(examples: &[Example]) -> String {
    let mut page = INTRODUCTION.to_owned();
    page += "\n| Document | Title | Language | Pages |\n|---|---|---|---|\n";
    for Example {
        key,
        name,
        locale,
        pages,
        ..
    } in examples
    {
        let kind = kind(key, locale);
        let _ = writeln!(page, "| [{kind}](#{key}) | {name} | {locale} | {pages} |");
    }
    for example in examples {
        let key = &example.key;
        let _ = write!(
            page,
            "\n## {key}\n\n**{}**, {}. {}\n[Template](../examples/{key}/template.json), \
             [data](../examples/{key}/data.json).\n\n",
            example.name, example.locale, example.description,
        );
        let shown = shown(example.pages);
        for number in 1..=shown {
            let picture = format!("gallery/{key}-{number}.png");
            let _ = writeln!(
                page,
                "[<img src=\"{picture}\" alt=\"{key}, page {number}\" width=\"360\">]({picture})"
            );
        }
        if shown < example.pages {
            let _ = writeln!(page, "\nThe first {shown} of {} pages.", example.pages);
        }
    }
    page
}
