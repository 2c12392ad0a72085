//! Secrets that somebody could guess.

/// Least number of characters: 96 bits in hexadecimal.
const LEAST_CHARACTERS: usize = 24;
/// Least number of different characters; 24 random hexadecimal digits have fewer once in a million.
const LEAST_DIFFERENT: usize = 6;
/// Parts of examples and placeholders, in lower case. Longer than what random text contains.
const EXAMPLES: [&str; 15] = [
    "0123456789",
    "12345678",
    "abcdefgh",
    "changeme",
    "change-me",
    "change_me",
    "default",
    "example",
    "insecure",
    "letmein",
    "password",
    "placeholder",
    "replace",
    "secret",
    "your-key",
];

/// Why `secret` is weak; `None` if it is not.
pub(super) fn weakness_of(secret: &str) -> Option<String> {
    let count = secret.chars().count();
    if count < LEAST_CHARACTERS {
        return Some(format!("it is shorter than {LEAST_CHARACTERS} characters"));
    }
    let lower = secret.to_lowercase();
    if let Some(example) = EXAMPLES.iter().find(|example| lower.contains(**example)) {
        return Some(format!("it contains `{example}`, as examples do"));
    }
    let mut characters: Vec<char> = secret.chars().collect();
    characters.sort_unstable();
    characters.dedup();
    (characters.len() < LEAST_DIFFERENT)
        .then(|| format!("it has fewer than {LEAST_DIFFERENT} different characters"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_secrets_pass_and_those_of_people_do_not() {
        for strong in [
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c",
            "sbT3o9XfQ0pL7uKc2VwE1mZr",
        ] {
            assert_eq!(weakness_of(strong), None);
        }
        for (weak, reason) in [
            ("", "shorter"),
            ("9f86d081884c7d659a2feaa", "shorter"),
            ("CHANGEME-changeme-changeme", "`changeme`"),
            ("dev-admin-key-0123456789ab", "`0123456789`"),
            ("my-very-long-admin-password", "`password`"),
            ("aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "different"),
            ("abababababababababababababab", "different"),
        ] {
            let said = weakness_of(weak).unwrap();
            assert!(said.contains(reason), "{weak}: {said}");
            assert!(weak.is_empty() || !said.contains(weak), "{said}");
        }
    }
}
