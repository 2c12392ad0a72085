//! Templates that a template file imports: files beside it.

use std::path::{Path, PathBuf};

use platen_document::{
    Diagnostic, MAX_TEMPLATE_BYTES,
    imports::{MAX_IMPORT_DEPTH, Wanted, embed, wanted},
    is_key,
};

/// Most files that are read for a template. A few files that import each other several times would
/// be read exponentially often.
const MAX_FILES: usize = 4096;

/// The template in `path` with the content of what it imports.
///
/// # Errors
/// Imports without a file, circles, and too many or too large imports.
pub fn resolve(path: &Path, source: Vec<u8>) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let mut way = Way {
        chain: vec![identity(path)],
        files: 0,
    };
    resolved(path, source, &mut way)
}

/// Where the resolution is.
struct Way {
    /// The files from the template to the one at hand.
    chain: Vec<PathBuf>,
    /// Number of imports looked for so far.
    files: usize,
}

fn resolved(path: &Path, source: Vec<u8>, way: &mut Way) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let (mut contents, mut found) = (Vec::new(), Vec::new());
    let mut size = source.len();
    for wanted in wanted(&source) {
        match content(path, &wanted, way) {
            Ok(content) => {
                size += content.len();
                // The parser refuses what is larger; nobody needs to read it all before that.
                if size <= MAX_TEMPLATE_BYTES {
                    contents.push((wanted, content.into()));
                }
            }
            Err(mistakes) => found.extend(mistakes.into_iter().map(|mistake| Diagnostic {
                path: wanted.path.clone(),
                ..mistake
            })),
        }
        if size > MAX_TEMPLATE_BYTES || way.files > MAX_FILES {
            break;
        }
    }
    if size > MAX_TEMPLATE_BYTES {
        let message =
            format!("with what it imports, the template has more than {MAX_TEMPLATE_BYTES} bytes");
        found.push(Diagnostic::error("template-too-large", "/imports", message));
    }
    match found.is_empty() {
        true => Ok(embed(&source, &contents)),
        false => Err(found),
    }
}

fn content(path: &Path, wanted: &Wanted, way: &mut Way) -> Result<Vec<u8>, Vec<Diagnostic>> {
    way.files += 1;
    if way.files > MAX_FILES {
        let message = format!("templates import each other more than {MAX_FILES} times");
        return Err(vec![Diagnostic::error("import-invalid", "", message)]);
    }
    let Some(file) = file_of(path, wanted) else {
        let message = format!("there is no file of the template `{}`", wanted.template);
        let hint = format!(
            "save it beside this one as `{key}@{version}.json` or `{key}.json`, or as `../{key}/template.json`",
            key = wanted.template,
            version = wanted.version
        );
        return Err(vec![
            Diagnostic::error("import-not-found", "", message).with_hint(hint),
        ]);
    };
    let identity = identity(&file);
    let chain = &mut way.chain;
    if let Some(at) = chain.iter().position(|known| *known == identity) {
        let names = chain[at..].iter().chain([&identity]);
        let names: Vec<String> = names.map(|path| path.display().to_string()).collect();
        let message = format!(
            "the files import each other in a circle: {}",
            names.join(" → ")
        );
        return Err(vec![Diagnostic::error("import-cycle", "", message)]);
    }
    if chain.len() > MAX_IMPORT_DEPTH {
        let message = format!("templates import each other more than {MAX_IMPORT_DEPTH} deep");
        return Err(vec![Diagnostic::error("import-invalid", "", message)]);
    }
    let source = super::files::read(&file)
        .map_err(|failure| vec![Diagnostic::error("import-not-found", "", failure.message())])?;
    // What is no JSON would make the whole source none.
    if let Err(error) = serde_json::from_slice::<&serde_json::value::RawValue>(&source) {
        let message = format!("`{}` is not valid JSON: {error}", file.display());
        return Err(vec![Diagnostic::error("import-invalid", "", message)]);
    }
    chain.push(identity);
    let whole = resolved(&file, source, way);
    way.chain.pop();
    whole
}

/// The file of an imported template.
fn file_of(path: &Path, wanted: &Wanted) -> Option<PathBuf> {
    let key = &wanted.template;
    // A key has no separators: a template reads no files elsewhere.
    if !is_key(key) || key.contains("..") {
        return None;
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let names = [
        folder.join(format!("{key}@{}.json", wanted.version)),
        folder.join(format!("{key}.json")),
        folder.join("..").join(key).join("template.json"),
    ];
    names.into_iter().find(|name| name.is_file())
}

fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes templates that import the named ones, and resolves the first. Returns the size of the
    /// whole, or the codes and messages.
    fn resolve_files(files: &[(&str, &[&str])]) -> Result<usize, Vec<(String, String)>> {
        let folder = tempfile::tempdir().expect("a folder");
        for (key, imports) in files {
            let imports: Vec<_> = imports
                .iter()
                .map(|key| serde_json::json!({"template": key, "version": 1}))
                .collect();
            let template = serde_json::json!({"key": key, "imports": imports, "body": []});
            let path = folder.path().join(format!("{key}.json"));
            std::fs::write(path, template.to_string()).expect("a file");
        }
        let path = folder.path().join(format!("{}.json", files[0].0));
        let source = std::fs::read(&path).expect("a file");
        resolve(&path, source)
            .map(|whole| whole.len())
            .map_err(|found| {
                let of = |it: Diagnostic| (it.code.to_string(), it.message);
                found.into_iter().map(of).collect()
            })
    }

    #[test]
    fn circles_and_missing_files_are_named() {
        let found = resolve_files(&[("a", &["b"]), ("b", &["a"])]).unwrap_err();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "import-cycle");
        assert!(found[0].1.contains("a.json → "), "{}", found[0].1);
        let found = resolve_files(&[("a", &["b", "../b"])]).unwrap_err();
        let codes: Vec<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
        assert_eq!(codes, ["import-not-found", "import-not-found"]);
    }

    #[test]
    fn files_that_multiply_are_not_read_for_ever() {
        let many = |key: &'static str| [key; 16];
        let (b, c, d, e, f, g, h) = (
            many("b"),
            many("c"),
            many("d"),
            many("e"),
            many("f"),
            many("g"),
            many("missing"),
        );
        let files: [(&str, &[&str]); 7] = [
            ("a", &b),
            ("b", &c),
            ("c", &d),
            ("d", &e),
            ("e", &f),
            ("f", &g),
            ("g", &h),
        ];
        let found = resolve_files(&files).unwrap_err();
        assert!(found.len() < 2 * MAX_FILES, "{}", found.len());
        assert!(found.iter().any(|(code, _)| code == "import-invalid"));
        let twice = resolve_files(&[("a", &["b", "c"]), ("b", &["d"]), ("c", &["d"]), ("d", &[])]);
        assert!(twice.is_ok(), "one file may be imported twice");
    }
}
