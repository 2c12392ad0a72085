//! What it takes to read an SVG picture, counted before usvg reads it: usvg calls itself for all that
//! is drawn within something else, and converts what is drawn in several places once for each.
//!
//! What an element draws: its children, what `use` and other elements name in `href`, and what its
//! paints, markers, masks, clip paths and filters name, be they attributes, declarations of its
//! `style`, or of a rule. Paints and markers come from the elements around it, too.

use std::{cell::Cell, rc::Rc};

use usvg::roxmltree::{Document, Node, NodeId};

use super::{
    svg_names::{Names, fragment},
    svg_sheet::{self, Sheet, reading},
};
use crate::work;

/// Deepest nesting of elements, with those that `use` and others repeat in their places: reading and
/// drawing call themselves for each.
const MAX_DEPTH: usize = 128;
/// Most that is converted, in units of about 64 bytes: 750,000 plain elements.
const MAX_UNITS: u64 = 12_000_000;
/// Most bytes of the elements once `use` has copied what it names.
const MAX_BYTES: u64 = 512 << 20;
/// Steps for matching that the drawing has.
const MAX_STEPS: u64 = svg_sheet::MAX_WORK / STEP;
/// Nanoseconds of a step.
const STEP: u64 = 4;
/// Units of an element, of a stop of a gradient, and of drawing something in another place.
const ELEMENT: u64 = 16;
const STOP: u64 = 2;
const REFERENCE: u64 = 32;
/// Longest list of dashes in bytes: each path copies the one that it inherits.
const MAX_DASHES: usize = 1_000;
/// Most primitives of a filter and stops of a gradient: some of them are compared with all others.
const MAX_PRIMITIVES: usize = 500;
const MAX_STOPS: usize = 1_000;

/// Properties that name what is drawn, with the elements that they may name; gradients, of which
/// none draws anything, are not among them.
const REFERRING: [(&str, &[&str]); 8] = [
    ("fill", &["pattern"]),
    ("stroke", &["pattern"]),
    ("marker-start", &["marker"]),
    ("marker-mid", &["marker"]),
    ("marker-end", &["marker"]),
    ("mask", &["mask"]),
    ("clip-path", &["clipPath"]),
    ("filter", &["filter"]),
];
/// How many of them elements inherit without asking for it.
const INHERITED: usize = 5;
const MARKER_MID: usize = 3;
/// Most paints of elements that lie in the pattern they are painted with.
const MAX_MENDED: usize = 200;
/// Elements that have paints and markers themselves, not only for what is inside of them.
const SHAPES: [&str; 10] = [
    "circle", "ellipse", "line", "path", "polygon", "polyline", "rect", "text", "tspan", "use",
];

/// What each of [`REFERRING`] names at an element.
type Carried = [Option<Rc<[NodeId]>>; REFERRING.len()];

/// Looks at what reading a picture takes.
///
/// # Errors
/// It is too much.
pub(super) fn check(document: &Document<'_>) -> Result<(), String> {
    let reader = Reader {
        document,
        sheet: Sheet::of(document)?,
        names: Names::of(document),
        steps: Cell::new(MAX_STEPS),
        mended: Cell::new(0),
    };
    let elements = reader.elements()?;
    let (all, largest_pattern) = total(document, &elements)?;
    if all.work > svg_sheet::MAX_WORK {
        return Err(svg_sheet::excess());
    }
    // A paint from around a marker or `use` is copied for each path inside of it.
    let copies = all.contexts.saturating_mul(largest_pattern);
    if all.units > MAX_UNITS || copies > 5 * MAX_UNITS || all.bytes > MAX_BYTES {
        return Err("the SVG repeats its elements too often".to_owned());
    }
    Ok(())
}

fn too_deep() -> String {
    format!("the SVG nests or repeats its groups deeper than {MAX_DEPTH} levels")
}

#[derive(Clone, Copy, Default)]
struct Load {
    depth: usize,
    /// What is converted, with all that is drawn in other places.
    units: u64,
    /// Shapes that take a paint from around a marker or `use`.
    contexts: u64,
    /// Steps of style rules, and bytes; of what `use` copies, once for each.
    work: u64,
    bytes: u64,
}

impl Load {
    fn add(&mut self, other: Self, times: u64) {
        let units = other.units.saturating_mul(times);
        self.units = self.units.saturating_add(units);
        let contexts = other.contexts.saturating_mul(times);
        self.contexts = self.contexts.saturating_add(contexts);
    }

    fn copy(&mut self, other: Self) {
        self.work = self.work.saturating_add(other.work);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

struct Link {
    to: NodeId,
    times: u64,
    /// Whether `use` copies it.
    copies: bool,
}

struct Element {
    own: Load,
    links: Vec<Link>,
}

/// An element's attributes and the declarations that apply to it.
struct Declared<'a> {
    values: Vec<(&'a str, &'a str)>,
    own: Load,
    /// At least as many as its path has.
    vertices: u64,
}

struct Reader<'a, 'input> {
    document: &'a Document<'input>,
    sheet: Sheet<'a>,
    names: Names<'a>,
    steps: Cell<u64>,
    /// Paints that usvg takes from what is within its own pattern.
    mended: Cell<usize>,
}

impl<'a, 'input> Reader<'a, 'input> {
    /// All elements, at their numbers.
    fn elements(&self) -> Result<Vec<Option<Element>>, String> {
        let mut all = Vec::new();
        all.resize_with(self.document.descendants().count(), || None);
        let mut around: Vec<(NodeId, Carried)> = Vec::new();
        let mut tokens = 0_u64;
        for node in self.document.descendants().filter(Node::is_element) {
            work::check();
            let parent = node.parent().map(|parent| parent.id());
            while around.last().is_some_and(|(id, _)| Some(*id) != parent) {
                around.pop();
            }
            if around.len() >= MAX_DEPTH {
                return Err(too_deep());
            }
            let style = node.attribute("style").unwrap_or_default();
            tokens = tokens.saturating_add(reading(style));
            if tokens > svg_sheet::MAX_WORK {
                return Err(svg_sheet::excess());
            }
            let declared = self.declared(node)?;
            let carried = self.carried(&declared, around.last().map(|(_, carried)| carried))?;
            all[node.id().get_usize()] = Some(self.element(node, &declared, &carried)?);
            around.push((node.id(), carried));
        }
        Ok(all)
    }

    fn declared(&self, node: Node<'a, 'input>) -> Result<Declared<'a>, String> {
        let before = self.steps.get();
        let declarations = self.sheet.declarations(node, &self.steps);
        let after = self.steps.get();
        if after == 0 {
            return Err(svg_sheet::excess());
        }
        let style = node.attribute("style").unwrap_or_default();
        let (mut values, mut length, mut vertices) = (Vec::new(), 0, 16);
        let mut bytes = 128;
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            length += value.len();
            bytes += 48;
            if matches!(name, "d" | "points") {
                vertices += vertices_in(value);
            }
            // usvg takes no attribute of another namespace.
            if matches!(attribute.namespace(), None | Some(SVG | XLINK | XML)) {
                values.push((name, value));
            }
        }
        for declaration in declarations {
            bytes += 48 + declaration.value.len();
            if declaration.name == "marker" {
                let markers = ["marker-start", "marker-mid", "marker-end"];
                values.extend(markers.map(|name| (name, declaration.value)));
            } else {
                values.push((declaration.name, declaration.value));
            }
        }
        let is_long =
            |(name, value): &(&str, &str)| *name == "stroke-dasharray" && value.len() > MAX_DASHES;
        if values.iter().any(is_long) {
            return Err(format!(
                "a list of dashes in the SVG has more than {MAX_DASHES} bytes"
            ));
        }
        let tag = node.tag_name().name();
        let base = if tag == "stop" { STOP } else { ELEMENT };
        let takes_context = values
            .iter()
            .any(|(_, value)| value.trim_start().starts_with("context-"));
        let own = Load {
            depth: 1,
            units: base + length as u64 / 8,
            contexts: u64::from(takes_context),
            // Comments are walked, too.
            work: STEP * (before - after + node.children().count() as u64) + reading(style),
            bytes: bytes as u64 + self.text_bytes(node),
        };
        Ok(Declared {
            values,
            own,
            vertices,
        })
    }

    /// Bytes of texts that usvg copies, though it draws none.
    fn text_bytes(&self, node: Node<'_, '_>) -> u64 {
        match node.tag_name().name() {
            // They count once, however often something around them is drawn.
            "style" => 0,
            // Looks for what it names in the whole document, and copies all texts in there.
            "tref" => self.document.input_text().len() as u64,
            _ => node
                .children()
                .filter(|child| child.is_text())
                .map(|child| child.text().map_or(0, str::len) as u64)
                .sum(),
        }
    }

    /// What the properties of an element name: its own, and those that it inherits.
    fn carried(&self, declared: &Declared<'a>, above: Option<&Carried>) -> Result<Carried, String> {
        let mut carried = Carried::default();
        for (at, (property, wanted)) in REFERRING.iter().enumerate() {
            let (mut named, mut is_set, mut inherits) = (Vec::new(), false, false);
            for (_, value) in declared.values.iter().filter(|(name, _)| name == property) {
                is_set = true;
                inherits |= value.trim() == "inherit";
                self.names.referred(value, wanted, &mut named)?;
            }
            inherits |= at < INHERITED && !is_set;
            let above = above.filter(|_| inherits).and_then(|it| it[at].as_ref());
            carried[at] = match above {
                Some(above) if named.is_empty() => Some(Rc::clone(above)),
                Some(above) => {
                    named.extend(above.iter().copied());
                    Names::sorted(&mut named)?;
                    Some(Rc::from(named))
                }
                None if named.is_empty() => None,
                None => Some(Rc::from(named)),
            };
        }
        Ok(carried)
    }

    /// Whether usvg leaves out what the property at `at` of [`REFERRING`] names, since `node` is within
    /// it: a marker in any case, a pattern if the element itself asks for it. For each of the latter
    /// it begins anew to look for the next.
    fn is_left_out(&self, node: Node<'a, 'input>, to: NodeId, at: usize, is_own: bool) -> bool {
        let is_marker = (2..INHERITED).contains(&at);
        if at >= INHERITED || !(is_marker || is_own) || !is_around(to, node) {
            return false;
        }
        if !is_marker {
            self.mended.set(self.mended.get() + 1);
        }
        is_marker || self.mended.get() <= MAX_MENDED
    }

    fn element(
        &self,
        node: Node<'a, 'input>,
        declared: &Declared<'a>,
        carried: &Carried,
    ) -> Result<Element, String> {
        let tag = node.tag_name().name();
        let most = match tag {
            "filter" => MAX_PRIMITIVES,
            "linearGradient" | "radialGradient" => MAX_STOPS,
            _ => usize::MAX,
        };
        if node.children().filter(Node::is_element).count() > most {
            return Err(format!("a {tag} of the SVG has more than {most} parts"));
        }
        let mut links = Vec::new();
        let is_shape = SHAPES.contains(&tag);
        for (at, (property, wanted)) in REFERRING.iter().enumerate() {
            let times = if at == MARKER_MID {
                declared.vertices
            } else {
                1
            };
            let link = |to: &NodeId| Link {
                to: *to,
                times,
                copies: false,
            };
            let own = declared.values.iter().filter(|(name, _)| name == property);
            if is_shape || at >= INHERITED {
                let is_own = own.clone().any(|(_, value)| value.trim() != "inherit");
                let named = carried[at].iter().flat_map(|named| named.iter());
                let drawn = named.filter(|to| !self.is_left_out(node, **to, at, is_own));
                links.extend(drawn.map(link));
                continue;
            }
            // usvg looks for loops by what other elements say, too.
            let mut named = Vec::new();
            for (_, value) in own {
                self.names.referred(value, wanted, &mut named)?;
            }
            let drawn = named
                .iter()
                .filter(|to| !self.is_left_out(node, **to, at, true));
            links.extend(drawn.map(link));
        }
        let mut named = Vec::new();
        for attribute in node.attributes().filter(|it| it.name() == "href") {
            let Some(name) = fragment(attribute.value()) else {
                continue;
            };
            match tag {
                "use" => named.extend(self.names.first(name)),
                "linearGradient" | "radialGradient" => {
                    self.names.named(name, &[], &mut named)?;
                }
                "pattern" => self.names.named(name, &["pattern"], &mut named)?,
                "filter" => self.names.named(name, &["filter"], &mut named)?,
                "feImage" => self.names.any(name, &mut named)?,
                _ => {}
            }
        }
        links.extend(named.into_iter().map(|to| Link {
            to,
            times: 1,
            copies: tag == "use",
        }));
        let own = declared.own;
        Ok(Element { own, links })
    }
}

/// Whether `around` has `node` in it, and nothing in between has a name by which `use` could draw it
/// elsewhere.
fn is_around(around: NodeId, node: Node<'_, '_>) -> bool {
    let mut at = node;
    while !at.has_attribute("id") {
        let Some(parent) = at.parent_element() else {
            return false;
        };
        if parent.id() == around {
            return true;
        }
        at = parent;
    }
    false
}

const SVG: &str = "http://www.w3.org/2000/svg";
const XLINK: &str = "http://www.w3.org/1999/xlink";
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// At least as many as the places where a path or list of points has a marker.
fn vertices_in(value: &str) -> u64 {
    // These take one number for a vertex, or make several of fewer numbers.
    if value.contains(['h', 'H', 'v', 'V', 'a', 'A']) {
        return value.len() as u64 / 2;
    }
    let (mut numbers, mut in_number, mut has_point) = (0_u64, false, false);
    for byte in value.bytes() {
        match byte {
            b'0'..=b'9' => {
                if !in_number {
                    (numbers, has_point) = (numbers + 1, false);
                }
                in_number = true;
            }
            b'.' => {
                if !in_number || has_point {
                    numbers += 1;
                }
                (in_number, has_point) = (true, true);
            }
            b'e' | b'E' => {}
            _ => in_number = false,
        }
    }
    numbers / 2 + 1
}

/// The load of the whole picture, and the units of its largest pattern.
fn total(document: &Document<'_>, elements: &[Option<Element>]) -> Result<(Load, u64), String> {
    let mut done: Vec<Option<Load>> = vec![None; elements.len()];
    let (mut open, mut opened) = (vec![false; elements.len()], 0);
    let mut largest_pattern = 0;
    let mut stack = vec![(document.root().id(), false)];
    while let Some((id, is_left)) = stack.pop() {
        work::check();
        let at = id.get_usize();
        let Some(node) = document.get_node(id) else {
            continue;
        };
        let children = node.children().filter(Node::is_element);
        let links = links(elements[at].as_ref());
        if is_left {
            (open[at], opened) = (false, opened - 1);
            let load = sum(node, elements[at].as_ref(), &done);
            if load.depth > MAX_DEPTH {
                return Err(too_deep());
            }
            if node.tag_name().name() == "pattern" {
                largest_pattern = load.units.max(largest_pattern);
            }
            done[at] = Some(load);
            continue;
        }
        if done[at].is_some() {
            continue;
        }
        // What is drawn within itself has no end.
        if open[at] || opened >= MAX_DEPTH {
            return Err(too_deep());
        }
        (open[at], opened) = (true, opened + 1);
        stack.push((id, true));
        stack.extend(children.map(|child| (child.id(), false)));
        stack.extend(links.iter().map(|link| (link.to, false)));
    }
    let all = done[document.root().id().get_usize()].unwrap_or_default();
    Ok((all, largest_pattern))
}

fn links(element: Option<&Element>) -> &[Link] {
    match element {
        Some(element) => &element.links,
        None => &[],
    }
}

/// The load of an element whose parts are done.
fn sum(node: Node<'_, '_>, element: Option<&Element>, done: &[Option<Load>]) -> Load {
    let of = |id: NodeId| done[id.get_usize()].unwrap_or_default();
    let mut load = element.map(|element| element.own).unwrap_or_default();
    let (mut within, mut beside) = (0, 0);
    for child in node.children().filter(Node::is_element) {
        let part = of(child.id());
        load.add(part, 1);
        load.copy(part);
        within = within.max(part.depth);
    }
    for link in links(element) {
        let part = of(link.to);
        load.add(part, link.times);
        load.units = load
            .units
            .saturating_add(REFERENCE.saturating_mul(link.times));
        if link.copies {
            load.copy(part);
            within = within.max(part.depth);
        } else {
            beside = beside.max(part.depth);
        }
    }
    // What `use` draws inherits from it: the innermost part may draw what `use` names.
    let inner = if node.has_tag_name("use") {
        within + beside
    } else {
        within.max(beside)
    };
    load.depth = inner + 1;
    load
}
