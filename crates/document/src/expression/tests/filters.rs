//! Tests of filters: fields of elements, patterns of dates, messages.

use super::*;

#[test]
fn fields_that_no_element_has_are_misspelt() {
    for call in [
        "map(attribute='prise')|sum",
        "sort(attribute='prise')|count",
        "sort(attribute='name, prise')|count",
        "unique(attribute='prise')|count",
    ] {
        let failure = text_in("en", &format!("{{{{ items|{call} }}}}"), &data()).unwrap_err();
        assert_eq!(
            (failure.code, failure.message.as_str()),
            (
                "undefined-variable",
                "no element has a field `prise`: did you mean `price`?"
            ),
            "{call}"
        );
    }
}

#[test]
fn fields_that_some_elements_have_are_optional() {
    let data = json!({ "rows": [{ "a": 1, "flag": true }, { "a": 2 }], "empty": [] });
    for (source, expected) in [
        ("rows|selectattr('flag')|count", "1"),
        ("rows|rejectattr('flag')|count", "1"),
        ("rows|sort(attribute='flag')|count", "2"),
        ("rows|unique(attribute='flag')|count", "2"),
        ("rows|map(attribute='flag', default=0)|join('-')", "true-0"),
        ("rows|map(attribute='b', default=4)|sum", "8"),
        ("rows|selectattr('b')|count", "0"),
        ("rows|rejectattr('b')|count", "2"),
        ("empty|map(attribute='b')|sum", "0"),
    ] {
        let text = text_in("en", &format!("{{{{ {source} }}}}"), &data);
        assert_eq!(text.as_deref(), Ok(expected), "{source}");
    }
}

#[test]
fn texts_that_differ_in_case_are_different() {
    let data = json!({ "codes": ["AB-1", "ab-1", "AB-1"], "rows": [{ "k": "a" }, { "k": "A" }] });
    for (source, expected) in [
        ("codes|unique|join(' ')", "AB-1 ab-1"),
        ("codes|unique(case_sensitive=false)|join(' ')", "AB-1"),
        ("rows|unique(attribute='k')|count", "2"),
    ] {
        let text = text_in("en", &format!("{{{{ {source} }}}}"), &data);
        assert_eq!(text.as_deref(), Ok(expected), "{source}");
    }
}

#[test]
fn a_time_of_day_is_not_written_as_a_date() {
    let nothing = json!({});
    let failure = text_in("en", "{{ '14:30'|date('d MMMM y') }}", &nothing).unwrap_err();
    assert_eq!(failure.message, "a time of day has no date");
    let text = text_in("en", "{{ '14:30'|time(\"HH 'day' mm\") }}", &nothing);
    assert_eq!(text.as_deref(), Ok("14 day 30"));
}

#[test]
fn messages_take_what_their_placeholders_name() {
    let nothing = json!({});
    for (call, expected) in [
        ("t('pair', a='{b}', b='{a}')", "{b} and {a}"),
        ("t('pair', b='x')", "{a} and x"),
        ("t('greet', name='Ada', title='Dr.')", "Hello Ada!"),
    ] {
        let text = text_in("en", &format!("{{{{ {call} }}}}"), &nothing);
        assert_eq!(text.as_deref(), Ok(expected), "{call}");
    }
    let failure = text_in("en", "{{ t('greet', nam='Ada') }}", &nothing).unwrap_err();
    assert_eq!(
        failure.message,
        "the message `greet` has no placeholder `{nam}`, but `{name}`"
    );
}
