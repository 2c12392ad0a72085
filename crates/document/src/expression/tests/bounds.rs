//! Tests of what expressions may cost.

use super::*;

#[test]
fn operands_with_filters_give_what_those_without_do() {
    let data = json!({ "n": 3, "text": "ab", "list": [1, 2] });
    for (source, expected) in [
        ("2 * n * -n / 9", "-2"),
        ("n ~ 2 * n ~ 'a'", "36a"),
        ("(n + 1) * n - 1 * 2", "10"),
        ("n * 2 in [n * 2, 1]", "true"),
        ("'b'in text and not 5 in list", "true"),
        ("n * 5 if n in list else n * list[1]", "6"),
        ("'1' in text ~ '1' and n is not in list", "true"),
        ("n not in list and n is not in list", "true"),
    ] {
        let text = text_in("en", &format!("{{{{ {source} }}}}"), &data);
        assert_eq!(text.as_deref(), Ok(expected), "{source}");
    }
}

#[test]
fn only_numbers_are_multiplied() {
    let data = json!({ "n": 3, "text": "ab", "list": [1, 2] });
    for source in [
        "text * 2",
        "2 * text",
        "text * n",
        "list * n",
        "n * (list|map('string'))",
        "('a' ~ 'b') * 2",
        "2 * 'a' * 3",
    ] {
        let failure = text_in("en", &format!("{{{{ ({source})|length }}}}"), &data).unwrap_err();
        assert_eq!(failure.message, "`*` multiplies numbers only", "{source}");
    }
}

#[test]
fn searches_and_long_texts_count_as_work() {
    let data = json!({ "many": vec![1; 10_000], "text": "x".repeat(640_000), "n": 2 });
    for source in [
        "n in many",
        "n not in many",
        "n is in many",
        "[n]|select('in', many)|count",
        "'y' in text",
        "text|trim|length",
        "text ~ ''",
    ] {
        let evaluation = evaluation("en");
        let scope = Scope::root(&data);
        let expression = CompiledExpression::new(source).unwrap();
        let outcome =
            (0..1_000).try_for_each(|_| expression.evaluate(&scope, &evaluation).map(drop));
        assert_eq!(outcome.unwrap_err().code, "too-much-work", "{source}");
    }
}

#[test]
fn hints_pass_over_long_names() {
    let mut fields = serde_json::Map::new();
    for index in 0..200 {
        let name = format!("{}{index}", "x".repeat(1_000));
        fields.insert(name.clone(), json!({ (name): 1 }));
    }
    fields.insert("customer".to_owned(), json!({ "name": "Ada" }));
    let data = Json::Object(fields);
    for source in [
        "{{ customerName }}",
        "{{ custmer.name }}",
        "{{ customer.nam }}",
    ] {
        let failure = text_in("en", source, &data).unwrap_err();
        let hint = failure.find_hint(&Scope::root(&data));
        let near = Some("did you mean `customer.name`?");
        assert_eq!(hint.as_deref(), near, "{source}");
    }
}
