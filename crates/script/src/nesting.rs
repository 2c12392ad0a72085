//! Measures how deeply a source is nested, before a recursive parser reads it.
//!
//! This scans tokens without a grammar: it counts what makes a parser recurse within one statement,
//! and can only be wrong about where a statement ends. A source that it underestimates still meets
//! the stack limit of the cell or thread that parses it.

use crate::prepare::Finding;

/// Maximum depth of brackets.
const MAX_BRACKETS: usize = 200;
/// Maximum number of operators in one statement, including those of the brackets around it.
const MAX_OPERATORS: usize = 4_000;

/// Keywords that start a statement.
const BEGIN: [&[u8]; 13] = [
    b"const",
    b"let",
    b"var",
    b"return",
    b"throw",
    b"function",
    b"class",
    b"export",
    b"import",
    b"case",
    b"default",
    b"break",
    b"continue",
];
/// Keywords that continue a statement, as operators do.
const GO_ON: [&[u8]; 12] = [
    b"in",
    b"of",
    b"instanceof",
    b"as",
    b"satisfies",
    b"extends",
    b"is",
    b"else",
    b"catch",
    b"finally",
    b"while",
    b"implements",
];
/// Keywords that precede an operand.
const BEFORE: [&[u8]; 18] = [
    b"if",
    b"for",
    b"do",
    b"with",
    b"new",
    b"typeof",
    b"void",
    b"delete",
    b"await",
    b"yield",
    b"keyof",
    b"infer",
    b"async",
    b"try",
    b"switch",
    b"readonly",
    b"unique",
    b"asserts",
];

/// An open bracket.
struct Open {
    /// Operators of its current statement so far.
    operators: usize,
    /// Whether it is the `${` of a template literal.
    in_template: bool,
}

struct Scan<'s> {
    bytes: &'s [u8],
    at: usize,
    open: Vec<Open>,
    /// Operators of the statement outside all brackets.
    outside: usize,
    /// Operators of all unfinished statements.
    total: usize,
    /// Whether the last token ended an operand, so that `/` is a division.
    after_operand: bool,
}

/// Rejects a source that is nested more deeply than anyone writes.
pub(crate) fn check(source: &str) -> Result<(), Finding> {
    let mut scan = Scan {
        bytes: source.as_bytes(),
        at: 0,
        open: Vec::new(),
        outside: 0,
        total: 0,
        after_operand: false,
    };
    while scan.at < scan.bytes.len() {
        scan.token();
        if scan.open.len() > MAX_BRACKETS || scan.total > MAX_OPERATORS {
            return Err(too_deep(source, scan.at));
        }
    }
    Ok(())
}

fn too_deep(source: &str, at: usize) -> Finding {
    let before = &source.as_bytes()[..at.min(source.len())];
    let start = before.iter().rposition(|byte| *byte == b'\n');
    Finding {
        message: format!(
            "the code is nested too deep: at most {MAX_BRACKETS} brackets within each other, and \
             {MAX_OPERATORS} operators in a statement"
        ),
        line: before.iter().filter(|byte| **byte == b'\n').count() as u32 + 1,
        column: (before.len() - start.map_or(0, |start| start + 1)) as u32 + 1,
        is_too_deep: true,
    }
}

impl Scan<'_> {
    fn token(&mut self) {
        let byte = self.bytes[self.at];
        let next = self.bytes.get(self.at + 1).copied();
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
            b'"' | b'\'' => self.text(byte),
            b'`' => self.template(),
            b'/' if next == Some(b'/') => self.skip_past(b"\n"),
            b'/' if next == Some(b'*') => self.skip_past(b"*/"),
            b'/' if !self.after_operand => self.regular_expression(),
            b'(' | b'[' | b'{' => self.bracket(false),
            b')' | b']' | b'}' => self.close(),
            b';' => {
                self.at += 1;
                self.end_statement();
            }
            b',' => {
                self.at += 1;
                self.after_operand = false;
            }
            byte if byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_$#@".contains(&byte) => {
                self.word();
            }
            _ => {
                self.at += 1;
                self.operator();
            }
        }
    }

    fn operators(&mut self) -> &mut usize {
        match self.open.last_mut() {
            Some(open) => &mut open.operators,
            None => &mut self.outside,
        }
    }

    fn operator(&mut self) {
        *self.operators() += 1;
        self.total += 1;
        self.after_operand = false;
    }

    fn end_statement(&mut self) {
        let ended = std::mem::take(self.operators());
        self.total -= ended;
        self.after_operand = false;
    }

    fn bracket(&mut self, in_template: bool) {
        self.at += 1;
        self.open.push(Open {
            operators: 0,
            in_template,
        });
        self.after_operand = false;
    }

    fn close(&mut self) {
        self.at += 1;
        self.after_operand = true;
        if let Some(closed) = self.open.pop() {
            self.total -= closed.operators;
            if closed.in_template {
                self.template_text();
            }
        }
    }

    /// A name, a number or a keyword. Between two adjacent operands, a statement has ended.
    fn word(&mut self) {
        let start = self.at;
        let in_word =
            |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80 || b"_$#@".contains(byte);
        let length = self.bytes[start..]
            .iter()
            .take_while(|byte| in_word(byte))
            .count();
        self.at += length;
        let word = &self.bytes[start..self.at];
        if BEGIN.contains(&word) {
            // Within an expression, functions and classes have brackets around their content.
            if self.after_operand || !matches!(word, b"function" | b"class" | b"import") {
                self.end_statement();
            }
            return;
        }
        if GO_ON.contains(&word) || BEFORE.contains(&word) {
            self.operator();
        } else {
            self.after_operand = true;
        }
    }

    fn text(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += match byte {
                b'\\' => 2,
                _ => 1,
            };
            if *byte == quote || *byte == b'\n' {
                break;
            }
        }
        self.at = self.at.min(self.bytes.len());
        self.after_operand = true;
    }

    fn template(&mut self) {
        // After an operand it is a tagged template, which is a call.
        if self.after_operand {
            self.operator();
        }
        self.at += 1;
        self.template_text();
    }

    /// The text of a template literal, up to its end or the next `${`.
    fn template_text(&mut self) {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 2,
                b'`' => {
                    self.at += 1;
                    break;
                }
                b'$' if self.bytes.get(self.at + 1) == Some(&b'{') => {
                    self.at += 1;
                    return self.bracket(true);
                }
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.bytes.len());
        self.after_operand = true;
    }

    fn regular_expression(&mut self) {
        let mut in_class = false;
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += match byte {
                b'\\' => 2,
                _ => 1,
            };
            match byte {
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => break,
                b'\n' => break,
                _ => {}
            }
        }
        self.at = self.at.min(self.bytes.len());
        self.after_operand = true;
    }

    fn skip_past(&mut self, end: &[u8]) {
        let rest = &self.bytes[self.at + 1..];
        let found = rest.windows(end.len()).position(|window| window == end);
        self.at = found.map_or(self.bytes.len(), |found| self.at + 1 + found + end.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_fine(source: &str) -> bool {
        check(source).is_ok()
    }

    #[test]
    fn what_nests_without_end_is_refused() {
        let repeated = |text: &str, count| text.repeat(count);
        for deep in [
            repeated("(", 2_000),
            repeated("[", 2_000),
            repeated("{", 2_000),
            repeated("`${", 2_000),
            repeated("!", 20_000),
            repeated("- ", 20_000),
            repeated("typeof ", 20_000),
            repeated("a => ", 20_000),
            repeated("a ? b : ", 20_000),
            repeated("a + ", 20_000),
            repeated("a.b", 20_000),
            repeated("a?.", 20_000),
            repeated("if (a) ", 20_000),
            repeated("a: ", 20_000),
            repeated("new ", 20_000),
            format!("let a: {}", repeated("Array<", 20_000)),
            format!("let a: {}", repeated("Map<a, ", 20_000)),
            format!("type A = {}", repeated("keyof ", 20_000)),
            repeated("/*)*/(", 2_000),
            repeated("')'+(", 2_000),
            repeated("/[)]/.test(", 2_000),
        ] {
            assert!(!is_fine(&deep), "{}", &deep[..40]);
        }
    }

    #[test]
    fn long_code_is_not_deep() {
        let statements =
            "const a = b + c * d;\nif (a) { f(a, b.c); } else { g(); }\n".repeat(5_000);
        assert!(is_fine(&statements));
        let functions =
            "function f(a) { return a + 1 }\nclass A { b() { return 1 / 2 } }\n".repeat(5_000);
        assert!(is_fine(&functions));
        let no_semicolons = "const a = f(b)\nexport const c = a / 2 + `x${a}`\n".repeat(5_000);
        assert!(is_fine(&no_semicolons));
        let table = format!(
            "export default [{}]",
            "{a: -1, b: [1, 2], c: /x/g},".repeat(5_000)
        );
        assert!(!is_fine(&"-".repeat(5_000)));
        assert!(is_fine(&table));
    }
}
