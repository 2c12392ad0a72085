//! Templates that a template file imports: files beside it.

use std::path::{Path, PathBuf};

use platen_document::{
    Diagnostic, MAX_TEMPLATE_BYTES,
    imports::{MAX_IMPORT_DEPTH, Wanted, embed, wanted},
    is_key,
};

/// The template in `path` with the content of what it imports.
///
/// # Errors
/// Imports without a file, and circles.
pub fn resolve(path: &Path, source: Vec<u8>) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let mut chain = vec![identity(path)];
    resolved(path, source, &mut chain)
}

fn resolved(
    path: &Path,
    source: Vec<u8>,
    chain: &mut Vec<PathBuf>,
) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let (mut contents, mut found) = (Vec::new(), Vec::new());
    let mut size = source.len();
    for wanted in wanted(&source) {
        match content(path, &wanted, chain) {
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
    }
    if size > MAX_TEMPLATE_BYTES {
        let message = format!(
            "the template has {size} bytes with what it imports; at most {MAX_TEMPLATE_BYTES} are read"
        );
        found.push(Diagnostic::error("template-too-large", "/imports", message));
    }
    match found.is_empty() {
        true => Ok(embed(&source, &contents)),
        false => Err(found),
    }
}

fn content(
    path: &Path,
    wanted: &Wanted,
    chain: &mut Vec<PathBuf>,
) -> Result<Vec<u8>, Vec<Diagnostic>> {
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
    let whole = resolved(&file, source, chain);
    chain.pop();
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
