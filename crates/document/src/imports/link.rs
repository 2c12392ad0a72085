//! Links a template with the templates that it imports, whose content is embedded in its source.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json};

use super::{MAX_IMPORT_DEPTH, MAX_IMPORTS};
use crate::{Diagnostic, pointer};

/// What an import gives if it does not say, and how far below the property a unit is: something
/// that is taken whole or not at all.
const PARTS: [(&str, &[&str], usize); 10] = [
    ("theme", &["theme"], 3),
    ("page", &["page"], 1),
    ("numbering", &["numbering"], 1),
    ("macros", &["macros"], 1),
    ("assets", &["assets"], 1),
    ("messages", &["messages"], 2),
    ("metadata", &["metadata"], 1),
    ("locale", &["locale", "timeZone", "currency"], 0),
    ("body", &["body"], 0),
    ("inputSchema", &["inputSchema"], 0),
];
/// Parts that are only taken on request.
const ON_REQUEST: [&str; 2] = ["body", "inputSchema"];

/// The schema of a template's data: its own, or one that it takes.
#[must_use]
pub fn input_schema(template: &Json) -> Option<&Json> {
    let taken = |import: &'_ Json| {
        let parts = import["take"].as_array()?;
        parts.iter().any(|part| part == "inputSchema").then_some(())
    };
    template.get("inputSchema").or_else(|| {
        let imports = template.get("imports")?.as_array()?;
        imports
            .iter()
            .filter(|import| taken(import).is_some())
            .find_map(|import| input_schema(import.get("content")?))
    })
}

/// Checks the structure of a template without embedded content.
pub(crate) type Check<'c> = &'c dyn Fn(&Json) -> Vec<Diagnostic>;

/// Whether the template imports others.
pub(crate) fn has_imports(template: &Json) -> bool {
    template.get("imports").is_some()
}

/// The template with what it takes from its imports, and without `imports`.
///
/// # Errors
/// Structural errors of the template, imports whose content is missing or wrong, and clashes.
pub(crate) fn link(template: Json, check: Check<'_>) -> Result<Json, Vec<Diagnostic>> {
    linked(template, check, 1)
}

fn linked(mut template: Json, check: Check<'_>, depth: usize) -> Result<Json, Vec<Diagnostic>> {
    let contents = take_contents(&mut template);
    let found = check(&template);
    if found.iter().any(Diagnostic::is_error) {
        return Err(found);
    }
    let Json::Object(mut own) = template else {
        return Ok(template);
    };
    let Some(Json::Array(imports)) = own.shift_remove("imports") else {
        return Ok(Json::Object(own));
    };
    if own
        .get("body")
        .is_some_and(|body| *body == Json::Array(Vec::new()))
    {
        own.shift_remove("body");
    }
    if imports.len() > MAX_IMPORTS {
        let message = format!(
            "the template has {} imports; at most {MAX_IMPORTS} are allowed",
            imports.len()
        );
        let hint = "let one template import what belongs together, and import that one";
        return Err(vec![
            Diagnostic::error("import-invalid", "/imports", message).with_hint(hint),
        ]);
    }
    if depth > MAX_IMPORT_DEPTH {
        let message = format!("templates import each other more than {MAX_IMPORT_DEPTH} deep");
        return Err(vec![Diagnostic::error(
            "import-invalid",
            "/imports",
            message,
        )]);
    }
    let mut found = Vec::new();
    let mut given = Given::default();
    for (index, (import, content)) in imports.iter().zip(contents).enumerate() {
        let path = format!("/imports/{index}");
        match content_of(import, content, check, depth) {
            Ok(content) => given.take(index, import, &content, &own, &mut found),
            Err(mistake) => found.push(Diagnostic { path, ..mistake }),
        }
    }
    if !found.is_empty() {
        return Err(found);
    }
    for (tokens, value) in given.units {
        put(&mut own, &tokens, value);
    }
    Ok(Json::Object(own))
}

/// Removes the embedded content of each import.
fn take_contents(template: &mut Json) -> Vec<Option<Json>> {
    let imports = template.get_mut("imports").and_then(Json::as_array_mut);
    imports
        .into_iter()
        .flatten()
        .map(|import| import.as_object_mut()?.shift_remove("content"))
        .collect()
}

/// The linked content of an import. Its error has no path.
fn content_of(
    import: &Json,
    content: Option<Json>,
    check: Check<'_>,
    depth: usize,
) -> Result<Map<String, Json>, Diagnostic> {
    let key = import["template"].as_str().unwrap_or_default();
    let version = &import["version"];
    let Some(content) = content else {
        let message = format!("version {version} of the template `{key}` is not at hand here");
        return Err(Diagnostic::error("import-unresolved", "", message)
            .with_hint("store the template: the server embeds what it imports"));
    };
    if content["kind"] == "html" {
        let message = format!("`{key}` is an HTML template; only documents can be imported");
        return Err(Diagnostic::error("import-invalid", "", message));
    }
    match linked(content, check, depth + 1) {
        Ok(Json::Object(content)) => Ok(content),
        Ok(_) => Err(wrong(key, version, "it is not an object".to_owned())),
        Err(found) => {
            let first = found.into_iter().find(Diagnostic::is_error);
            let reason = first.map_or_else(String::new, |first| {
                format!("{}: {}", first.path, first.message)
            });
            Err(wrong(key, version, reason))
        }
    }
}

fn wrong(key: &str, version: &Json, reason: String) -> Diagnostic {
    let message = format!("version {version} of `{key}` cannot be imported: {reason}");
    Diagnostic::error("import-invalid", "", message)
}

/// What the imports give.
#[derive(Default)]
struct Given {
    units: Vec<(Vec<String>, Json)>,
    /// Place in `units`, and number of the import, of each unit by its pointer.
    known: FxHashMap<String, (usize, usize)>,
    /// Number of an import that gives something below this pointer.
    around: FxHashMap<String, usize>,
}

impl Given {
    /// Takes the units of the import `index` that the template does not have itself.
    fn take(
        &mut self,
        index: usize,
        import: &Json,
        content: &Map<String, Json>,
        own: &Map<String, Json>,
        found: &mut Vec<Diagnostic>,
    ) {
        for (part, properties, depth) in PARTS {
            let wanted = match import["take"].as_array() {
                Some(parts) => parts.iter().any(|one| one == part),
                None => !ON_REQUEST.contains(&part),
            };
            for name in properties.iter().filter(|_| wanted) {
                let Some(value) = content.get(*name) else {
                    continue;
                };
                let mut units = Vec::new();
                collect(value, &mut vec![(*name).to_owned()], depth, &mut units);
                units.retain(|(tokens, _)| !has(own, tokens));
                for (tokens, value) in units {
                    if let Err(other) = self.add(index, tokens.clone(), value) {
                        found.push(clash(&tokens, other, index));
                    }
                }
            }
        }
    }

    /// # Errors
    /// The number of the import that gives something else there.
    fn add(&mut self, import: usize, tokens: Vec<String>, value: &Json) -> Result<(), usize> {
        let mut path = String::new();
        let mut above = Vec::with_capacity(tokens.len());
        for token in &tokens {
            if let Some((_, other)) = self.known.get(&path) {
                return Err(*other);
            }
            above.push(path.clone());
            pointer::push(&mut path, token);
        }
        if let Some(other) = self.around.get(&path) {
            return Err(*other);
        }
        if let Some((at, other)) = self.known.get(&path) {
            let is_same = self.units[*at].1 == *value;
            return if is_same { Ok(()) } else { Err(*other) };
        }
        for path in above {
            self.around.entry(path).or_insert(import);
        }
        self.known.insert(path, (self.units.len(), import));
        self.units.push((tokens, value.clone()));
        Ok(())
    }
}

fn clash(tokens: &[String], first: usize, second: usize) -> Diagnostic {
    let unit = tokens
        .iter()
        .fold(String::new(), |path, token| pointer::join(&path, token));
    let message = format!("`/imports/{first}` and this import give different values for `{unit}`");
    Diagnostic::error("import-clash", format!("/imports/{second}"), message)
        .with_hint("set it in this template, or say in `take` what each import gives")
}

/// The units of `value`, which is `depth` levels above them.
fn collect<'v>(
    value: &'v Json,
    tokens: &mut Vec<String>,
    depth: usize,
    units: &mut Vec<(Vec<String>, &'v Json)>,
) {
    match value {
        Json::Object(fields) if depth > 0 => {
            for (name, value) in fields {
                tokens.push(name.clone());
                collect(value, tokens, depth - 1, units);
                tokens.pop();
            }
        }
        _ => units.push((tokens.clone(), value)),
    }
}

/// Whether the template has `tokens` itself, or something that is no object in their place.
fn has(own: &Map<String, Json>, tokens: &[String]) -> bool {
    let mut fields = own;
    for (index, token) in tokens.iter().enumerate() {
        match fields.get(token) {
            None => return false,
            Some(Json::Object(inner)) if index + 1 < tokens.len() => fields = inner,
            Some(_) => return true,
        }
    }
    true
}

/// Puts a unit that [`has`] does not find.
fn put(own: &mut Map<String, Json>, tokens: &[String], value: Json) {
    let Some((first, rest)) = tokens.split_first() else {
        return;
    };
    if rest.is_empty() {
        own.insert(first.clone(), value);
        return;
    }
    let inner = own
        .entry(first.clone())
        .or_insert_with(|| Json::Object(Map::new()));
    if let Json::Object(inner) = inner {
        put(inner, rest, value);
    }
}
