//! Markdown pages: replaces `{{ toHTML "a.md" }}` in `index.html` with the rendered file.

use std::collections::BTreeMap;

use platen_fault::{Code, What};
use pulldown_cmark::{Options, Parser, html};

use platen_server::problem::Problem;

/// Longest page, in bytes.
const MAX_BYTES: usize = 64 << 20;
/// Markdown of a page, in bytes; a file counts as often as the page names it. A byte may take fifty in
/// memory while it is parsed.
pub(crate) const MAX_TEXT_BYTES: usize = 4 << 20;

fn invalid(detail: String) -> Problem {
    Problem::new(Code::InvalidRequest, detail)
}

/// The Markdown files of a page are too long together.
pub(crate) fn too_long() -> Problem {
    let detail = format!("the Markdown of the page is longer than {MAX_TEXT_BYTES} bytes");
    Problem::new(Code::TooLarge(What::Form, MAX_TEXT_BYTES as u64), detail)
}

/// Names all files that `page` references and that are not in the form.
fn not_found(page: &str, files: &BTreeMap<String, String>) -> Problem {
    let missing = names(page).filter(|name| !files.contains_key(*name));
    let quoted: Vec<String> = missing.map(|name| format!("'{name}'")).collect();
    invalid(format!("Markdown file(s) not found: {}", quoted.join("\n")))
}

/// Returns `page` with each referenced Markdown file rendered to HTML.
///
/// # Errors
/// 400 if the page references no file or a missing file; 413 if its Markdown is too long, or the page
/// that it becomes.
pub(crate) fn fill(page: &str, files: &BTreeMap<String, String>) -> Result<String, Problem> {
    let mut made = String::with_capacity(page.len());
    let mut rest = page;
    let mut count = 0;
    let mut left = MAX_TEXT_BYTES;
    while let Some(begin) = rest.find("{{") {
        let (before, after) = rest.split_at(begin);
        made.push_str(before);
        let length = after
            .find("}}")
            .ok_or_else(|| invalid("`index.html` has `{{` without `}}`".to_owned()))?;
        let expression = after[2..length].trim().trim_matches('-').trim();
        let name = named(expression).ok_or_else(|| {
            let shown: String = expression.chars().take(80).collect();
            invalid(format!(
                "`index.html` has `{{{{ {shown} }}}}`, which is not toHTML with a file"
            ))
        })?;
        let text = files.get(name).ok_or_else(|| not_found(page, files))?;
        left = left.checked_sub(text.len()).ok_or_else(too_long)?;
        html::push_html(&mut made, Parser::new_ext(text, dialect()));
        if made.len() > MAX_BYTES {
            let detail = format!("the page becomes longer than {MAX_BYTES} bytes");
            let code = Code::TooLarge(What::Form, MAX_BYTES as u64);
            return Err(Problem::new(code, detail));
        }
        count += 1;
        rest = &after[length + 2..];
    }
    if count == 0 {
        return Err(invalid("`index.html` names no file with toHTML".to_owned()));
    }
    made.push_str(rest);
    Ok(made)
}

/// GitHub's Markdown extensions: tables, strikethrough, task lists and footnotes.
fn dialect() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
}

/// Names of the files that the page may reference.
pub(crate) fn names(page: &str) -> impl Iterator<Item = &str> {
    page.split("{{").skip(1).filter_map(|rest| {
        let expression = rest.split("}}").next()?;
        named(expression.trim().trim_matches('-').trim())
    })
}

/// The file name in `toHTML "a.md"`.
fn named(expression: &str) -> Option<&str> {
    let rest = expression.strip_prefix("toHTML")?.trim();
    let quoted = |mark: char| rest.strip_prefix(mark)?.strip_suffix(mark);
    quoted('"').or_else(|| quoted('`'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(page: &str) -> Result<String, Problem> {
        let text = "# A\n\n|x|y|\n|-|-|\n|1|~~2~~|\n".to_owned();
        fill(page, &BTreeMap::from([("a.md".to_owned(), text)]))
    }

    #[test]
    fn files_stand_where_the_page_names_them() {
        let made = filled("<b>{{ toHTML \"a.md\" }}</b>{{toHTML `a.md`}}").unwrap();
        assert!(made.starts_with("<b><h1>A</h1>") && made.contains("<del>2</del>"));
        assert_eq!(made.matches("<table>").count(), 2);
        for wrong in [
            "<p>",
            "{{ toHTML \"b.md\" }}",
            "{{ toHTML \"a.md\"",
            "{{ .Other }}",
        ] {
            assert_eq!(
                filled(wrong).unwrap_err().code,
                Code::InvalidRequest,
                "{wrong}"
            );
        }
    }

    #[test]
    fn markdown_is_bounded_however_often_it_is_named() {
        let files = BTreeMap::from([("a.md".to_owned(), "[a]: b\n".repeat(1 << 16))]);
        let page = |count: usize| "{{ toHTML \"a.md\" }}".repeat(count);
        assert!(fill(&page(9), &files).is_ok());
        let error = fill(&page(10), &files).unwrap_err();
        assert!(matches!(error.code, Code::TooLarge(What::Form, _)));
    }
}
