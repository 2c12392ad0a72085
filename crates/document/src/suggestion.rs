//! "Did you mean" suggestions: the known word closest to a misspelt one.

/// The word in `known` that `word` most likely stands for; `None` if none is close.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // The distance takes quadratic time, and long words never resemble a field's name.
    if word.len() > 200 {
        return None;
    }
    let lower = word.to_lowercase();
    known
        .into_iter()
        .filter(|candidate| candidate.len() <= 200)
        .map(|candidate| {
            let distance = strsim::osa_distance(&lower, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|(distance, candidate)| {
            let length = candidate.chars().count().max(lower.chars().count());
            *distance <= (length / 3).max(1) && *distance < length
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Names that other template languages have for what expressions call otherwise.
const ELSEWHERE: [(&str, &str); 30] = [
    ("upcase", "upper"),
    ("uppercase", "upper"),
    ("touppercase", "upper"),
    ("downcase", "lower"),
    ("lowercase", "lower"),
    ("tolowercase", "lower"),
    ("ucfirst", "capitalize"),
    ("titlecase", "title"),
    ("strip", "trim"),
    ("money", "currency"),
    ("tocurrency", "currency"),
    ("formatcurrency", "currency"),
    ("number_format", "number"),
    ("formatnumber", "number"),
    ("tofixed", "number"),
    ("strftime", "date"),
    ("date_format", "date"),
    ("formatdate", "date"),
    ("localdate", "date"),
    ("size", "length"),
    ("len", "length"),
    ("average", "avg"),
    ("mean", "avg"),
    ("total", "sum"),
    ("where", "selectattr"),
    ("filter", "selectattr"),
    ("concat", "join"),
    ("implode", "join"),
    ("ifempty", "default"),
    ("coalesce", "default"),
];

/// A hint with the closest word in `known` or the one that means the same, or a list of them.
pub(crate) fn hint<'k>(word: &str, known: impl IntoIterator<Item = &'k str> + Clone) -> String {
    let lower = word.to_lowercase();
    let same = ELSEWHERE.iter().find(|(other, _)| *other == lower);
    let same = same.and_then(|(_, ours)| known.clone().into_iter().find(|name| name == ours));
    if let Some(near) = same.or_else(|| nearest(word, known.clone())) {
        return format!("did you mean `{near}`?");
    }
    let names: Vec<String> = known
        .into_iter()
        .take(40)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.is_empty() {
        return "no names are available here".to_owned();
    }
    format!("available: {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_nearest_or_lists_all() {
        let known = ["heading", "text", "table"];
        assert_eq!(nearest("headng", known), Some("heading"));
        assert_eq!(nearest("tabel", known), Some("table"));
        assert_eq!(nearest("xyz", known), None);
        assert_eq!(hint("Heading", known), "did you mean `heading`?");
        assert!(hint("xyz", known).contains("`text`"));
        let filters = ["lower", "upper", "length"];
        assert_eq!(hint("upcase", filters), "did you mean `upper`?");
        assert_eq!(hint("size", filters), "did you mean `length`?");
    }
}
