//! The fonts that every reader of PDF files has, which options of Gotenberg name.

/// The family of our fonts with the measures of one of them, whatever its weight and slope.
pub(crate) fn family_of(name: &str) -> Option<&'static str> {
    let families = [
        ("Helvetica", "Liberation Sans"),
        ("Times", "Liberation Serif"),
        ("Courier", "Liberation Mono"),
    ];
    let own = families.into_iter().find(|(own, _)| {
        let rest = name.strip_prefix(own);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    });
    own.map(|(_, family)| family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fonts_of_readers_have_families_of_the_same_measures() {
        assert_eq!(family_of("Times-Roman"), Some("Liberation Serif"));
        assert_eq!(family_of("Courier-BoldOblique"), Some("Liberation Mono"));
        assert_eq!(family_of("Helvetica"), Some("Liberation Sans"));
        assert_eq!(family_of("Helvetica Neue"), None);
    }
}
