//! Texts and inline content: evaluation, line breaks, page fields, links and footnotes.

use std::sync::Arc;

use super::Binder;
use crate::{
    bound::{Baseline, Footnote, Inline, PageField, StyleId},
    clean::{self, is_field},
    expression::{CompiledText, Scope},
    template::{Content, Expression, FullRun, Run, Text},
};

/// Maximum number of footnotes in a document.
const MAX_FOOTNOTES: usize = 10_000;

impl Binder<'_> {
    /// Evaluates a text; reports errors and returns an empty text for them. Page fields are
    /// represented by noncharacters.
    pub(super) fn evaluate_text(&mut self, text: &CompiledText, scope: &Scope<'_>) -> String {
        match text.evaluate(scope, &self.evaluation) {
            Ok(text) => {
                self.count_text(text.len(), scope);
                text
            }
            Err(failure) => {
                self.report(failure, scope);
                String::new()
            }
        }
    }

    /// Evaluates a text of one line without page fields, such as a name, title or address.
    pub(super) fn line(&mut self, text: &Text, scope: &Scope<'_>) -> String {
        let text = self.lines(text, scope);
        match text.contains('\n') {
            true => text.replace('\n', " "),
            false => text,
        }
    }

    /// Like [`line`](Self::line), but line feeds stay.
    pub(super) fn lines(&mut self, text: &Text, scope: &Scope<'_>) -> String {
        let Some(compiled) = self.compiled.text(text) else {
            return String::new();
        };
        let text = self.evaluate_text(compiled, scope);
        let fields = text.contains(is_field);
        if fields {
            let message = "page numbers are allowed only in inline content".to_owned();
            self.mistake("misplaced-page-number", message, scope);
        }
        if fields || text.contains('\t') {
            return text.replace('\t', " ").replace(is_field, "");
        }
        text
    }

    /// Evaluates the text in the field `token`.
    pub(super) fn line_at(&mut self, token: &str, text: &Text, scope: &Scope<'_>) -> String {
        self.below(token, |binder| binder.line(text, scope))
    }

    /// Evaluates a condition; true if there is none, false after reporting an error.
    pub(super) fn holds(
        &mut self,
        token: &str,
        condition: Option<&Expression>,
        scope: &Scope<'_>,
    ) -> bool {
        let Some(condition) = condition else {
            return true;
        };
        let Some(compiled) = self.compiled.expression(condition) else {
            return false;
        };
        match compiled.holds(scope, &self.evaluation) {
            Ok(holds) => holds,
            Err(failure) => {
                self.below(token, |binder| binder.report(failure, scope));
                false
            }
        }
    }

    /// Binds the inline content in the field `token`, in `style`.
    pub(super) fn content_at(
        &mut self,
        token: &str,
        content: &Content,
        style: StyleId,
        scope: &Scope<'_>,
    ) -> Vec<Inline> {
        self.below(token, |binder| binder.content(content, style, scope))
    }

    /// Binds inline content in `style`.
    pub(super) fn content(
        &mut self,
        content: &Content,
        style: StyleId,
        scope: &Scope<'_>,
    ) -> Vec<Inline> {
        let mut inlines = Vec::new();
        match content {
            Content::Text(text) => {
                if let Some(text) = self.compiled.text(text) {
                    let text = self.evaluate_text(text, scope);
                    push_text(&mut inlines, &text, style, None);
                }
            }
            Content::Runs(runs) => {
                for (index, run) in runs.iter().enumerate() {
                    self.below(&index.to_string(), |binder| match run {
                        Run::Text(text) => {
                            if let Some(text) = binder.compiled.text(text) {
                                let text = binder.evaluate_text(text, scope);
                                push_text(&mut inlines, &text, style, None);
                            }
                        }
                        Run::Full(run) => {
                            if !binder.holds("when", run.when.as_ref(), scope) {
                                return;
                            }
                            match binder.dynamic_part::<FullRun>(scope) {
                                Ok(None) => binder.run(&mut inlines, run, style, scope),
                                Ok(Some(own)) => binder.run(&mut inlines, &own, style, scope),
                                Err(()) => {}
                            }
                        }
                    });
                }
            }
        }
        inlines
    }

    fn run(&mut self, inlines: &mut Vec<Inline>, run: &FullRun, base: StyleId, scope: &Scope<'_>) {
        let link = run
            .link
            .as_ref()
            .and_then(|link| self.below("link", |binder| binder.link(link, scope)));
        let style = self.run_style(run, base, link.is_some());
        if let Some(text) = &run.text {
            self.below("text", |binder| {
                if let Some(text) = binder.compiled.text(text) {
                    let text = binder.evaluate_text(text, scope);
                    push_text(inlines, &text, style, link.as_ref());
                }
            });
        }
        if let Some(content) = &run.footnote {
            let mark = self.below("footnote", |binder| binder.footnote(content, style, scope));
            inlines.extend(mark);
        }
        if let Some(term) = &run.index {
            self.index_term(term, scope);
        }
        if run.line_break == Some(true) {
            inlines.push(Inline::Break);
        }
    }

    fn run_style(&mut self, run: &FullRun, base: StyleId, linked: bool) -> StyleId {
        let plain = FullRun {
            text: None,
            link: None,
            line_break: None,
            footnote: None,
            index: None,
            when: None,
            ..run.clone()
        };
        if plain == FullRun::default() && !linked {
            return base;
        }
        let sheet = self.sheet;
        self.changed_style(base, |style| {
            if linked {
                sheet.overlay_named(style, "link");
            }
            if run.code == Some(true) {
                let size = style.font_size;
                sheet.overlay_named(style, "code");
                style.font_size = style.font_size.min(size);
            }
            if let Some(own) = &run.style {
                sheet.overlay_ref(style, own);
            }
            if let Some(bold) = run.bold {
                style.set_bold(bold);
            }
            style.italic = run.italic.unwrap_or(style.italic);
            style.underline = run.underline.unwrap_or(style.underline);
            style.strike = run.strike.unwrap_or(style.strike);
            style.color = run.color.unwrap_or(style.color);
            if let Some(size) = run.font_size {
                style.font_size = size.to_points().clamp(1.0, 1000.0);
            }
            style.baseline = match (run.superscript, run.subscript) {
                (Some(true), _) => Baseline::Superscript,
                (_, Some(true)) => Baseline::Subscript,
                _ => style.baseline,
            };
        })
    }

    /// Adds a footnote and returns its reference.
    pub(super) fn footnote(
        &mut self,
        content: &Content,
        style: StyleId,
        scope: &Scope<'_>,
    ) -> Option<Inline> {
        if self.footnotes.len() >= MAX_FOOTNOTES {
            let message = format!("the document has more than {MAX_FOOTNOTES} footnotes");
            self.mistake("too-many-footnotes", message, scope);
            return None;
        }
        let index = self.footnotes.len();
        // The number is assigned first, because the content may contain footnotes itself.
        self.footnotes.push(Footnote::default());
        let text_style = self.named_style("footnote");
        let content = self.content(content, text_style, scope);
        self.footnotes[index].content = content;
        Some(Inline::Footnote {
            index: u32::try_from(index).ok()?,
            style,
        })
    }

    /// Checks that documents may link to an address; reports others and returns `None`.
    pub(super) fn link(&mut self, link: &Text, scope: &Scope<'_>) -> Option<Arc<str>> {
        let text = self.line(link, scope);
        let address = text.trim();
        if address.is_empty() {
            return None;
        }
        if let Some(id) = address.strip_prefix('#') {
            self.targets.push((id.to_owned(), self.path.clone()));
            return Some(Arc::from(address));
        }
        if let Some(address) = allowed_address(address) {
            return Some(Arc::from(address));
        }
        let shown: String = address.chars().take(60).collect();
        let message = format!("`{shown}` is not an allowed link target");
        let failure = crate::expression::Failure {
            hint: Some(
                "link targets begin with `https:`, `http:`, `mailto:`, `tel:` or `#id`".to_owned(),
            ),
            ..crate::expression::Failure::new("invalid-link", message)
        };
        self.report(failure, scope);
        None
    }

    /// Warns about `#id` links without a target.
    pub(super) fn check_targets(&mut self) {
        for (id, path) in std::mem::take(&mut self.targets) {
            if !self.ids.contains(&id) {
                self.path = path;
                let message = format!("there is no node with the id `{id}` in this document");
                self.warn("unknown-link-target", &message);
            }
        }
    }
}

/// The address without spaces around it, if documents may link to it.
pub(super) fn allowed_address(address: &str) -> Option<&str> {
    let address = address.trim();
    let scheme = address
        .split_once(':')
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    let known = matches!(scheme.as_deref(), Some("http" | "https" | "mailto" | "tel"));
    let sound = address.len() <= 2_000 && !address.contains(char::is_whitespace);
    (known && sound).then_some(address)
}

/// Appends `text`. Line feeds become breaks; the noncharacters for page fields become fields.
pub(super) fn push_text(
    inlines: &mut Vec<Inline>,
    text: &str,
    style: StyleId,
    link: Option<&Arc<str>>,
) {
    let push = |inlines: &mut Vec<Inline>, piece: &str| {
        if !piece.is_empty() {
            inlines.push(Inline::Text {
                text: piece.into(),
                style,
                link: link.cloned(),
            });
        }
    };
    let mut rest = text;
    while let Some(place) = rest.find(|symbol| symbol == '\n' || is_field(symbol)) {
        let (piece, after) = rest.split_at(place);
        push(inlines, piece);
        let mut symbols = after.chars();
        let symbol = symbols.next();
        rest = symbols.as_str();
        inlines.push(match symbol {
            Some(clean::PAGE_NUMBER) => Inline::PageNumber(style),
            Some(clean::PAGE_COUNT) => Inline::PageCount(style),
            Some(clean::PAGE_OF) => {
                // A mark that a filter parted from its other one stands for nothing.
                let Some((target, after)) = rest.split_once(clean::PAGE_OF_END) else {
                    continue;
                };
                rest = after;
                Inline::PageOf {
                    targets: [Box::from(target)].into(),
                    style,
                }
            }
            Some(clean::PAGE_OF_END) => continue,
            Some(field) if is_field(field) => Inline::PageField {
                field: page_field(field),
                style,
            },
            _ => Inline::Break,
        });
    }
    push(inlines, rest);
}

/// The field that a character represents.
fn page_field(symbol: char) -> PageField {
    match symbol {
        clean::SECTION_NUMBER => PageField::SectionNumber,
        clean::SECTION_COUNT => PageField::SectionCount,
        head => {
            let level = (head as u32).saturating_sub(clean::RUNNING_HEAD as u32);
            PageField::RunningHead(level.min(5) as u8 + 1)
        }
    }
}
