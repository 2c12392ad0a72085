//! The schema of Factur-X EXTENDED 1.09: which elements an element has, in which order, and how often.

use std::{collections::HashMap, sync::LazyLock};

/// What an element contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Elements, as the type of this name has them.
    Type(&'static str),
    /// Text, with these attributes.
    Text(&'static [&'static str]),
    /// A decimal number, with these attributes.
    Number(&'static [&'static str]),
    /// `true` or `false`, in an element of its own.
    Indicator,
    /// A day, in an element of this name.
    Date(&'static str),
    /// A file in base64.
    File,
}

/// An element that a type has.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    /// How often it is there at least.
    pub(super) least: usize,
    /// How often it is there at most.
    pub(super) most: usize,
    pub(super) kind: Kind,
}

/// Types: the name, then a line for each element with its name, how often it is there (`1`, `?`, `*`,
/// `+`, or from and to), and what it contains.
static TYPES: LazyLock<HashMap<&str, Vec<Rule>>> = LazyLock::new(|| {
    let mut types: HashMap<&str, Vec<Rule>> = HashMap::new();
    let mut current = "";
    for line in include_str!("schema.txt").lines() {
        match line.strip_prefix(' ').map(|it| it.split(' ')) {
            Some(mut parts) => {
                let mut part = || parts.next().unwrap_or_default();
                let (name, often, kind) = (part(), part(), part());
                let (least, most) = often_of(often);
                let rules = types.entry(current).or_default();
                rules.push(Rule {
                    name,
                    least,
                    most,
                    kind: kind_of(kind),
                });
            }
            None => current = line,
        }
    }
    types
});

fn often_of(text: &str) -> (usize, usize) {
    match text {
        "1" => (1, 1),
        "?" => (0, 1),
        "*" => (0, usize::MAX),
        "+" => (1, usize::MAX),
        _ => {
            let (least, most) = text.split_once("..").unwrap_or_default();
            (least.parse().unwrap_or(0), most.parse().unwrap_or(1))
        }
    }
}

fn kind_of(text: &'static str) -> Kind {
    match text {
        "id" => Kind::Text(&["schemeID"]),
        "code" => Kind::Text(&["listID", "listVersionID"]),
        "token:listID" => Kind::Text(&["listID"]),
        "text" | "token" => Kind::Text(&[]),
        "amount" => Kind::Number(&["currencyID"]),
        "quantity" | "measure" => Kind::Number(&["unitCode"]),
        "number" => Kind::Number(&[]),
        "indicator" => Kind::Indicator,
        "date" => Kind::Date("udt:DateTimeString"),
        "day" => Kind::Date("udt:DateString"),
        "formatted" => Kind::Date("qdt:DateTimeString"),
        "binary" => Kind::File,
        name => Kind::Type(name),
    }
}

/// The elements of the type `name`, in order.
pub(super) fn rules(name: &str) -> &'static [Rule] {
    TYPES.get(name).map_or(&[], Vec::as_slice)
}

/// The type of the whole invoice.
pub(super) const WHOLE: &str = "CrossIndustryInvoice";

/// The type of a line.
pub(super) const LINE: &str = "SupplyChainTradeLineItem";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_is_there_once_and_leads_to_others_without_a_circle() {
        fn depth(name: &'static str, above: &mut Vec<&'static str>) -> usize {
            assert!(!above.contains(&name), "{above:?} {name}");
            assert!(!rules(name).is_empty(), "{name}");
            above.push(name);
            let inner = rules(name).iter().map(|rule| match rule.kind {
                Kind::Type(inner) => depth(inner, above),
                _ => 1,
            });
            let deepest = inner.max().unwrap_or_default();
            above.pop();
            deepest + 1
        }
        assert_eq!(depth(WHOLE, &mut Vec::new()), 8);
        let names = TYPES.keys();
        for name in names {
            assert!(!rules(name).iter().any(|it| it.most == 0), "{name}");
        }
    }
}
