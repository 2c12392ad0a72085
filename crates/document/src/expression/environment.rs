//! The minijinja environment: the documented functions, filters and tests, and nothing else.
//! `format`, `indent`, `range` and similar ones are missing on purpose: they can exhaust memory or
//! time.

use std::sync::LazyLock;

use minijinja::{
    Environment, Error, State, UndefinedBehavior, Value as Dynamic, filters, tests,
    value::{Rest, ValueOrKwargs},
};

use super::{Failure, functions, lists, outcome, token::Token};
use crate::suggestion;

/// Maximum number of instructions in one evaluation.
const FUEL: u64 = 100_000;
/// Maximum recursion depth inside minijinja.
const RECURSION: usize = 64;

const FILTERS: [&str; 56] = [
    "addDays",
    "addMonths",
    "addYears",
    "startOfMonth",
    "endOfMonth",
    "daysUntil",
    "weekday",
    "week",
    "words",
    "batch",
    "currency",
    "number",
    "integer",
    "percent",
    "date",
    "time",
    "datetime",
    "upper",
    "lower",
    "title",
    "capitalize",
    "trim",
    "replace",
    "default",
    "sum",
    "avg",
    "min",
    "max",
    "count",
    "length",
    "groupby",
    "sort",
    "first",
    "last",
    "join",
    "map",
    "attr",
    "select",
    "reject",
    "selectattr",
    "rejectattr",
    "unique",
    "reverse",
    "list",
    "round",
    "abs",
    "int",
    "float",
    "string",
    "bool",
    "pluralise",
    "pluralize",
    "split",
    "items",
    "truncate",
    "t",
];
const FUNCTIONS: [&str; 4] = ["t", "now", "ref", "runningHead"];
const TESTS: [&str; 23] = [
    "undefined",
    "defined",
    "none",
    "boolean",
    "odd",
    "even",
    "divisibleby",
    "number",
    "integer",
    "float",
    "string",
    "sequence",
    "iterable",
    "mapping",
    "startingwith",
    "endingwith",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "in",
];

pub(super) static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(RECURSION);
    add_tests(&mut environment);
    add_collections(&mut environment);
    functions::add(&mut environment);
    environment
});

fn add_tests(environment: &mut Environment<'static>) {
    environment.add_test("undefined", tests::is_undefined);
    environment.add_test("defined", tests::is_defined);
    environment.add_test("none", tests::is_none);
    environment.add_test("boolean", tests::is_boolean);
    environment.add_test("odd", tests::is_odd);
    environment.add_test("even", tests::is_even);
    environment.add_test("divisibleby", tests::is_divisibleby);
    environment.add_test("number", tests::is_number);
    environment.add_test("integer", tests::is_integer);
    environment.add_test("float", tests::is_float);
    environment.add_test("string", tests::is_string);
    environment.add_test("sequence", tests::is_sequence);
    environment.add_test("iterable", tests::is_iterable);
    environment.add_test("mapping", tests::is_mapping);
    environment.add_test("startingwith", tests::is_startingwith);
    environment.add_test("endingwith", tests::is_endingwith);
    environment.add_test("eq", tests::is_eq);
    environment.add_test("ne", tests::is_ne);
    environment.add_test("lt", tests::is_lt);
    environment.add_test("le", tests::is_le);
    environment.add_test("gt", tests::is_gt);
    environment.add_test("ge", tests::is_ge);
}

fn add_collections(environment: &mut Environment<'static>) {
    let mut charged = |name: &'static str, filter: Dynamic| {
        let names_fields = lists::NAMING.contains(&name);
        environment.add_filter(
            name,
            move |state: &mut State<'_, '_>,
                  arguments: Rest<ValueOrKwargs>|
                  -> Result<Dynamic, Error> {
                let arguments = arguments.into_values();
                // A filter costs as much work as its input has elements; fuel counts it as one
                // instruction.
                let elements = arguments.first().and_then(Dynamic::len).unwrap_or(1);
                outcome::shared(state)?.charge_dynamic(elements)?;
                if names_fields {
                    lists::check_field(name, &arguments)?;
                }
                filter.call(state, &arguments)
            },
        );
    };
    charged("map", Dynamic::from_function(filters::map));
    charged("select", Dynamic::from_function(filters::select));
    charged("reject", Dynamic::from_function(filters::reject));
    charged("selectattr", Dynamic::from_function(filters::selectattr));
    charged("rejectattr", Dynamic::from_function(filters::rejectattr));
    charged("unique", Dynamic::from_function(lists::unique));
    charged("reverse", Dynamic::from_function(filters::reverse));
    charged("list", Dynamic::from_function(filters::list));
    charged("last", Dynamic::from_function(filters::last));
    charged("sort", Dynamic::from_function(filters::sort));
    charged("items", Dynamic::from_function(filters::items));
    charged("split", Dynamic::from_function(filters::split));
    environment.add_filter("first", filters::first);
    environment.add_filter("attr", filters::attr);
    environment.add_filter("count", filters::length);
    environment.add_filter("length", filters::length);
    environment.add_filter("default", filters::default);
    environment.add_filter("round", functions::round);
    environment.add_filter("abs", filters::abs);
    environment.add_filter("int", filters::int);
    environment.add_filter("float", filters::float);
    environment.add_filter("bool", filters::bool);
}

/// Rejects unknown filters, functions and tests before anything is evaluated.
pub(super) fn check_names(tokens: &[Token<'_>]) -> Result<(), Failure> {
    check_names_with(tokens, &[])
}

/// Like [`check_names`], with additional filters.
pub(super) fn check_names_with(tokens: &[Token<'_>], more_filters: &[&str]) -> Result<(), Failure> {
    for (index, token) in tokens.iter().enumerate() {
        let Token::Name(name) = token else {
            continue;
        };
        let before = index.checked_sub(1).map(|before| tokens[before]);
        let called = tokens.get(index + 1) == Some(&Token::Symbol("("));
        let is_test = before == Some(Token::Name("is"))
            || before == Some(Token::Name("not"))
                && index > 1
                && tokens[index - 2] == Token::Name("is");
        let (kind, code, known): (_, _, &[&str]) = match before {
            Some(Token::Symbol("|")) if more_filters.contains(name) => continue,
            Some(Token::Symbol("."))
                if index > 1 && super::token::helper(&tokens[index - 2..]).is_some() =>
            {
                continue;
            }
            Some(Token::Symbol("|")) => ("filter", "unknown-filter", &FILTERS),
            _ if is_test && !matches!(*name, "not" | "true" | "false" | "True" | "False") => {
                ("test", "unknown-test", &TESTS)
            }
            _ if is_test => continue,
            _ if called && !super::token::is_keyword(name) => {
                ("function", "unknown-function", &FUNCTIONS)
            }
            _ => continue,
        };
        if !known.contains(name) {
            return Err(Failure::new(code, format!("unknown {kind} `{name}`"))
                .with_hint(suggestion::hint(name, known.iter().copied())));
        }
    }
    Ok(())
}
