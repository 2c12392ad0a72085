//! Message catalogs: the messages of a locale, merged with its fallbacks.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

/// Messages by locale and name.
pub(crate) type Catalogues = BTreeMap<String, BTreeMap<String, String>>;

/// The messages for `locale`. In order of precedence: the locale, its language, the template's
/// locale, its language.
pub(crate) fn merge(
    catalogues: &Catalogues,
    locale: &str,
    template_locale: &str,
) -> FxHashMap<String, String> {
    let language = |tag: &str| tag.split('-').next().unwrap_or_default().to_owned();
    let mut merged = FxHashMap::default();
    for tag in [
        language(template_locale),
        template_locale.to_owned(),
        language(locale),
        locale.to_owned(),
    ] {
        let found = catalogues
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case(&tag));
        for (_, strings) in found {
            for (name, text) in strings {
                merged.insert(name.clone(), crate::clean::clean(text).0.into_owned());
            }
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_locale_wins() {
        let catalogue = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
                .collect::<BTreeMap<_, _>>()
        };
        let catalogues: Catalogues = [
            ("en", catalogue(&[("total", "Total"), ("due", "Due")])),
            ("de", catalogue(&[("total", "Summe")])),
            ("de-AT", catalogue(&[("total", "Gesamt")])),
        ]
        .into_iter()
        .map(|(tag, strings)| (tag.to_owned(), strings))
        .collect();
        let austrian = merge(&catalogues, "de-AT", "en-US");
        assert_eq!(austrian["total"], "Gesamt");
        assert_eq!(austrian["due"], "Due");
        assert_eq!(merge(&catalogues, "de-CH", "en")["total"], "Summe");
        assert_eq!(merge(&catalogues, "fr", "en")["total"], "Total");
    }
}
