//! From what an author writes to a module that runs: syntax is checked and types are taken out,
//! once, by `oxc`.
//!
//! The parser recurses with the nesting of the source and has no bound of its own. So a source that
//! is nested deeper than anyone writes is refused before, by [`crate::nesting`], and parsing happens
//! where its end is an error: in a cell, or on a thread whose stack fits whatever a source of that
//! length can nest.

use std::path::Path;

use oxc::{
    allocator::Allocator,
    codegen::{Codegen, CodegenOptions, CodegenReturn},
    diagnostics::OxcDiagnostic,
    parser::Parser,
    semantic::SemanticBuilder,
    span::SourceType,
    transformer::{TransformOptions, Transformer},
};
use serde::{Deserialize, Serialize};

use crate::{bytecode::Bytecode, nesting};

/// Code of the diagnostic for a source nested deeper than the parser accepts.
pub const CODE_TOO_DEEP: &str = "code-too-deep";
/// The longest source: room for a bundle of npm packages.
pub const MAX_SOURCE_BYTES: usize = 1 << 20;

/// What a source is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// An ES module.
    #[default]
    JavaScript,
    /// The same with types.
    TypeScript,
}

impl Language {
    /// By the extension of a file name: TypeScript for `.ts`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        if name.ends_with(".ts") || name.ends_with(".mts") {
            Self::TypeScript
        } else {
            Self::JavaScript
        }
    }
}

/// A mistake in a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What is wrong.
    pub message: String,
    /// From 1; 0 where the place is not known.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// The code is nested deeper than is parsed, which is no mistake of its syntax.
    #[serde(default)]
    pub is_too_deep: bool,
}

/// A module that is ready to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// File name in errors.
    pub name: String,
    /// An ES module in JavaScript.
    pub code: String,
    /// Names that the module exports.
    pub exports: Vec<String>,
    /// The author's line of each line of `code`, from 1; empty where they are the same.
    pub lines: Vec<u32>,
    /// What a long `code` is compiled to when it runs first.
    #[serde(skip)]
    pub(crate) bytecode: Bytecode,
}

impl Prepared {
    /// The author's line of a line of the code, both from 1.
    #[must_use]
    pub fn line(&self, line: u32) -> u32 {
        let index = line.saturating_sub(1) as usize;
        self.lines.get(index).copied().unwrap_or(line)
    }
}

impl Finding {
    /// One that has no place.
    pub(crate) fn of_all(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            line: 0,
            column: 0,
            is_too_deep: false,
        }
    }
}

/// Stack for each byte of a source. No construct takes less than a byte for a level of the parser's
/// recursion; `(`, the dearest of them, takes about 1 KiB.
const STACK_BYTES_EACH: usize = 4 << 10;
/// Stack besides.
const STACK_BYTES: usize = 1 << 20;

/// Checks what can be checked before parsing.
///
/// # Errors
/// A source that is too long or nested too deep.
pub(crate) fn check_bounds(source: &str) -> Result<(), Vec<Finding>> {
    if source.len() > MAX_SOURCE_BYTES {
        let message = format!("the source is longer than {MAX_SOURCE_BYTES} bytes");
        return Err(vec![Finding::of_all(message)]);
    }
    nesting::check(source).map_err(|finding| vec![finding])
}

/// Checks `source` and takes out its types, on a thread of its own with a stack that it cannot
/// overflow. Nothing ends that thread early: what strangers send belongs into a cell, see
/// [`crate::Preparer`].
///
/// # Errors
/// All mistakes of its syntax.
pub fn prepare(name: &str, source: &str, language: Language) -> Result<Prepared, Vec<Finding>> {
    check_bounds(source)?;
    let stack = STACK_BYTES + source.len() * STACK_BYTES_EACH;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("parse".to_owned())
            .stack_size(stack)
            .spawn_scoped(scope, || parse(name, source, language));
        let failed = |reason: &str| {
            vec![Finding::of_all(format!(
                "the source cannot be parsed: {reason}"
            ))]
        };
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(parsed)) => parsed,
            Ok(Err(_)) => Err(failed("the parser failed")),
            Err(error) => Err(failed(&error.to_string())),
        }
    })
}

/// As [`prepare`], on the stack of the caller and without the checks before.
pub(crate) fn parse(
    name: &str,
    source: &str,
    language: Language,
) -> Result<Prepared, Vec<Finding>> {
    let allocator = Allocator::default();
    let kind = match language {
        Language::JavaScript => SourceType::mjs(),
        Language::TypeScript => SourceType::ts(),
    };
    let mut parsed = Parser::new(&allocator, source, kind).parse();
    let checked = SemanticBuilder::new()
        .with_check_syntax_error(true)
        .build(&parsed.program);
    let findings: Vec<Finding> = parsed
        .errors
        .iter()
        .chain(&checked.errors)
        .map(|error| finding(error, source))
        .collect();
    if !findings.is_empty() {
        return Err(findings);
    }
    let exported = parsed.module_record.exported_bindings.keys();
    let mut exports: Vec<String> = exported.map(ToString::to_string).collect();
    exports.sort();
    if language == Language::JavaScript {
        return Ok(Prepared {
            name: name.to_owned(),
            exports,
            code: source.to_owned(),
            lines: Vec::new(),
            bytecode: Bytecode::default(),
        });
    }
    let path = Path::new(name);
    let scoping = checked.semantic.into_scoping();
    let transformed = Transformer::new(&allocator, path, &TransformOptions::default())
        .build_with_scoping(scoping, &mut parsed.program);
    if !transformed.errors.is_empty() {
        let findings = transformed.errors.iter();
        return Err(findings.map(|error| finding(error, source)).collect());
    }
    let options = CodegenOptions {
        source_map_path: Some(path.to_owned()),
        ..CodegenOptions::default()
    };
    let written = Codegen::new().with_options(options).build(&parsed.program);
    let lines = author_lines(&written);
    Ok(Prepared {
        name: name.to_owned(),
        code: written.code,
        exports,
        lines,
        bytecode: Bytecode::default(),
    })
}

/// The author's line of each line that was written.
fn author_lines(written: &CodegenReturn) -> Vec<u32> {
    let mut lines = vec![0; written.code.lines().count()];
    if let Some(map) = &written.map {
        for token in map.get_tokens() {
            if let Some(line) = lines.get_mut(token.get_dst_line() as usize)
                && *line == 0
            {
                *line = token.get_src_line() + 1;
            }
        }
    }
    // A line without a token of its own belongs to the one before.
    let mut last = 1;
    for line in &mut lines {
        if *line == 0 {
            *line = last;
        }
        last = *line;
    }
    lines
}

fn finding(error: &OxcDiagnostic, source: &str) -> Finding {
    let label = error.labels.as_ref().and_then(|labels| labels.first());
    let (line, column) = label.map_or((0, 0), |label| {
        let before = &source.as_bytes()[..label.offset().min(source.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count();
        let start = before.iter().rposition(|byte| *byte == b'\n');
        let column = before.len() - start.map_or(0, |start| start + 1);
        (line as u32 + 1, column as u32 + 1)
    });
    Finding {
        message: error.message.to_string(),
        line,
        column,
        is_too_deep: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_go_and_lines_stay_known() {
        let source = "interface Order {\n  sum: number;\n}\n\nenum Kind { A = 1, B }\n\nexport default async (order: Order): Promise<number> => {\n  const kind = Kind.B as number;\n  throw new Error('x' satisfies string);\n};\n";
        let prepared = prepare("step.ts", source, Language::TypeScript).expect("it is sound");
        assert!(!prepared.code.contains("interface"));
        let thrown = prepared
            .code
            .lines()
            .position(|line| line.contains("throw"));
        let line = thrown.expect("it is there") as u32 + 1;
        assert_eq!(prepared.line(line), 9);
    }

    #[test]
    fn mistakes_are_found_with_their_place() {
        let found = prepare(
            "step.js",
            "const a = 1;\nexport default () => {\n  const = 2;\n}",
            Language::JavaScript,
        );
        let found = found.expect_err("it is wrong");
        assert_eq!((found[0].line, found[0].column), (3, 9), "{found:?}");
        let found = prepare("step.js", "let a; let a;", Language::JavaScript);
        assert!(found.is_err());
    }

    #[test]
    fn a_long_source_is_refused() {
        let long = "a".repeat(MAX_SOURCE_BYTES + 1);
        assert!(prepare("a.js", &long, Language::JavaScript).is_err());
    }
}
