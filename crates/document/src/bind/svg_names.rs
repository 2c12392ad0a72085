//! What names in SVG pictures mean, as usvg reads them: `#name` and `url(#name)`.

use rustc_hash::FxHashMap;
use usvg::roxmltree::{Document, Node, NodeId};

/// Most elements that a value may mean: a name may be given several times.
const MAX_TARGETS: usize = 32;
const SVG: &str = "http://www.w3.org/2000/svg";
/// Elements that usvg knows, but for `style`.
const KNOWN: [&str; 52] = [
    "a",
    "circle",
    "clipPath",
    "defs",
    "ellipse",
    "feBlend",
    "feColorMatrix",
    "feComponentTransfer",
    "feComposite",
    "feConvolveMatrix",
    "feDiffuseLighting",
    "feDisplacementMap",
    "feDistantLight",
    "feDropShadow",
    "feFlood",
    "feFuncA",
    "feFuncB",
    "feFuncG",
    "feFuncR",
    "feGaussianBlur",
    "feImage",
    "feMerge",
    "feMergeNode",
    "feMorphology",
    "feOffset",
    "fePointLight",
    "feSpecularLighting",
    "feSpotLight",
    "feTile",
    "feTurbulence",
    "filter",
    "g",
    "image",
    "line",
    "linearGradient",
    "marker",
    "mask",
    "path",
    "pattern",
    "polygon",
    "polyline",
    "radialGradient",
    "rect",
    "stop",
    "svg",
    "switch",
    "symbol",
    "text",
    "textPath",
    "tref",
    "tspan",
    "use",
];

/// The elements that have each name.
#[derive(Default)]
pub(super) struct Names<'a> {
    /// `use` takes the first one.
    first: FxHashMap<&'a str, NodeId>,
    /// Everything else takes the last one that usvg keeps.
    last: FxHashMap<&'a str, NodeId>,
    /// By their kind: those that could be meant in any case.
    kinds: FxHashMap<(&'a str, &'a str), Vec<NodeId>>,
    all: FxHashMap<&'a str, Vec<NodeId>>,
}

impl<'a> Names<'a> {
    pub fn of(document: &'a Document<'_>) -> Self {
        let mut names = Self::default();
        let mut kept = vec![true; document.descendants().count()];
        for node in document.descendants().filter(Node::is_element) {
            let id = node.id();
            if let Some(name) = node.attribute("id") {
                names.first.entry(name).or_insert(id);
            }
            let is_kept = keeps(node, &kept);
            kept[id.get_usize()] = is_kept;
            for attribute in node.attributes().filter(|it| it.name() == "id") {
                let name = attribute.value();
                if is_kept {
                    names.last.insert(name, id);
                }
                let tag: &'a str = node.tag_name().name();
                push(names.kinds.entry((name, tag)).or_default(), id);
                push(names.all.entry(name).or_default(), id);
            }
        }
        names
    }

    /// What `use` draws.
    pub fn first(&self, name: &str) -> Option<NodeId> {
        self.first.get(name).copied()
    }

    /// Adds whatever has the name.
    pub fn any(&self, name: &str, into: &mut Vec<NodeId>) -> Result<(), String> {
        into.extend(self.all.get(name).into_iter().flatten());
        Self::sorted(into)
    }

    /// Adds the elements of these kinds that have the name, and the one that usvg would take. Of
    /// gradients that one is enough: joined drawings often have many of the same name.
    pub fn named(&self, name: &str, kinds: &[&str], into: &mut Vec<NodeId>) -> Result<(), String> {
        for kind in kinds {
            into.extend(self.kinds.get(&(name, *kind)).into_iter().flatten());
        }
        into.extend(self.last.get(name));
        Self::sorted(into)
    }

    /// Adds the elements of these kinds that `url(#…)` in a value names.
    pub fn referred(
        &self,
        value: &str,
        kinds: &[&str],
        into: &mut Vec<NodeId>,
    ) -> Result<(), String> {
        if value.matches("url").count() > MAX_TARGETS {
            return Err(too_many());
        }
        urls(value).try_for_each(|name| self.named(name, kinds, into))
    }

    /// Each element once.
    pub fn sorted(elements: &mut Vec<NodeId>) -> Result<(), String> {
        elements.sort_unstable_by_key(|id| id.get());
        elements.dedup();
        if elements.len() > MAX_TARGETS {
            return Err(too_many());
        }
        Ok(())
    }
}

fn too_many() -> String {
    format!("a reference in the SVG means more than {MAX_TARGETS} elements")
}

/// One more than is allowed is enough to tell.
fn push(elements: &mut Vec<NodeId>, id: NodeId) {
    if elements.len() <= MAX_TARGETS {
        elements.push(id);
    }
}

/// Whether usvg keeps an element: one that it knows, in others that it keeps, and not within `use`.
fn keeps(node: Node<'_, '_>, kept: &[bool]) -> bool {
    let tag = node.tag_name();
    let is_known = matches!(tag.namespace(), None | Some(SVG)) && KNOWN.contains(&tag.name());
    let Some(parent) = node.parent() else {
        return is_known;
    };
    let is_placed = match parent.tag_name().name() {
        "use" => false,
        "text" | "tspan" | "textPath" | "tref" => {
            matches!(tag.name(), "a" | "tspan" | "textPath" | "tref")
        }
        _ => true,
    };
    is_known && is_placed && kept[parent.id().get_usize()]
}

/// The name in `#name`.
pub(super) fn fragment(value: &str) -> Option<&str> {
    value.trim_start().strip_prefix('#')?.split(' ').next()
}

/// The names in all `url(#name)` of a value.
fn urls(value: &str) -> impl Iterator<Item = &str> {
    value.match_indices("url").filter_map(move |(at, found)| {
        let after = value[at + found.len()..].trim_start();
        let inside = after.strip_prefix('(')?.trim_start();
        let quote = inside.chars().next().filter(|it| matches!(it, '"' | '\''));
        let Some(quote) = quote else {
            return inside.strip_prefix('#')?.split([' ', ')']).next();
        };
        let name = inside[1..].trim_start().strip_prefix('#')?;
        Some(name.split(quote).next()?.trim_end())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_svgtypes_reads_them() {
        for (value, expected) in [
            ("url(#a) url( '# b) ' )", vec!["a", " b)"]),
            ("url(\n#curl) red", vec!["curl"]),
            ("drop-shadow(1 1) url (#a )", vec!["a"]),
            ("url(a) url()", vec![]),
        ] {
            assert_eq!(urls(value).collect::<Vec<_>>(), expected, "{value}");
        }
        assert_eq!(fragment(" #a  "), Some("a"));
        assert_eq!(fragment("a"), None);
    }
}
