//! Turns an author's source into a module that runs: `oxc` checks the syntax and strips the types,
//! once.
//!
//! The parser recurses with the nesting of the source and has no limit of its own. So
//! [`crate::nesting`] rejects a source that is nested more deeply than anyone writes, and parsing
//! happens where a stack overflow is only an error: in a cell, or on a thread whose stack fits
//! whatever a source of that length can nest.

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
/// Maximum size of a source, in bytes: room for a bundle of npm packages.
pub const MAX_SOURCE_BYTES: usize = 1 << 20;

/// Language of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// An ES module.
    #[default]
    JavaScript,
    /// An ES module with types.
    TypeScript,
}

impl Language {
    /// Detects the language by the extension of a file name: TypeScript for `.ts` and `.mts`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        if name.ends_with(".ts") || name.ends_with(".mts") {
            Self::TypeScript
        } else {
            Self::JavaScript
        }
    }
}

/// An error in a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Error message.
    pub message: String,
    /// Line, from 1; 0 if unknown.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// The code is nested too deeply to be parsed; its syntax may be correct.
    #[serde(default)]
    pub is_too_deep: bool,
}

/// A module that is ready to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// File name in errors.
    pub name: String,
    /// JavaScript source of an ES module.
    pub code: String,
    /// Names of the module's exports.
    pub exports: Vec<String>,
    /// The author's line for each line of `code`, from 1; empty if they are the same.
    pub lines: Vec<u32>,
    /// Bytecode of a long `code`, compiled at its first run.
    #[serde(skip)]
    pub(crate) bytecode: Bytecode,
}

impl Prepared {
    /// The author's line for a line of `code`, both from 1.
    #[must_use]
    pub fn line(&self, line: u32) -> u32 {
        let index = line.saturating_sub(1) as usize;
        self.lines.get(index).copied().unwrap_or(line)
    }
}

impl Finding {
    /// An error without a position.
    pub(crate) fn of_all(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            line: 0,
            column: 0,
            is_too_deep: false,
        }
    }
}

/// Stack per byte of a source, in bytes. Every level of the parser's recursion takes at least one
/// byte of source; `(`, the most expensive construct, takes about 1 KiB of stack.
const STACK_BYTES_EACH: usize = 4 << 10;
/// Additional stack, in bytes.
const STACK_BYTES: usize = 1 << 20;

/// Checks what can be checked before parsing.
///
/// # Errors
/// The source is too long or nested too deeply.
pub(crate) fn check_bounds(source: &str) -> Result<(), Vec<Finding>> {
    if source.len() > MAX_SOURCE_BYTES {
        let message = format!("the source is longer than {MAX_SOURCE_BYTES} bytes");
        return Err(vec![Finding::of_all(message)]);
    }
    nesting::check(source).map_err(|finding| vec![finding])
}

/// Checks `source` and strips its types, on a thread with a stack that it cannot overflow. Nothing
/// ends that thread early: parse untrusted sources in a cell, see [`crate::Preparer`].
///
/// # Errors
/// All syntax errors.
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

/// Like [`prepare`], on the stack of the caller and without [`check_bounds`].
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

/// The author's line for each line of the generated code.
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
    // A line without a token of its own belongs to the line before it.
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
