//! Line and column in a JSON text for a JSON pointer, so that authors find what a diagnostic means.

use std::fmt;

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The place of the value that an RFC 6901 pointer names, or of the nearest value around it if it is
/// missing. `None` if the text is not JSON up to there.
#[must_use]
pub fn position_of(json: &str, pointer: &str) -> Option<Position> {
    let mut scan = Scan { json, at: 0 };
    let mut found = scan.value_start()?;
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        match scan.child(&token) {
            Some(at) => found = at,
            None => break,
        }
    }
    let before = &json[..found];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Some(Position {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    })
}

/// Reads forward through a JSON text.
struct Scan<'j> {
    json: &'j str,
    at: usize,
}

impl<'j> Scan<'j> {
    fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    /// Skips white space; where the next value or sign begins.
    fn value_start(&mut self) -> Option<usize> {
        while self.peek()?.is_ascii_whitespace() {
            self.at += 1;
        }
        Some(self.at)
    }

    fn expect(&mut self, sign: u8) -> Option<()> {
        self.value_start()?;
        (self.peek()? == sign).then(|| self.at += 1)
    }

    /// Goes to the member or element of the value that begins here.
    fn child(&mut self, token: &str) -> Option<usize> {
        self.value_start()?;
        match self.peek()? {
            b'{' => {
                self.at += 1;
                loop {
                    self.value_start()?;
                    let key = self.string()?;
                    self.expect(b':')?;
                    let start = self.value_start()?;
                    if serde_json::from_str::<String>(key).ok()? == token {
                        return Some(start);
                    }
                    self.skip()?;
                    self.expect(b',')?;
                }
            }
            b'[' => {
                let wanted: usize = token.parse().ok()?;
                self.at += 1;
                for _ in 0..wanted {
                    self.value_start()?;
                    self.skip()?;
                    self.expect(b',')?;
                }
                let start = self.value_start()?;
                (self.peek()? != b']').then_some(start)
            }
            _ => None,
        }
    }

    /// Reads a string with its quotation marks.
    fn string(&mut self) -> Option<&'j str> {
        let start = self.at;
        if self.peek()? != b'"' {
            return None;
        }
        self.at += 1;
        loop {
            match self.peek()? {
                b'\\' => self.at += 2,
                b'"' => {
                    self.at += 1;
                    return self.json.get(start..self.at);
                }
                _ => self.at += 1,
            }
        }
    }

    /// Skips the value that begins here.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                _ => self.at += 1,
            }
            if depth == 0 && matches!(self.peek(), None | Some(b',' | b'}' | b']')) {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{
  "a": [1, {"ü/x": "b\"}"},
    [true]],
  "body": [
    {"type": "text", "content": "ä"}
  ]
}"#;

    fn at(pointer: &str) -> (usize, usize) {
        let position = position_of(JSON, pointer).unwrap();
        (position.line, position.column)
    }

    #[test]
    fn pointers_have_places() {
        assert_eq!(at(""), (1, 1));
        assert_eq!(at("/a"), (2, 8));
        assert_eq!(at("/a/0"), (2, 9));
        assert_eq!(at("/a/1/ü~1x"), (2, 20));
        assert_eq!(at("/a/2/0"), (3, 6));
        assert_eq!(at("/body/0/content"), (5, 33));
    }

    #[test]
    fn what_is_missing_has_the_place_around_it() {
        assert_eq!(at("/body/0/style/color"), (5, 5));
        assert_eq!(at("/body/7"), (4, 11));
        assert_eq!(at("/nothing"), (1, 1));
    }

    #[test]
    fn broken_texts_have_no_end() {
        for text in [
            "",
            "{",
            "{\"a",
            "{\"a\":",
            "[[[[",
            "{\"a\":\"\\",
            "]]",
            "{\"a\" 1}",
        ] {
            let _ = position_of(text, "/a/b/0");
        }
        assert_eq!(position_of("", "/a"), None);
    }
}
