//! HTML texts with expressions and statements, such as `{% for item in items %}`. Values are
//! escaped.
//!
//! Limits: fuel, the work of the document, the length of the output, the nesting of statements.

use std::{
    io,
    sync::{Arc, LazyLock},
};

use minijinja::{AutoEscape, Environment, Value as Dynamic, filters};
use serde_json::Value as Json;

use super::{
    Evaluation, Failure, Scope, dynamic::variables, environment, nearest_path, operands, scan,
};

/// Maximum number of instructions in one text, about a second.
const FUEL: u64 = 20_000_000;
/// Name of the only template in an environment.
const NAME: &str = "text";

static BASE: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = environment::ENVIRONMENT.clone();
    environment.set_fuel(Some(FUEL));
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("safe", filters::safe);
    environment.add_filter("escape", filters::escape);
    environment
});

/// A compiled HTML text.
#[derive(Debug)]
pub(crate) struct Markup {
    environment: Environment<'static>,
    roots: Vec<Box<str>>,
    paths: Vec<(u32, Vec<Box<str>>)>,
    /// Messages that it uses.
    pub(crate) messages: Vec<Box<str>>,
    /// Helpers that it calls.
    pub(crate) helpers: Vec<Box<str>>,
}

/// A writer with a limit.
struct Bounded {
    bytes: Vec<u8>,
    left: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A loop may write as long as it likes, and compute nothing.
        crate::work::check();
        if bytes.len() > self.left {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.left -= bytes.len();
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Markup {
    /// Compiles `source`.
    ///
    /// # Errors
    /// All errors, with their lines.
    pub(crate) fn new(source: &str) -> Result<Self, Vec<(u32, Failure)>> {
        crate::work::look();
        let used = scan::scan(source)?;
        let filtered = operands::insert(source, used.insertions);
        let mut environment = BASE.clone();
        environment
            .add_template_owned(NAME, filtered.unwrap_or_else(|| source.to_owned()))
            .map_err(|error| {
                let line = error.line().and_then(|line| u32::try_from(line).ok());
                vec![(line.unwrap_or(1), Failure::from(error))]
            })?;
        let mut roots: Vec<Box<str>> = used.paths.iter().map(|(_, path)| path[0].clone()).collect();
        roots.sort();
        roots.dedup();
        Ok(Self {
            environment,
            roots,
            paths: used.paths,
            messages: used.messages,
            helpers: used.helpers,
        })
    }

    /// Renders the text with `data`. `fields` are additional variables whose values are HTML.
    ///
    /// # Errors
    /// A variable is undefined, an operation does not fit its operands, or a limit is exceeded;
    /// with the line.
    pub(crate) fn write(
        &self,
        data: &Json,
        fields: &[(&str, &str)],
        evaluation: &Evaluation,
        max_bytes: usize,
    ) -> Result<String, (u32, Failure)> {
        // Chromium fills in page fields, as those of `fields`, and only in headers and footers.
        let scope = Scope::root(data)
            .beside_helpers(evaluation.shared.has_helpers())
            .without_page_fields();
        let inner = variables(&self.roots, &scope, evaluation).map_err(|failure| (1, failure))?;
        let html = fields.iter();
        let html = html.map(|(name, text)| {
            (
                (*name).to_owned(),
                Dynamic::from_safe_string((*text).to_owned()),
            )
        });
        let context = Dynamic::from_object(Names {
            html: html.collect(),
            inner,
        });
        let template = self.environment.get_template(NAME);
        let mut bounded = Bounded {
            bytes: Vec::new(),
            left: max_bytes,
        };
        let written = template
            .and_then(|template| template.render_captured_to(context, &mut bounded).map(drop));
        if let Err(error) = written {
            return Err(self.explain(error, &scope, fields));
        }
        String::from_utf8(bounded.bytes).map_err(|_| {
            (
                1,
                Failure::new("expression-failed", "the text is not UTF-8"),
            )
        })
    }

    fn explain(
        &self,
        error: minijinja::Error,
        scope: &Scope<'_>,
        fields: &[(&str, &str)],
    ) -> (u32, Failure) {
        let line = error
            .line()
            .and_then(|line| u32::try_from(line).ok())
            .unwrap_or(1);
        if error.kind() == minijinja::ErrorKind::WriteFailure {
            return (line, Failure::new("text-too-long", "the HTML is too long"));
        }
        let failure = Failure::from(error);
        let is_undefined = failure.code == "undefined-variable"
            || failure.code == "expression-failed" && failure.message.contains("undefined");
        if !is_undefined {
            return (line, failure);
        }
        let on_line = self.paths.iter().filter(|(at, _)| *at == line);
        for (_, path) in on_line {
            if fields.iter().any(|(name, _)| *name == &*path[0]) {
                continue;
            }
            if let Err(known) = scope.resolve(path) {
                let mut failure = Failure::missing(path, known);
                failure.hint = nearest_path(path, known, scope)
                    .map(|near| format!("did you mean `{near}`?"))
                    .or_else(|| failure.find_hint(scope));
                return (line, failure);
            }
        }
        (line, failure)
    }
}

/// The additional variables, followed by those of the data.
#[derive(Debug)]
struct Names {
    html: Vec<(String, Dynamic)>,
    inner: Dynamic,
}

impl minijinja::value::Object for Names {
    fn get_value(self: &Arc<Self>, key: &Dynamic) -> Option<Dynamic> {
        crate::work::check();
        let name = key.as_str()?;
        let own = self.html.iter().find(|(own, _)| own == name);
        match own {
            Some((_, value)) => Some(value.clone()),
            None => self
                .inner
                .get_attr(name)
                .ok()
                .filter(|value| !value.is_undefined()),
        }
    }

    fn enumerate(self: &Arc<Self>) -> minijinja::value::Enumerator {
        minijinja::value::Enumerator::Empty
    }
}
