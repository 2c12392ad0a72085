//! Tests of expressions: results, errors, and that no input runs without bound.

mod bounds;
mod filters;

use proptest::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::{Value as Json, json};

use super::*;
use crate::locale::{Locale, TimeZone};

fn evaluation(tag: &str) -> Evaluation {
    let messages = [("greet", "Hello {name}!"), ("pair", "{a} and {b}")]
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .collect::<FxHashMap<_, _>>();
    Evaluation::new(Shared::new(
        Locale::new(tag).unwrap().into(),
        messages.into(),
        TimeZone::UTC,
        Some("EUR".to_owned()),
        1_795_219_200,
        1_000_000,
    ))
}

fn text_in(tag: &str, source: &str, data: &Json) -> Result<String, Failure> {
    let text = CompiledText::new(source).map_err(|mut failures| failures.remove(0))?;
    text.evaluate(&Scope::root(data), &evaluation(tag))
}

fn data() -> Json {
    json!({
        "customer": { "name": "Ada Lovelace", "city": null },
        "count": 3, "price": 1234.5, "share": 0.19, "day": "2026-11-21", "flag": true,
        "items": [
            { "name": "b", "price": 2.5, "kind": "x" },
            { "name": "a", "price": 0.1, "kind": "y" },
            { "name": "c", "price": 0.2, "kind": "x" }
        ]
    })
}

#[test]
fn products_are_what_the_general_way_gives() {
    let numbers = [
        "3",
        "2.5",
        "-7",
        "0",
        "1e3",
        "9007199254740993",
        "3037000500",
        "1e308",
    ];
    for left in numbers {
        for right in numbers {
            let data = format!("{{\"a\": {left}, \"b\": {{\"c\": {right}}}}}");
            let data: Json = serde_json::from_str(&data).unwrap();
            let shown =
                |source: &str| text_in("en-US", source, &data).map_err(|failure| failure.code);
            // Parentheses prevent the fast path.
            assert_eq!(
                shown("{{ a * b.c }}"),
                shown("{{ (a * b.c) }}"),
                "{left} * {right}"
            );
        }
    }
    let data = json!({"a": 3, "b": 2});
    let failure = text_in("en-US", "{{ a * missing }}", &data).unwrap_err();
    assert_eq!(failure.code, "undefined-variable");
}

#[test]
fn texts_are_put_together() {
    for (source, expected) in [
        ("Dear {{ customer.name }}!", "Dear Ada Lovelace!"),
        ("{{ customer.name|upper }}", "ADA LOVELACE"),
        ("{{ customer['name']|lower|title }}", "Ada Lovelace"),
        ("{{ '{{' }} {{ \"}}\" }}", "{{ }}"),
        ("{{ customer.city }}-{{ count }}", "-3"),
        ("{{ price|currency }}", "1.234,50\u{a0}€"),
        ("{{ (price * 2)|currency('USD') }}", "2.469,00\u{a0}$"),
        ("{{ price|number(1) }} {{ price|integer }}", "1.234,5 1.235"),
        ("{{ share|percent }}", "19\u{a0}%"),
        (
            "{{ day|date }} {{ day|date('long') }}",
            "21.11.2026 21. November 2026",
        ),
        ("{{ now()|date('short') }}", "21.11.26"),
        ("{{ items|sum('price') }}", "2.8"),
        ("{{ items|map(attribute='price')|sum }}", "2.8"),
        ("{{ items|avg('price')|number(2) }}", "0,93"),
        ("{{ items|min('price') }} {{ items|max('name') }}", "0.1 c"),
        ("{{ items|count }} {{ items|length + 1 }}", "3 4"),
        (
            "{{ items|sort(attribute='name')|map(attribute='name')|join(', ') }}",
            "a, b, c",
        ),
        ("{{ (items|groupby('kind')|first).count }}", "2"),
        ("{{ missing|default('none') }}", "none"),
        ("{{ 'yes' if flag else 'no' }}", "yes"),
        (
            "{{ count }} {{ count|pluralise('item', 'items') }}",
            "3 items",
        ),
        (
            "{{ t('greet', name=customer.name) }}",
            "Hello Ada Lovelace!",
        ),
        ("{{ 'a-b'|replace('-', '+') }}", "a+b"),
        ("{{ 2.0 }} {{ 1e3 }}", "2 1000"),
        ("{{ items.0.name }}", "b"),
    ] {
        assert_eq!(
            text_in("de-DE", source, &data()).as_deref(),
            Ok(expected),
            "{source}"
        );
    }
    assert_eq!(
        text_in(
            "pl",
            "{{ 3|pluralise('plik', 'pliku', few='pliki', many='plików') }}",
            &data()
        )
        .as_deref(),
        Ok("pliki")
    );
}

#[test]
fn fast_and_general_plans_agree() {
    for filter in [
        "upper",
        "lower",
        "title",
        "number",
        "number(2)",
        "integer",
        "currency",
        "currency('USD')",
        "percent",
        "percent(1)",
        "date",
        "date('short')",
        "time",
        "datetime",
        "count",
        "length",
        "sum",
        "sum('price')",
        "avg('price')",
        "min('price')",
        "max('price')",
    ] {
        for path in [
            "customer.name",
            "price",
            "day",
            "items",
            "customer.city",
            "count",
        ] {
            let fast = text_in("en", &format!("{{{{ {path}|{filter} }}}}"), &data());
            let general = text_in("en", &format!("{{{{ ({path})|{filter} }}}}"), &data());
            match (fast, general) {
                (Ok(fast), Ok(general)) => assert_eq!(fast, general, "{path}|{filter}"),
                (fast, general) => assert!(
                    fast.is_err() == general.is_err() || path == "customer.city",
                    "{path}|{filter}: {fast:?} {general:?}"
                ),
            }
        }
    }
}

#[test]
fn sums_with_a_format_are_what_the_general_way_gives() {
    let data = json!({
        "numbers": [3, -2.5, 9_007_199_254_740_993_i64, 0],
        "texts": ["2.50", "1"],
        "days": ["2026-11-21", "2025-01-01"],
        "mixed": [3, "2.50", true],
        "nulls": [null, 2, null],
        "rows": [{"p": 1.5, "day": "2026-01-01"}, {"p": null, "day": null}, {"p": 3, "day": "2027-01-01"}],
        "ragged": [{"p": 1}, {"q": 2}],
        "huge": [1e308, 1e308],
        "empty": [], "nothing": null, "object": {"2026-01-01": 1}, "text": "abc", "number": 5,
    });
    let sums = [
        "count",
        "length",
        "sum",
        "avg",
        "min",
        "max",
        "sum('p')",
        "avg('p')",
        "min('p')",
        "max('p')",
        "min('day')",
        "max('day')",
    ];
    let formats = [
        "integer",
        "number(2)",
        "percent",
        "currency",
        "currency('USD')",
        "currency('x')",
        "date",
        "time",
        "datetime('long')",
    ];
    let paths = data.as_object().unwrap().keys().map(String::as_str);
    for path in paths.chain(["missing", "rows.p", "object.missing"]) {
        for sum in sums {
            for format in formats {
                let shown =
                    |source: &str| text_in("en", source, &data).map_err(|failure| failure.code);
                let source = format!("{path}|{sum}|{format}");
                // Parentheses prevent the fast path.
                let general = shown(&format!("{{{{ ({path})|{sum}|{format} }}}}"));
                assert_eq!(shown(&format!("{{{{ {source} }}}}")), general, "{source}");
            }
        }
    }
    let typed = CompiledExpression::new("rows|sum('p')|currency").unwrap();
    let scope = Scope::root(&data);
    let value = typed.evaluate(&scope, &evaluation("en")).unwrap();
    assert!(matches!(value, Evaluated::Formatted { .. }), "{value:?}");
}

#[test]
fn undefined_variables_are_named_with_what_was_meant() {
    for (source, message, near) in [
        (
            "{{ customer.nmae }}",
            "`customer` has no field `nmae`, which `customer.nmae` uses",
            "customer.name",
        ),
        (
            "{{ custmer.name|upper ~ '' }}",
            "there is no `custmer` in the data",
            "customer.name",
        ),
        (
            "{{ customerName }}",
            "there is no `customerName` in the data",
            "customer.name",
        ),
        ("{{ 1 + pric }}", "there is no `pric` in the data", "price"),
    ] {
        let data = data();
        let failure = text_in("en", source, &data).unwrap_err();
        assert_eq!(
            (failure.code, failure.message.as_str()),
            ("undefined-variable", message)
        );
        let hint = failure.find_hint(&Scope::root(&data));
        assert_eq!(hint, Some(format!("did you mean `{near}`?")), "{source}");
    }
}

#[test]
fn mistakes_have_codes() {
    for (source, code) in [
        ("{{ a", "unclosed-expression"),
        ("{{ }}", "expression-syntax"),
        ("{{ 1 + }}", "expression-syntax"),
        ("{{ price|curency }}", "unknown-filter"),
        ("{{ range(1000000000) }}", "unknown-function"),
        ("{{ '%9999999999s'|format(1) }}", "unknown-filter"),
        ("{{ 'x'|indent(4000000000) }}", "unknown-filter"),
        ("{{ customer.name.upper() }}", "unknown-function"),
        ("{{ flag is odder }}", "unknown-test"),
        ("{{ __shared }}", "unknown-variable"),
        ("{{ customer }}", "not-text"),
        ("{{ customer.name|currency }}", "not-a-number"),
        ("{{ price|currency('euro') }}", "unknown-currency"),
        ("{{ customer.name|date }}", "not-a-date"),
        ("{{ items|sum('name') }}", "not-a-number"),
        ("{{ 1 / 0 }}", "expression-failed"),
        ("{{ t('nothing') }}", "expression-failed"),
    ] {
        let failure = text_in("en", source, &data()).unwrap_err();
        assert_eq!(failure.code, code, "{source}: {}", failure.message);
    }
}

#[test]
fn nothing_runs_away() {
    let doubling = format!("{{{{ {} }}}}", vec!["a"; 300].join("~"));
    let signs = format!("{{{{ {}1 }}}}", "- ".repeat(4_000));
    let sum = format!("{{{{ {}1 }}}}", "1+".repeat(4_000));
    let short_sum = format!("{{{{ {}1 }}}}", "1+".repeat(900));
    let brackets = format!("{{{{ {}1{} }}}}", "(".repeat(900), ")".repeat(900));
    let lists = format!("{{{{ {}1{} }}}}", "[".repeat(900), "]".repeat(900));
    let nots = format!("{{{{ {}1 }}}}", "not ".repeat(400));
    let replaced = format!("{{{{ 'a'{} }}}}", "|replace('a', 'aa')".repeat(90));
    let data = json!({ "a": "x".repeat(1_000_000), "n": 1e308, "many": vec![1e308; 10] });
    for source in [
        &doubling,
        &signs,
        &sum,
        &short_sum,
        &brackets,
        &lists,
        &nots,
        &replaced,
        "{{ 'x' * 1000000000 }}",
        "{{ [1] * 1000000000 }}",
        "{{ ('x' * 100000000)|length }}",
        "{{ 1 in [0] * 100000000 }}",
        "{{ 2 ** 100000 }}",
        "{{ many|sum }}",
        "{{ (many)|sum }}",
        "{{ n * n }}",
        "{{ a ~ a }}",
    ] {
        // Without their bounds they would take hours.
        let outcome = text_in("en", source, &data);
        assert!(outcome.is_err(), "{:.40}", source);
    }
    assert_eq!(
        text_in("en", "{{ n }} {{ n|number(2) }}", &data).as_deref(),
        Ok("1E308 1E308")
    );
}

#[test]
fn work_is_bounded_over_a_document() {
    let data = json!({ "items": vec![1; 10_000] });
    let evaluation = evaluation("en");
    let scope = Scope::root(&data);
    let sum = CompiledExpression::new("items|sum").unwrap();
    let outcome = (0..1_000).try_for_each(|_| sum.evaluate(&scope, &evaluation).map(drop));
    assert_eq!(outcome.unwrap_err().code, "too-much-work");
}

#[test]
fn data_is_cleaned_whatever_way_it_takes() {
    let data = json!({ "a": "x\0y\u{202e}z\u{fdd0}" });
    for source in ["{{ a }}", "{{ a ~ '' }}", "{{ a|lower }}"] {
        assert_eq!(
            text_in("en", source, &data).as_deref(),
            Ok("x\u{fffd}yz"),
            "{source}"
        );
    }
    assert_eq!(
        text_in("en", "{{ pageNumber }}", &data).as_deref(),
        Ok("\u{fdd0}")
    );
}

#[test]
fn repeats_know_their_position_and_group() {
    let (data, row) = (data(), json!({ "x": 1 }));
    let root = Scope::root(&data);
    let rows = [&row];
    let group = root.with(
        "group",
        Entry::Group {
            key: &row,
            rows: &rows,
        },
    );
    let scope = group.with("item", Entry::Json(&row)).at(1, 2);
    let evaluation = evaluation("en");
    for (source, expected) in [
        ("{{ index }} {{ loop.index }} {{ loop.last }}", "2 2 true"),
        ("{{ loop.index0 + 1 }}", "2"),
        (
            "{{ item.x }} {{ group.count }} {{ group.rows|sum('x') }}",
            "1 1 1",
        ),
        ("{{ (group.rows|first).x }} {{ count }}", "1 3"),
    ] {
        let text = CompiledText::new(source).unwrap();
        assert_eq!(
            text.evaluate(&scope, &evaluation).as_deref(),
            Ok(expected),
            "{source}"
        );
    }
}

#[test]
fn concatenation_writes_values_as_texts_do() {
    let data = json!({ "none": null, "yes": true, "three": 3.0, "list": [{ "n": null }, { "n": 2.0 }],
        "a": { "in": 1 } });
    for (source, expected) in [
        ("'<' ~ none ~ '>'", "<>"),
        ("yes ~ three ~ (0.1 + 0.2)", "true30.3"),
        ("three ~ -three ~ - 2.0", "3-3-2"),
        // `~` binds tighter than `+` and looser than `*`.
        ("'a' ~ three * 2", "a6"),
        ("'x' if three ~ '' == '3' else none ~ '!'", "x"),
        ("'y' if not three ~ '' == '3' else none ~ '!'", "!"),
        (
            "('(' ~ none ~ ')')|upper ~ list[1 - 1].n ~ list[1]['n']",
            "()2",
        ),
        ("[none ~ yes, {'k': three ~ ''}.k]|join(',')", "true,3"),
        ("list|map(attribute='n')|join('-' ~ three ~ '-')", "-3-2"),
        ("three is none ~ '' ~ (three is not none)", "falsetrue"),
        ("a.in ~ '~' ~ \"'~'\" ~ 'é\\'~'", "1~'~'é'~"),
        ("'3' in three ~ none", "true"),
    ] {
        let text = text_in("en", &format!("{{{{ {source} }}}}"), &data);
        assert_eq!(text.as_deref(), Ok(expected), "{source}");
    }
    let failure = |source| text_in("en", source, &data).unwrap_err().code;
    assert_eq!(failure("{{ 'a' ~ missing }}"), "undefined-variable");
    assert_eq!(failure("{{ 'a' ~ list }}"), "expression-failed");
}

#[test]
fn large_numbers_keep_their_digits_and_exponents() {
    let data = json!({ "id": 9_007_199_254_740_993_i64, "low": -9_007_199_254_740_993_i64,
        "most": u64::MAX, "large": 1.5e21, "whole": 2e21, "exact": 9_007_199_254_740_992_i64 });
    for (source, expected) in [
        ("{{ id|integer }}", "9,007,199,254,740,993"),
        ("{{ 9007199254740993|integer }}", "9,007,199,254,740,993"),
        ("{{ low|number(2) }}", "\u{2212}9,007,199,254,740,993.00"),
        ("{{ most|currency }}", "€18,446,744,073,709,551,615.00"),
        ("{{ id|percent }}", "900,719,925,474,099,300%"),
        ("{{ exact|number }}", "9,007,199,254,740,992"),
        ("{{ large|currency }} {{ large|number }}", "€1.5E21 1.5E21"),
        (
            "{{ whole|number }} {{ -large|number }}",
            "2E21 \u{2212}1.5E21",
        ),
    ] {
        assert_eq!(
            text_in("en", source, &data).as_deref(),
            Ok(expected),
            "{source}"
        );
    }
    let german = text_in("de", "{{ large|number }}", &data);
    assert_eq!(german.as_deref(), Ok("1,5E21"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_source_panics(source in "[a-z0-9 '\"(){}\\[\\].,|~*+%!=<>-]{0,60}") {
        let _ = text_in("en", &format!("{{{{ {source} }}}}"), &data());
    }

    #[test]
    fn no_chain_of_known_words_panics(words in proptest::collection::vec(
        prop::sample::select(vec!["items", "price", "day", "|sum", "|first", "|map('upper')", "|sort",
            "+", "~", "*", "1e308", "(", ")", "|currency", "|groupby('kind')", "|join(',')", " if ", " else ",
            "|default(1)", ".name", "[0]", "not ", "|round(400)", "|abs", "-9223372036854775808"]), 1..12)) {
        let _ = text_in("en", &format!("{{{{ {} }}}}", words.concat()), &data());
    }
}
