//! The standard fonts of PDF, which options of Gotenberg name.

/// The Liberation family with the metrics of this standard font; weight and slope are ignored.
pub(crate) fn liberation_family(name: &str) -> Option<&'static str> {
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
        assert_eq!(liberation_family("Times-Roman"), Some("Liberation Serif"));
        assert_eq!(
            liberation_family("Courier-BoldOblique"),
            Some("Liberation Mono")
        );
        assert_eq!(liberation_family("Helvetica"), Some("Liberation Sans"));
        assert_eq!(liberation_family("Helvetica Neue"), None);
    }
}
