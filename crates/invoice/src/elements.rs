//! The elements of the smaller profiles of Factur-X 1.09, by their schemas. The writer writes all
//! of EN 16931; what a profile does not have is cut out of the text.

use roxmltree::{Document, Node};

use crate::Profile;

/// The trees of elements: each line is an element, indented by a space for each ancestor. One with
/// `!` is there, but empty.
fn tree(profile: Profile) -> Option<&'static str> {
    match profile {
        Profile::Minimum => Some(include_str!("elements/minimum.txt")),
        Profile::BasicWl => Some(include_str!("elements/basicwl.txt")),
        Profile::Basic => Some(include_str!("elements/basic.txt")),
        _ => None,
    }
}

/// An element of a schema.
#[derive(Debug, Default)]
struct Element {
    name: &'static str,
    children: Vec<Element>,
}

/// Reads the elements that are indented by `depth` spaces.
fn parse(lines: &mut std::iter::Peekable<std::str::Lines<'static>>, depth: usize) -> Vec<Element> {
    let mut elements: Vec<Element> = Vec::new();
    while let Some(line) = lines.peek() {
        let name = line.trim_start();
        let indent = line.len() - name.len();
        if indent < depth {
            break;
        }
        if indent > depth {
            let children = parse(lines, indent);
            if let Some(parent) = elements.last_mut() {
                parent.children = children;
            }
            continue;
        }
        elements.push(Element {
            name,
            children: Vec::new(),
        });
        lines.next();
    }
    elements
}

/// `xml` without the elements that `profile` does not have.
pub(crate) fn cut(xml: String, profile: Profile) -> String {
    let Some(tree) = tree(profile) else {
        return xml;
    };
    let allowed = parse(&mut tree.lines().peekable(), 0);
    let Ok(document) = Document::parse(&xml) else {
        return xml;
    };
    let mut cuts = Vec::new();
    collect(document.root_element(), &allowed, &mut cuts);
    let mut kept = String::with_capacity(xml.len());
    let mut from = 0;
    for cut in cuts {
        let before = &xml[from..cut.range.start];
        if cut.emptied {
            let tag = &xml[cut.range.clone()];
            let name = tag.split(['>', ' ', '/']).next().unwrap_or_default();
            kept.push_str(before);
            kept.push_str(name);
            kept.push_str("/>");
        } else {
            // The white space before an element goes with it.
            kept.push_str(before.trim_end_matches([' ', '\n']));
        }
        from = cut.range.end;
    }
    kept.push_str(&xml[from..]);
    kept
}

/// What is taken out of the text.
struct Cut {
    range: std::ops::Range<usize>,
    /// Whether the element itself stays.
    emptied: bool,
}

/// Collects the elements below `node` that are not among `allowed`, in order.
fn collect(node: Node<'_, '_>, allowed: &[Element], cuts: &mut Vec<Cut>) {
    for child in node.children().filter(Node::is_element) {
        let name = child.tag_name().name();
        let element = allowed
            .iter()
            .find(|element| element.name.trim_end_matches('!') == name);
        match element {
            // The parts of a date or of an amount are not in the list.
            Some(element) if element.children.is_empty() && !element.name.ends_with('!') => {}
            Some(element) if !element.children.is_empty() => {
                collect(child, &element.children, cuts);
            }
            found => cuts.push(Cut {
                range: child.range(),
                emptied: found.is_some(),
            }),
        }
    }
}
