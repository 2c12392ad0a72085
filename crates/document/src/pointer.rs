//! JSON pointers (RFC 6901), built during traversal.

/// Appends `/token` to `pointer`, with `~` and `/` escaped.
pub(crate) fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    if token.contains(['~', '/']) {
        pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(token);
    }
}

/// A copy of `pointer` with `/token` appended.
pub(crate) fn join(pointer: &str, token: impl std::fmt::Display) -> String {
    let mut joined = pointer.to_owned();
    push(&mut joined, &token.to_string());
    joined
}

/// The tokens of `pointer`, unescaped.
pub(crate) fn tokens(pointer: &str) -> Vec<String> {
    let tokens = pointer.split('/').skip(1);
    tokens
        .map(|token| token.replace("~1", "/").replace("~0", "~"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_escaped() {
        assert_eq!(join("/a", "b/c~d"), "/a/b~1c~0d");
        assert_eq!(join("", 3), "/3");
        assert_eq!(tokens("/a/b~1c~0d"), ["a", "b/c~d"]);
        assert!(tokens("").is_empty());
    }
}
