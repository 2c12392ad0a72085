//! Binding: combines a compiled template with data into a [`bound::Document`]. Decides conditions
//! and repeats, evaluates texts, interns styles. Errors are collected; binding continues after
//! each.

mod background;
mod barcode;
mod block;
mod cell;
mod chart;
mod contents;
mod dynamic;
mod endnotes;
mod form;
mod group;
mod hand_row;
pub(crate) mod image;
mod index;
mod inline;
mod invoice;
mod list;
mod macros;
mod number;
mod page_breaks;
mod page_rows;
mod report;
mod rich_table;
mod rich_text;
mod row_rule;
mod section;
mod sheet_column;
mod svg;
mod svg_names;
mod svg_sheet;
mod svg_style;
mod svg_text;
mod svg_weight;
mod table;
#[cfg(test)]
mod tests;
mod upright;
mod walk;

pub use self::{image::media_type_of_picture, svg::svg_picture};

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value as Json;

use self::dynamic::Arenas;
use crate::{
    CompiledTemplate, Diagnostic, Host,
    bound::{self, ImageData, NamedStyles, Style, StyleId, StyleTable},
    compile::helpers_in_data,
    expression::{Entry, Evaluation, References, Scope, Shared},
    locale::TimeZone,
    style_sheet::{StyleSheet, inherited},
    template::{Orientation, PageSetup, PaperSize, StyleRef},
};

/// Settings of one rendering that override the template.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BindOptions {
    /// BCP 47 locale that replaces the template's.
    pub locale: Option<String>,
    /// IANA time zone that replaces the template's.
    pub time_zone: Option<String>,
    /// Paper size of all sections.
    pub paper_size: Option<PaperSize>,
    /// Orientation of all sections.
    pub orientation: Option<Orientation>,
    /// Limits of the document.
    pub limits: Limits,
}

/// Limits of a document. Exceeding one is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum rows of a table, or elements of a repeat.
    pub rows: usize,
    /// Maximum number of blocks.
    pub blocks: usize,
    /// Maximum amount of text, in bytes.
    pub text_bytes: usize,
    /// Maximum work: evaluations of expressions, and elements that they iterate over.
    pub work: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rows: 1_000_000,
            blocks: 200_000,
            text_bytes: 64 << 20,
            work: 100_000_000,
        }
    }
}

/// Maximum nesting depth of data, checked before anything recurses into it.
pub(crate) const MAX_DATA_DEPTH: usize = 128;

/// Binds `compiled` to `data`.
///
/// # Errors
/// All errors in data and expressions, with a limit on repetitions of the same error.
pub fn bind(
    compiled: &CompiledTemplate,
    data: &Json,
    options: &BindOptions,
    host: &dyn Host,
) -> Result<bound::Document, Vec<Diagnostic>> {
    if crate::parse::depth_exceeds(data, MAX_DATA_DEPTH) {
        let message = format!("the data is nested deeper than {MAX_DATA_DEPTH} levels");
        return Err(vec![Diagnostic::error("too-deep", "", message).in_data()]);
    }
    if let Some(schema) = &compiled.parts.schema {
        let found = schema.check(data);
        if !found.is_empty() {
            return Err(found);
        }
    }
    let has_helpers = compiled.template().helpers.is_some();
    let root = Scope::root(data).beside_helpers(has_helpers);
    let arenas = Arenas::default();
    let prepare = |references| {
        let binder = Binder::new(compiled, options, host, &arenas, references);
        let mut binder = binder.map_err(|mistake| vec![*mistake])?;
        binder.dynamic_setup(&root);
        Ok::<_, Vec<Diagnostic>>(binder)
    };
    let mut binder = prepare(References::Pending)?;
    let Ok(issued) = binder.invoice(&root) else {
        return Err(binder.reports.finish().err().unwrap_or_default());
    };
    let computed = invoice::variable(issued.as_ref());
    let within = root.with(invoice::VARIABLE, Entry::Json(&computed));
    let root = if issued.is_some() { &within } else { &root };
    if compiled.parts.refers {
        // A reference may name a node below it, whose number only a first pass finds.
        binder.sections(root);
        binder = prepare(binder.numbers.references())?;
    }
    if let Some(clash) = helpers_in_data(has_helpers, data) {
        binder.reports.add(clash);
    }
    let sections = binder.sections(root);
    binder.warn_of_invoice(issued.as_ref());
    let mut document = binder.finish(sections, root)?;
    document.invoice = issued;
    Ok(document)
}

/// Context of a block.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Style of the enclosing box, whose text properties are inherited.
    style: StyleId,
    /// Available width, in points.
    width: f32,
    /// Whether paragraphs have no spacing: in headers, footers and cells.
    compact: bool,
    /// Whether it is directly in the body text, with nothing to inherit.
    root: bool,
    /// Whether a section may start here.
    sections: bool,
}

struct Binder<'b> {
    compiled: &'b CompiledTemplate,
    options: &'b BindOptions,
    host: &'b dyn Host,
    /// Keeps the parts of the template that were read again.
    arenas: &'b Arenas,
    sheet: &'b StyleSheet,
    /// Page setup of sections that have none of their own.
    page: &'b PageSetup,
    evaluation: Evaluation,
    styles: StyleTable,
    named: FxHashMap<String, StyleId>,
    footnotes: Vec<bound::Footnote>,
    images: FxHashMap<String, Option<Arc<ImageData>>>,
    ids: FxHashSet<String>,
    targets: Vec<(String, String)>,
    numbers: number::Numbers,
    reports: report::Reports,
    path: String,
    /// Whether there are page breaks.
    has_page_breaks: bool,
    /// Number of ids that were made for blocks without one.
    made_ids: usize,
    /// Terms of the index.
    terms: index::Terms,
    blocks: usize,
    text_bytes: usize,
}

impl<'b> Binder<'b> {
    fn new(
        compiled: &'b CompiledTemplate,
        options: &'b BindOptions,
        host: &'b dyn Host,
        arenas: &'b Arenas,
        references: References,
    ) -> Result<Self, Box<Diagnostic>> {
        let template = compiled.template();
        let tag = options.locale.as_deref().unwrap_or(&template.locale);
        let localised = compiled
            .localised(tag)
            .map_err(|reason| Diagnostic::error("unknown-locale", "", reason))?;
        let zone = match &options.time_zone {
            None => compiled.parts.zone.clone(),
            Some(name) => TimeZone::named(name).ok_or_else(|| {
                let message = format!("unknown time zone `{name}`");
                Diagnostic::error("unknown-time-zone", "", message)
                    .with_hint("use an IANA name such as `Europe/Berlin`")
            })?,
        };
        let shared = Shared::new(
            Arc::clone(&localised.locale),
            Arc::clone(&localised.messages),
            zone,
            template.currency.clone(),
            host.now_unix_seconds(),
            options.limits.work,
        )
        .with_helpers(template.helpers.is_some(), host.helpers())
        .with_references(references);
        let mut binder = Self {
            compiled,
            options,
            host,
            arenas,
            sheet: &compiled.parts.sheet,
            page: &template.page,
            evaluation: Evaluation::new(shared),
            styles: StyleTable::default(),
            named: FxHashMap::default(),
            footnotes: Vec::new(),
            images: FxHashMap::default(),
            ids: FxHashSet::default(),
            targets: Vec::new(),
            numbers: number::Numbers::new(compiled),
            reports: report::Reports::default(),
            path: String::new(),
            has_page_breaks: false,
            made_ids: 0,
            terms: index::Terms::default(),
            blocks: 0,
            text_bytes: 0,
        };
        binder.name_styles();
        Ok(binder)
    }

    /// Interns the named styles of the sheet.
    fn name_styles(&mut self) {
        for name in self.sheet.names() {
            if let Some(style) = self.sheet.named(name) {
                self.named
                    .insert(name.to_owned(), self.styles.intern(style));
            }
        }
    }

    /// Runs `bind` with `token` appended to the pointer.
    fn below<T>(&mut self, token: &str, bind: impl FnOnce(&mut Self) -> T) -> T {
        crate::work::check();
        let length = self.path.len();
        crate::pointer::push(&mut self.path, token);
        let made = bind(self);
        self.path.truncate(length);
        made
    }

    /// Runs `bind` with `token` and `index` appended to the pointer.
    fn item<T>(&mut self, token: &str, index: usize, bind: impl FnOnce(&mut Self) -> T) -> T {
        self.below(token, |binder| binder.below(&index.to_string(), bind))
    }

    fn named_style(&self, name: &str) -> StyleId {
        self.named.get(name).copied().unwrap_or_default()
    }

    /// The style of a block: inherited properties, then those of its kind, then its own.
    fn block_style(&mut self, place: Place, kind: &str, own: Option<&StyleRef>) -> StyleId {
        if place.root {
            match own {
                None => return self.named_style(kind),
                Some(StyleRef::Name(name)) if kind == "body" => {
                    if let Some(id) = self.named.get(name) {
                        return *id;
                    }
                }
                Some(_) => {}
            }
        }
        let sheet = self.sheet;
        let mut style = inherited(&self.styles[place.style]);
        if kind != "body" || !place.compact {
            sheet.overlay_named(&mut style, kind);
        }
        if place.compact {
            style.space_before = 0.0;
            style.space_after = 0.0;
        }
        if let Some(own) = own {
            sheet.overlay_ref(&mut style, own);
        }
        self.styles.intern(style)
    }

    /// `base` modified by `change`, as the style of a run: without a name and background.
    fn changed_style(&mut self, base: StyleId, change: impl FnOnce(&mut Style)) -> StyleId {
        let mut style = Style {
            name: None,
            background: None,
            ..self.styles[base].clone()
        };
        change(&mut style);
        self.styles.intern(style)
    }

    fn finish(
        mut self,
        mut sections: Vec<bound::Section>,
        root: &Scope<'_>,
    ) -> Result<bound::Document, Vec<Diagnostic>> {
        let metadata = self.metadata(root);
        self.list_captions(&mut sections);
        self.list_index(&mut sections);
        self.list_notes(&mut sections);
        self.warn_of_page_breaks(&sections);
        self.check_targets();
        self.warn_of_cleaned_text();
        self.warn_of_references();
        let warnings = self.reports.finish()?;
        let heading = |level: u8| format!("heading{level}");
        let named = NamedStyles {
            body: self.named["body"],
            headings: [1, 2, 3, 4, 5, 6].map(|level| self.named[&heading(level)]),
            caption: self.named["caption"],
            footnote: self.named["footnote"],
            toc_entry: self.named["tocEntry"],
            label: self.named["label"],
            small: self.named["small"],
        };
        let locale = &self.evaluation.shared.locale;
        Ok(bound::Document {
            metadata,
            language: locale.tag().to_owned(),
            direction: locale.direction(),
            digits: locale.digits(),
            decimal_separator: locale.decimal_separator().to_owned(),
            styles: self.styles,
            named,
            theme: self.sheet.colors.clone(),
            sections,
            footnotes: self.footnotes,
            outlines: self.numbers.patterns(),
            invoice: None,
            warnings,
        })
    }

    fn metadata(&mut self, root: &Scope<'_>) -> bound::Metadata {
        let template = self.compiled.template();
        let spec = &template.metadata;
        let text = |binder: &mut Self, token: &str, text: Option<&crate::template::Text>| {
            let path = format!("/metadata/{token}");
            binder.path = path;
            text.map(|text| binder.line(text, root))
                .filter(|text| !text.is_empty())
        };
        let title = text(self, "title", spec.title.as_ref());
        let author = text(self, "author", spec.author.as_ref());
        let subject = text(self, "subject", spec.subject.as_ref());
        let keywords = spec
            .keywords
            .iter()
            .enumerate()
            .filter_map(|(index, keyword)| text(self, &format!("keywords/{index}"), Some(keyword)))
            .collect();
        let name = [&template.name, &template.key]
            .into_iter()
            .find(|name| !name.is_empty())
            .cloned();
        bound::Metadata {
            title: title.or(name).unwrap_or_else(|| "Document".to_owned()),
            author,
            subject,
            keywords,
            created_unix_seconds: self.evaluation.shared.now_unix_seconds,
        }
    }
}
