//! Texts with `{{ expressions }}`, split into literals and expressions.

use super::{CompiledExpression, Evaluated, Evaluation, Failure, MAX_TEXT_BYTES, Scope};

/// A compiled text.
#[derive(Debug)]
pub(crate) struct CompiledText {
    /// Literals and expressions in order.
    pub(crate) segments: Vec<Segment>,
}

/// A part of a text.
#[derive(Debug)]
pub(crate) enum Segment {
    /// Literal text.
    Literal(Box<str>),
    /// The expression between braces.
    Expression(CompiledExpression),
}

impl CompiledText {
    /// Splits and compiles `source`.
    ///
    /// # Errors
    /// All errors.
    pub(crate) fn new(source: &str) -> Result<Self, Vec<Failure>> {
        let (mut segments, mut failures) = (Vec::new(), Vec::new());
        let mut rest = source;
        while let Some(start) = rest.find("{{") {
            if start > 0 {
                segments.push(literal(&rest[..start]));
            }
            let inside = &rest[start + 2..];
            let Some(end) = end_of_expression(inside) else {
                failures.push(
                    Failure::new("unclosed-expression", "`{{` has no `}}`")
                        .with_hint("write `{{ '{{' }}` where braces are meant"),
                );
                return Err(failures);
            };
            match CompiledExpression::new(&inside[..end]) {
                Ok(expression) => segments.push(Segment::Expression(expression)),
                Err(failure) => failures.push(failure),
            }
            rest = &inside[end + 2..];
        }
        if !rest.is_empty() {
            segments.push(literal(rest));
        }
        if failures.is_empty() {
            Ok(Self { segments })
        } else {
            Err(failures)
        }
    }

    /// The expression, if it is the whole text; its value then keeps its type.
    pub(crate) fn single(&self) -> Option<&CompiledExpression> {
        match self.segments.as_slice() {
            [Segment::Expression(expression)] => Some(expression),
            _ => None,
        }
    }

    /// The expressions of the text.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &CompiledExpression> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Expression(expression) => Some(expression),
            Segment::Literal(_) => None,
        })
    }

    /// Evaluates the text in `scope`. Page fields are represented by noncharacters (see
    /// [`crate::clean`]).
    ///
    /// # Errors
    /// As [`CompiledExpression::evaluate`], or the text exceeds 1 MB.
    pub(crate) fn evaluate(
        &self,
        scope: &Scope<'_>,
        evaluation: &Evaluation,
    ) -> Result<String, Failure> {
        let mut text = String::new();
        for segment in &self.segments {
            match segment {
                Segment::Literal(literal) => text.push_str(literal),
                Segment::Expression(expression) => {
                    let value: Evaluated<'_> = expression.evaluate(scope, evaluation)?;
                    value.write(&mut text, &evaluation.shared)?;
                }
            }
            if text.len() > MAX_TEXT_BYTES {
                return Err(Failure::new(
                    "text-too-long",
                    format!("the text is longer than {MAX_TEXT_BYTES} bytes"),
                ));
            }
        }
        Ok(text)
    }
}

fn literal(text: &str) -> Segment {
    // Only `pageNumber` and `pageCount` may produce page fields.
    Segment::Literal(crate::clean::clean(text).0.into())
}

/// Offset of the closing `}}`, outside strings and brackets.
pub(super) fn end_of_expression(inside: &str) -> Option<usize> {
    let bytes = inside.as_bytes();
    let (mut quote, mut braces, mut index) = (None, 0_usize, 0);
    while let Some(byte) = bytes.get(index) {
        match (quote, byte) {
            (Some(_), b'\\') => index += 1,
            (Some(open), byte) if *byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'{') => braces += 1,
            (None, b'}') if braces > 0 => braces -= 1,
            (None, b'}') if bytes.get(index + 1) == Some(&b'}') => return Some(index),
            _ => {}
        }
        index += 1;
    }
    None
}
