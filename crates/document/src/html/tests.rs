//! Tests of HTML templates: output and error messages.

use serde_json::{Value as Json, json};

use super::{bind_html, parse_html_template, validate_html};
use crate::{
    BindOptions, Diagnostic,
    bind::Limits,
    diagnostic::Source,
    host::FixedHost,
    work::{self, Bounds, Interruption},
};

fn template(html: &str) -> Json {
    json!({"kind": "html", "key": "page", "html": html})
}

fn bound(template: &Json, data: &Json) -> Result<super::HtmlDocument, Vec<Diagnostic>> {
    let compiled = parse_html_template(template.to_string().as_bytes())?;
    bind_html(
        &compiled,
        data,
        &BindOptions::default(),
        &FixedHost::default(),
    )
}

fn html(source: &str, data: Json) -> String {
    bound(&template(source), &data).unwrap().html
}

fn codes(template: &Json, data: &Json) -> Vec<String> {
    let found = bound(template, data).unwrap_err();
    found.into_iter().map(|one| one.code).collect()
}

#[test]
fn values_are_escaped_and_formatted_as_everywhere() {
    let data =
        json!({"name": "<b>\"A\" & 'B'</b>", "total": 1234.5, "items": [{"n": 1}, {"n": 2}]});
    assert_eq!(
        html("<p title=\"{{ name }}\">{{ name }}</p>", data.clone()),
        "<p title=\"&lt;b&gt;&quot;A&quot; &amp; &#x27;B&#x27;&lt;&#x2f;b&gt;\">\
         &lt;b&gt;&quot;A&quot; &amp; &#x27;B&#x27;&lt;&#x2f;b&gt;</p>"
    );
    assert_eq!(html("{{ name|safe }}", data.clone()), "<b>\"A\" & 'B'</b>");
    assert_eq!(
        html("{{ total|currency('EUR') }}", data.clone()),
        "€1,234.50"
    );
    let list = "{% for item in items %}{{ loop.index }}={{ item.n }}{% if not loop.last %}, {% endif %}{% endfor %}";
    assert_eq!(html(list, data.clone()), "1=1, 2=2");
    assert_eq!(
        html("{% set sum = items|sum('n') %}{{ sum|number }}", data),
        "3"
    );
    assert_eq!(html("{% raw %}{{ x }}{% endraw %}", json!({})), "{{ x }}");
}

#[test]
fn catalogues_pages_and_files_are_there() {
    let template = json!({
        "kind": "html", "key": "page", "locale": "de",
        "messages": {"de": {"total": "Summe"}},
        "html": "<!doctype html><p>{{ t('total') }}</p>", "css": "p { color: red }",
        "footer": "{{ pageNumber }} / {{ pageCount }}",
        "assets": {"a.txt": "data:text/plain;base64,aGk="},
        "page": {"size": "A5", "orientation": "landscape", "margins": "10mm"},
    });
    let document = bound(&template, &json!({})).unwrap();
    assert_eq!(
        document.html,
        "<!doctype html><style>p { color: red }</style><p>Summe</p>"
    );
    assert!(document.footer.contains("class=\"totalPages\""));
    assert_eq!(document.files[0].media_type, "text/plain");
    assert_eq!(&*document.files[0].bytes, b"hi");
    assert!(document.sheet.width > document.sheet.height);
}

#[test]
fn mistakes_are_named_all_at_once_with_their_lines() {
    let source = "<p>\n{{ a|curency }}\n{% fro x in y %}\n{{ t('missing') }}{% if x %}";
    let found = validate_html(template(source).to_string().as_bytes(), None);
    let codes: Vec<&str> = found.iter().map(|one| one.code.as_str()).collect();
    assert_eq!(
        codes,
        ["unknown-filter", "unknown-statement", "unclosed-statement"]
    );
    assert!(found[0].message.starts_with("line 2:"), "{}", found[0]);
    assert!(found[0].hint.as_deref().unwrap().contains("currency"));
    let found = validate_html(template("{{ t('missing') }}").to_string().as_bytes(), None);
    assert_eq!(found[0].code, "unknown-message");
    let found = validate_html(br#"{"kind":"html","key":"A B","htm":""}"#, None);
    assert!(found.len() >= 2, "{found:?}");
}

#[test]
fn a_missing_field_is_named_with_its_line() {
    let found = bound(
        &template("<p>\n\n{{ custmer.name }}"),
        &json!({"customer": {"name": 1}}),
    );
    let found = found.unwrap_err();
    assert_eq!(found[0].code, "undefined-variable");
    assert!(found[0].message.contains("line 3") && found[0].message.contains("custmer"));
    assert!(found[0].hint.as_deref().unwrap().contains("customer.name"));
}

#[test]
fn data_is_checked_against_the_schema() {
    let mut template = template("{{ n }}");
    template["inputSchema"] = json!({"type": "object", "required": ["n"]});
    assert_eq!(codes(&template, &json!({})), ["data-required"]);
}

#[test]
fn what_could_exhaust_memory_or_time_is_refused() {
    let nothing = json!({});
    for source in [
        "{% set a = 'x' %}{% set a = a ~ a %}",
        "{% set a = [1] %}",
        "{% set a = 'x' * 100 %}",
        "{% set a %}x{% endset %}",
        "{% macro m() %}{% endmacro %}",
        "{% include 'x' %}",
        "{{ range(100000000) }}",
        "{{ __shared }}",
        "{{ ('x' * 100000000)|length }}",
        "{{ 1 in [0] * 100000000 }}",
        "{% if '%}' * 50000000 %}{% endif %}",
    ] {
        assert!(bound(&template(source), &nothing).is_err(), "{source}");
    }
    let deep = "{% if true %}".repeat(1000) + &"{% endif %}".repeat(1000);
    assert_eq!(codes(&template(&deep), &nothing), ["too-deep"]);
    let items: Vec<u32> = (0..2000).collect();
    let loops = "{% for a in items %}{% for b in items %}{% for c in items %}x{% endfor %}{% endfor %}{% endfor %}";
    let found = codes(&template(loops), &json!({ "items": items }));
    assert_eq!(found, ["too-much-work"]);
    let long = "x".repeat(100_000);
    let found = codes(
        &template("{% for a in items %}{{ long }}{% endfor %}"),
        &json!({ "items": items, "long": long }),
    );
    assert_eq!(found, ["text-too-long"]);
}

#[test]
fn loops_count_what_they_search_and_read() {
    let items: Vec<u32> = (0..2_000).collect();
    let data = json!({ "items": items, "known": vec![-1; 2_000], "text": "x".repeat(100_000) });
    let limits = Limits {
        work: 1_000_000,
        ..Limits::default()
    };
    let options = BindOptions {
        limits,
        ..BindOptions::default()
    };
    for source in [
        "{% for i in items %}{% if i in known %}x{% endif %}{% endfor %}",
        "{% for i in items if i not in known %}x{% endfor %}",
        "{% set k = known %}{% for i in items %}{{ i in k }}{% endfor %}",
        "{% for i in items %}{{ text|trim|length }}{% endfor %}",
    ] {
        let compiled = parse_html_template(template(source).to_string().as_bytes()).unwrap();
        let found = bind_html(&compiled, &data, &options, &FixedHost::default()).unwrap_err();
        assert_eq!(found[0].code, "too-much-work", "{source}");
    }
}

#[test]
fn loops_end_when_a_bound_is_exceeded() {
    let items: Vec<u32> = (0..100).collect();
    let source = "{% set l = items %}{% for a in l %}{% for b in l %}{% for c in l %}\
        {% if a == b %}{% endif %}{% endfor %}{% endfor %}{% endfor %}";
    let compiled = parse_html_template(template(source).to_string().as_bytes()).unwrap();
    let bounds = Bounds {
        steps: Some(50_000),
        ..Bounds::default()
    };
    let data = json!({ "items": items });
    let ended = work::run(bounds, || {
        bind_html(
            &compiled,
            &data,
            &BindOptions::default(),
            &FixedHost::default(),
        )
        .is_ok()
    });
    assert_eq!(ended, Err(Interruption::Steps { limit: 50_000 }));
}

#[test]
fn loops_go_through_lists_texts_and_objects() {
    let data = json!({ "object": { "x": 1 }, "nothing": [], "name": "%}" });
    for (source, expected) in [
        (
            "{% for c in 'ab' %}{{ loop.index }}/{{ loop.length }}{{ c }} {% endfor %}",
            "1/2a 2/2b ",
        ),
        ("{% for k in object %}{{ k }}{% endfor %}", "x"),
        (
            "{% for k, v in object|items %}{{ k }}{{ v }}{% endfor %}",
            "x1",
        ),
        ("{% for n in nothing %}{% else %}none{% endfor %}", "none"),
        (
            "{% for n in [1, 2, 3] if n * 2 in [4, 6] %}{{ n }}{% endfor %}",
            "23",
        ),
        ("{% if name == '%}' %}yes{% endif %}", "yes"),
    ] {
        assert_eq!(html(source, data.clone()), expected, "{source}");
    }
}

#[test]
fn names_of_page_fields_are_those_of_the_data_in_the_page() {
    let mut page = template("<p>{{ pageCount }} pages</p>");
    page["footer"] = json!("{{ pageCount }}");
    let document = bound(&page, &json!({ "pageCount": 312 })).unwrap();
    assert_eq!(document.html, "<p>312 pages</p>");
    assert_eq!(document.footer, "<span class=\"totalPages\"></span>");
    assert_eq!(codes(&page, &json!({})), ["undefined-variable"]);
    page["footer"] = json!("{{ pageNumber }}{{ missing }}");
    let found = bound(&page, &json!({ "pageCount": 312 })).unwrap_err();
    assert!(found[0].message.contains("missing"), "{found:?}");
}

#[test]
fn the_module_of_helpers_hides_data_of_its_name() {
    let mut page = template("{{ helpers.name }}");
    let data = json!({"helpers": {"name": "Ann"}});
    let plain = bound(&page, &data).unwrap();
    assert_eq!((&*plain.html, plain.warnings.len()), ("Ann", 0));
    page["helpers"] = json!("export const name = () => 1;");
    let found = bound(&page, &data).unwrap_err();
    let codes: Vec<&str> = found.iter().map(|one| one.code.as_str()).collect();
    assert_eq!(codes, ["undefined-variable", "hidden-by-helpers"]);
    page["html"] = json!("text");
    page["inputSchema"] = json!({"properties": {"helpers": {}}});
    let found = validate_html(page.to_string().as_bytes(), Some(&data));
    let places: Vec<(&str, Source)> = found.iter().map(|one| (&*one.path, one.source)).collect();
    let expected = [
        ("/inputSchema/properties/helpers", Source::Template),
        ("/helpers", Source::Data),
    ];
    assert_eq!(places, expected, "{found:?}");
    assert!(
        found
            .iter()
            .all(|one| !one.is_error() && one.hint.is_some())
    );
}
