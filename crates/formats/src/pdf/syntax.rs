//! PDF tokens: numbers, strings, names and references, ISO 32000-1 §7.3.

/// Number of an indirect object. Its generation is always 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Reference(pub u32);

/// Appends tokens to a content stream or an object.
pub(super) trait Syntax {
    /// Appends text unchanged.
    fn raw(&mut self, bytes: &str) -> &mut Self;
    /// Appends an integer.
    fn integer(&mut self, value: i64) -> &mut Self;
    /// Appends a number with at most `decimals` decimals, up to 5; 0 if it is not finite.
    fn number(&mut self, value: f32, decimals: u32) -> &mut Self;
    /// Appends a length or coordinate in points, with two decimals: a resolution of 3.5 µm.
    fn length(&mut self, value: f32) -> &mut Self {
        self.number(value, 2)
    }
    /// Appends a reference, such as `12 0 R`.
    fn reference(&mut self, reference: Reference) -> &mut Self;
    /// Appends a text string: ASCII as it is, other text as UTF-16BE with a byte order mark.
    fn text(&mut self, text: &str) -> &mut Self;
    /// Appends one byte of a literal string, escaped if necessary.
    fn escaped(&mut self, byte: u8);
    /// Appends a name with its slash.
    fn name(&mut self, name: &str) -> &mut Self;
    /// Appends the four hexadecimal digits of a character code or a UTF-16 unit.
    fn hexadecimal(&mut self, value: u16) -> &mut Self;
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

impl Syntax for Vec<u8> {
    fn raw(&mut self, bytes: &str) -> &mut Self {
        self.extend_from_slice(bytes.as_bytes());
        self
    }

    fn integer(&mut self, value: i64) -> &mut Self {
        if value < 0 {
            self.push(b'-');
        }
        digits(self, value.unsigned_abs());
        self
    }

    fn number(&mut self, value: f32, decimals: u32) -> &mut Self {
        match decimals {
            0 => decimal::<1>(self, value),
            1 => decimal::<10>(self, value),
            2 => decimal::<100>(self, value),
            3 => decimal::<1_000>(self, value),
            4 => decimal::<10_000>(self, value),
            _ => decimal::<100_000>(self, value),
        }
        self
    }

    fn reference(&mut self, reference: Reference) -> &mut Self {
        digits(self, u64::from(reference.0));
        self.raw(" 0 R")
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.push(b'(');
        if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
            for byte in text.bytes() {
                self.escaped(byte);
            }
        } else {
            self.extend_from_slice(&[0xfe, 0xff]);
            for unit in text.encode_utf16() {
                for byte in unit.to_be_bytes() {
                    self.escaped(byte);
                }
            }
        }
        self.push(b')');
        self
    }

    fn escaped(&mut self, byte: u8) {
        match byte {
            b'(' | b')' | b'\\' => self.extend_from_slice(&[b'\\', byte]),
            // An unescaped end of line inside a string would be read as a line feed.
            b'\r' => self.extend_from_slice(b"\\r"),
            _ => self.push(byte),
        }
    }

    fn name(&mut self, name: &str) -> &mut Self {
        self.push(b'/');
        for byte in name.bytes() {
            if byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte) {
                self.push(byte);
            } else {
                let code = [
                    b'#',
                    HEX[usize::from(byte >> 4)],
                    HEX[usize::from(byte & 15)],
                ];
                self.extend_from_slice(&code);
            }
        }
        self
    }

    fn hexadecimal(&mut self, value: u16) -> &mut Self {
        let digit = |shift: u32| HEX[usize::from(value >> shift & 15)];
        self.extend_from_slice(&[digit(12), digit(8), digit(4), digit(0)]);
        self
    }
}

/// Appends a number in units of one part of `SCALE`, a power of ten. The scale is constant as there are millions
/// of numbers, and divisions by constants are multiplications.
fn decimal<const SCALE: u64>(out: &mut Vec<u8>, value: f32) {
    // Exact: a product of 24 and 17 bits. `round` would be a call.
    let scaled = f64::from(value) * SCALE as f64;
    let scaled = match scaled.is_finite() {
        true => (scaled + 0.5_f64.copysign(scaled)).clamp(-1e15, 1e15) as i64,
        false => 0,
    };
    if scaled < 0 {
        out.push(b'-');
    }
    let magnitude = scaled.unsigned_abs();
    digits(out, magnitude / SCALE);
    let mut rest = magnitude % SCALE;
    if rest > 0 {
        out.push(b'.');
    }
    while rest > 0 {
        rest *= 10;
        out.push(b'0' + (rest / SCALE) as u8);
        rest %= SCALE;
    }
}

fn digits(out: &mut Vec<u8>, mut value: u64) {
    // Most have up to three. Slices of constant lengths are written without a call.
    let digit = |unit: u64| b'0' + (value / unit % 10) as u8;
    match value {
        0..10 => return out.push(digit(1)),
        10..100 => return out.extend_from_slice(&[digit(10), digit(1)]),
        100..1_000 => return out.extend_from_slice(&[digit(100), digit(10), digit(1)]),
        _ => {}
    }
    let mut buffer = [0_u8; 20];
    let mut start = buffer.len();
    loop {
        start -= 1;
        buffer[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&buffer[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f32, decimals: u32) -> String {
        let mut out = Vec::new();
        out.number(value, decimals);
        String::from_utf8(out).unwrap_or_default()
    }

    #[test]
    fn numbers() {
        assert_eq!(number(1.0, 2), "1");
        assert_eq!(number(-0.254, 2), "-0.25");
        assert_eq!(number(0.05, 2), "0.05");
        assert_eq!(number(841.889_8, 2), "841.89");
        assert_eq!(number(-0.001, 2), "0");
        assert_eq!(number(f32::NAN, 2), "0");
    }

    #[test]
    fn strings() {
        let mut out = Vec::new();
        out.text("a(b)\\").text("é\r").name("text/xml");
        out.hexadecimal(0x1a0f);
        assert_eq!(
            out,
            b"(a\\(b\\)\\\\)(\xfe\xff\x00\xe9\x00\\r)/text#2Fxml1A0F".to_vec()
        );
    }
}
