//! The operators of content (7.8.2) with the places where they are written, so that all else can stay
//! as it is: programs differ in what they make of content that is not as the standard says.

/// How many bytes behind the end of a picture must look like content.
const LOOK: usize = 12;
/// How many operands of an operator are known.
const OPERANDS: usize = 3;

/// An operator.
pub(crate) struct Operator<'a> {
    /// A picture within the content is one operator, `BI`, to its `EI`.
    pub(crate) name: &'a [u8],
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Where its last operands begin, the last one first.
    operands: [Option<usize>; OPERANDS],
}

impl Operator<'_> {
    /// Where its last operands begin: so many, or those that it has.
    pub(crate) fn with(&self, count: usize) -> usize {
        let known = self.operands.iter().take(count);
        known.rev().flatten().next().copied().unwrap_or(self.start)
    }
}

/// What a word is.
enum Word {
    Operator,
    Operand,
    /// The begin of a list or dictionary.
    Open,
    Close,
    /// Space, a comment, or what belongs nowhere.
    Space,
}

/// The operators of content, to its end.
pub(crate) struct Operators<'a> {
    content: &'a [u8],
    at: usize,
}

impl<'a> Operators<'a> {
    pub(crate) fn new(content: &'a [u8]) -> Self {
        Self { content, at: 0 }
    }

    /// Passes the next word.
    fn word(&mut self) -> Option<Word> {
        let start = self.at;
        let rest = self.content.get(start..)?;
        let (word, size) = match rest {
            [] => return None,
            [b'%', ..] => (Word::Space, length(rest, |byte| !b"\r\n".contains(&byte))),
            [b'(', ..] => (Word::Operand, end_of_string(self.content, start) - start),
            [b'/', name @ ..] => (Word::Operand, 1 + length(name, is_regular)),
            [b'<', b'<', ..] => (Word::Open, 2),
            [b'>', b'>', ..] => (Word::Close, 2),
            [b'<', ..] => (Word::Operand, 1 + length(rest, |byte| byte != b'>')),
            [b'[', ..] => (Word::Open, 1),
            [b']', ..] => (Word::Close, 1),
            [b'+' | b'-' | b'.' | b'0'..=b'9', ..] => (Word::Operand, length(rest, is_of_number)),
            [byte, ..] if !is_regular(*byte) => (Word::Space, 1),
            _ => {
                let size = length(rest, is_regular);
                match &rest[..size] {
                    b"true" | b"false" | b"null" => (Word::Operand, size),
                    _ => (Word::Operator, size),
                }
            }
        };
        self.at = start + size;
        Some(word)
    }
}

impl<'a> Iterator for Operators<'a> {
    type Item = Operator<'a>;

    fn next(&mut self) -> Option<Operator<'a>> {
        let content = self.content;
        let mut operands = [None; OPERANDS];
        let mut depth = 0_usize;
        let mut picture = None;
        loop {
            let start = self.at;
            let word = self.word()?;
            if depth == 0 && matches!(word, Word::Open | Word::Operand) {
                operands.rotate_right(1);
                operands[0] = Some(start);
            }
            match word {
                Word::Open => depth += 1,
                Word::Close => depth = depth.saturating_sub(1),
                Word::Space | Word::Operand => {}
                Word::Operator => match (&content[start..self.at], picture) {
                    // Of a reference, which content must not have.
                    (b"R", _) if depth > 0 => {}
                    (b"BI", None) => picture = Some(start),
                    (b"ID", Some(start)) => {
                        let end = end_of_picture(content, self.at);
                        self.at = end.unwrap_or(content.len());
                        return Some(Operator {
                            name: b"BI",
                            start,
                            end: self.at,
                            operands: [None; OPERANDS],
                        });
                    }
                    (name, _) => {
                        return Some(Operator {
                            name,
                            start,
                            end: self.at,
                            operands,
                        });
                    }
                },
            }
        }
    }
}

fn is_regular(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !b"()<>[]{}/%\0".contains(&byte)
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || b"+-.".contains(&byte)
}

/// How many `q` of content have no `Q`, and how many `Q` have no `q`.
pub(crate) fn unbalanced(content: &[u8]) -> (usize, usize) {
    let (mut open, mut lacking) = (0_usize, 0_usize);
    for operator in Operators::new(content) {
        match operator.name {
            b"q" => open += 1,
            b"Q" if open > 0 => open -= 1,
            b"Q" => lacking += 1,
            _ => {}
        }
    }
    (open, lacking)
}

/// How many bytes at the start are in what is asked for.
pub(crate) fn length(bytes: &[u8], is_in: impl Fn(u8) -> bool) -> usize {
    bytes
        .iter()
        .position(|byte| !is_in(*byte))
        .unwrap_or(bytes.len())
}

/// The place after the string that begins at `at`.
pub(crate) fn end_of_string(content: &[u8], mut at: usize) -> usize {
    let mut depth = 0;
    while let Some(byte) = content.get(at) {
        match byte {
            b'\\' => at += 1,
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

/// The place after the `EI` of a picture whose data begin at `at`: one between spaces, before what looks
/// like content.
pub(crate) fn end_of_picture(content: &[u8], at: usize) -> Option<usize> {
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let ends = memchr::memmem::find_iter(&content[at..], b"EI");
    ends.map(|end| at + end).find_map(|end| {
        let before = content[end - 1];
        let after = &content[end + 2..];
        // Data in text end with a sign of their own.
        let is_end = (before.is_ascii_whitespace() || before == b'>' || end == at)
            && after.first().is_none_or(u8::is_ascii_whitespace)
            && after.iter().take(LOOK).all(is_text);
        is_end.then_some(end + 2)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(content: &[u8]) -> Vec<String> {
        let name = |operator: Operator<'_>| String::from_utf8_lossy(operator.name).into_owned();
        Operators::new(content).map(name).collect()
    }

    #[test]
    fn operators_are_found_to_the_end_of_content() {
        assert_eq!(
            names(b"q (q \\) (q)) Tj <</q [/q null]>> BDC % q\n5 0 0cm[(q)]TJ/q gs Q"),
            ["q", "Tj", "BDC", "cm", "TJ", "gs", "Q"]
        );
        assert_eq!(
            names(b"BI /W 8 /CS /G /F /AHx ID 71 20 51> EI Q BI /W 1 ID \x01 q EI f"),
            ["BI", "Q", "BI", "f"]
        );
        for damaged in [
            b"q ] ) > } --5 f".as_slice(),
            b"q [ 5 f",
            b"q << f",
            b"q f (f",
            b"q f <f",
            b"q f (\\",
        ] {
            assert_eq!(names(damaged), ["q", "f"]);
        }
    }

    #[test]
    fn operands_belong_to_the_operator_behind_them() {
        let content = b"1 /P <</MCID 0>> BDC";
        let operator = Operators::new(content).next().expect("an operator");
        assert_eq!(content[operator.with(2)..], b"/P <</MCID 0>> BDC"[..]);
        assert_eq!((operator.with(0), operator.end), (17, content.len()));
        assert_eq!(operator.with(9), 0);
    }

    #[test]
    fn what_is_saved_and_not_restored_is_counted() {
        assert_eq!(unbalanced(b"q q Q"), (1, 0));
        assert_eq!(unbalanced(b"Q q Q Q"), (0, 2));
        assert_eq!(unbalanced(b"Q q (Q) Tj % Q"), (1, 1));
        assert_eq!(unbalanced(b"BI /W 1 ID q EI"), (0, 0));
    }
}
