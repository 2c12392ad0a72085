//! Style sheets without comments and needless white space.

/// One sheet of several, in order.
#[must_use]
pub fn joined(sheets: &[&str]) -> String {
    sheets.iter().map(|sheet| shortened(sheet)).collect()
}

fn shortened(sheet: &str) -> String {
    let mut short = String::with_capacity(sheet.len());
    let mut rest = sheet;
    while let Some(letter) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
            continue;
        }
        let length = match letter {
            '"' | '\'' => rest[1..].find(letter).map_or(rest.len(), |end| end + 2),
            _ => letter.len_utf8(),
        };
        let (part, after) = rest.split_at(length);
        rest = after;
        if !letter.is_ascii_whitespace() {
            // The last declaration of a rule needs no end.
            if letter == '}' && short.ends_with(';') {
                short.pop();
            }
            short.push_str(part);
            continue;
        }
        rest = rest.trim_start_matches(|next: char| next.is_ascii_whitespace());
        let is_needless = short.ends_with(['{', '}', ';', ',', ':']) || short.is_empty();
        if !is_needless && !rest.starts_with(['{', '}', ';', ',']) && !rest.is_empty() {
            short.push(' ');
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_people_read_is_left_out() {
        let sheet = "/* The page. */\n.a > b :hover,\n.c {\n  margin: 0 auto;\n  content: \"a  ; {\";\n  width: calc(1px + 2%);\n}\n\n@media (max-width: 10px) {\n  .d { color: red; }\n}\n";
        assert_eq!(
            joined(&[sheet, ".e{}"]),
            ".a > b :hover,.c{margin:0 auto;content:\"a  ; {\";width:calc(1px + 2%)}@media (max-width:10px){.d{color:red}}.e{}"
        );
    }
}
