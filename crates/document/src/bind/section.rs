//! Sections: page setup, headers and footers, and splitting the body into sections.

use super::{Binder, Place};
use crate::{
    bound::{self, Block, BlockKind, Page, Sides},
    check::margins,
    expression::Scope,
    numbering::Counter,
    template::{Node, Orientation, PageNumbers, PageSetup, PaperSize},
};

/// The page setup of a section: the template's, and its own.
#[derive(Clone, Copy)]
struct Setup<'b> {
    base: &'b PageSetup,
    own: Option<&'b PageSetup>,
}

/// Selects the section's own setting or else the template's.
macro_rules! pick {
    ($setup:expr, $field:ident) => {
        $setup
            .own
            .and_then(|own| own.$field.as_ref())
            .or($setup.base.$field.as_ref())
    };
}

impl<'b> Binder<'b> {
    /// Binds the whole body. Returns at least one section.
    pub(super) fn sections(&mut self, root: &Scope<'_>) -> Vec<bound::Section> {
        let template = self.compiled.template();
        let setup = Setup {
            base: self.page,
            own: None,
        };
        let mut flow = Flow {
            sections: Vec::new(),
            blocks: Vec::new(),
        };
        let place = self.body_place(&self.page(setup));
        self.below("body", |binder| {
            binder.flow(&template.body, place, root, &mut flow);
        });
        if !flow.blocks.is_empty() || flow.sections.is_empty() {
            let body = std::mem::take(&mut flow.blocks);
            let section = self.section_around(setup, None, body, root);
            flow.sections.push(section);
        }
        // The template's first page number applies to the document; later sections continue
        // counting.
        if let Some(first) = flow.sections.first_mut() {
            let number = &mut first.page.first_page_number;
            *number = number.or(self.page.first_page_number);
        }
        flow.sections
    }

    /// Binds nodes among which sections may start.
    fn flow(&mut self, nodes: &'b [Node], place: Place, scope: &Scope<'_>, flow: &mut Flow) {
        for (index, node) in nodes.iter().enumerate() {
            if self.stopped() {
                return;
            }
            self.below(&index.to_string(), |binder| match node {
                Node::Section(_) => binder.section(node, scope, flow),
                Node::Conditional(node)
                    if holds_section(&node.then) || holds_section(&node.otherwise) =>
                {
                    if binder.holds("when", node.when.as_ref(), scope) {
                        let (token, nodes) = binder.branch(node, scope);
                        binder.below(token, |binder| binder.flow(nodes, place, scope, flow));
                    }
                }
                Node::Repeat(node) if holds_section(&node.body) => {
                    if binder.holds("when", node.when.as_ref(), scope) {
                        binder.repeat(node, scope, &mut |binder, token, nodes, scope| {
                            binder.below(token, |binder| binder.flow(nodes, place, scope, flow));
                        });
                    }
                }
                node => binder.node(node, place, scope, &mut flow.blocks),
            });
        }
    }

    fn section(&mut self, node: &'b Node, scope: &Scope<'_>, flow: &mut Flow) {
        if !self.holds("when", node.when(), scope) {
            return;
        }
        let Some(Node::Section(node)) = self.dynamic_node(node, scope) else {
            return;
        };
        let base = self.page;
        if !flow.blocks.is_empty() {
            let setup = Setup { base, own: None };
            let body = std::mem::take(&mut flow.blocks);
            let section = self.section_around(setup, None, body, scope);
            flow.sections.push(section);
        }
        let id = self.node_id(node.id.as_ref(), scope);
        if let Some(id) = &id {
            self.register(id);
            self.refer(id, &BlockKind::PageBreak);
        }
        let outer = self.numbers.enter(node.numbering.as_ref());
        let setup = Setup {
            base,
            own: node.page.as_ref(),
        };
        let mut place = self.body_place(&self.page(setup));
        if let Some(own) = &node.style {
            place.style = self.block_style(place, "body", Some(own));
            place.root = false;
        }
        let mut body = Vec::new();
        self.below("body", |binder| {
            binder.nodes(
                &node.body,
                Place {
                    sections: false,
                    ..place
                },
                scope,
                &mut body,
            );
        });
        self.numbers.leave(outer);
        if let (Some(id), Some(first)) = (&id, body.first_mut())
            && first.id.is_none()
        {
            first.id = Some(id.as_str().into());
        }
        let name = node
            .name
            .as_ref()
            .map(|name| self.line_at("name", name, scope));
        let section = self.section_around(setup, name, body, scope);
        flow.sections.push(section);
    }

    fn section_around(
        &mut self,
        setup: Setup<'b>,
        name: Option<String>,
        body: Vec<Block>,
        scope: &Scope<'_>,
    ) -> bound::Section {
        let page = self.page(setup);
        let own_path = format!("{}/page", self.path);
        let mut furniture =
            |token: &str, own: Option<&'b Vec<Node>>, base: Option<&'b Vec<Node>>, style: &str| {
                let (nodes, path) = match (own, base) {
                    (Some(nodes), _) => (nodes, own_path.as_str()),
                    (None, Some(nodes)) => (nodes, "/page"),
                    (None, None) => return None,
                };
                let path = std::mem::replace(&mut self.path, format!("{path}/{token}"));
                let place = Place {
                    style: self.named_style(style),
                    width: page.width - page.margins.left - page.margins.right,
                    compact: true,
                    root: false,
                    sections: false,
                };
                let mut blocks = Vec::new();
                self.nodes(nodes, place, scope, &mut blocks);
                self.path = path;
                Some(blocks)
            };
        macro_rules! furniture {
            ($token:literal, $field:ident, $style:literal) => {
                furniture(
                    $token,
                    setup.own.and_then(|own| own.$field.as_ref()),
                    setup.base.$field.as_ref(),
                    $style,
                )
            };
        }
        let header = furniture!("header", header, "header").unwrap_or_default();
        let footer = furniture!("footer", footer, "footer").unwrap_or_default();
        let first_header = furniture!("firstHeader", first_header, "header");
        let first_footer = furniture!("firstFooter", first_footer, "footer");
        let even_header = furniture!("evenHeader", even_header, "header");
        let even_footer = furniture!("evenFooter", even_footer, "footer");
        let last_header = furniture!("lastHeader", last_header, "header");
        let last_footer = furniture!("lastFooter", last_footer, "footer");
        let (background, first_background) = self.backgrounds(setup.base, setup.own, scope);
        bound::Section {
            name: name.filter(|name| !name.is_empty()),
            page,
            header,
            footer,
            first_header,
            first_footer,
            even_header,
            even_footer,
            last_header,
            last_footer,
            background,
            first_background,
            body,
        }
    }

    fn page(&self, setup: Setup<'_>) -> Page {
        let paper = self.options.paper_size.as_ref();
        let (width, height) = paper
            .or(pick!(setup, size))
            .and_then(PaperSize::dimensions)
            .unwrap_or((595.276, 841.89));
        let orientation = self
            .options
            .orientation
            .or(pick!(setup, orientation).copied())
            .unwrap_or_default();
        let (width, height) = match orientation {
            Orientation::Portrait => (width, height),
            Orientation::Landscape => (height, width),
        };
        let [top, right, bottom, left] = margins(pick!(setup, margins));
        // If the request selects smaller paper, margins shrink so that space for text remains.
        let fit = |first: f32, second: f32, whole: f32| {
            let factor = ((whole - 10.0) / (first + second)).clamp(0.0, 1.0);
            (first * factor, second * factor)
        };
        let (top, bottom) = fit(top, bottom, height);
        let (left, right) = fit(left, right, width);
        Page {
            width,
            height,
            margins: Sides {
                top,
                right,
                bottom,
                left,
            },
            columns: pick!(setup, columns).copied().unwrap_or(1).clamp(1, 6),
            column_gap: pick!(setup, column_gap).map_or(17.0, |gap| gap.to_points()),
            first_page_number: setup.own.and_then(|own| own.first_page_number),
            numbers: match pick!(setup, page_numbers) {
                None | Some(PageNumbers::Decimal) => Counter::Decimal,
                Some(PageNumbers::LowerAlpha) => Counter::LowerAlpha,
                Some(PageNumbers::UpperAlpha) => Counter::UpperAlpha,
                Some(PageNumbers::LowerRoman) => Counter::LowerRoman,
                Some(PageNumbers::UpperRoman) => Counter::UpperRoman,
            },
            start_on: pick!(setup, start_on).copied().unwrap_or_default(),
        }
    }

    fn body_place(&self, page: &Page) -> Place {
        let columns = f32::from(page.columns);
        let text = page.width - page.margins.left - page.margins.right;
        Place {
            style: self.named_style("body"),
            width: ((text - page.column_gap * (columns - 1.0)) / columns).max(1.0),
            compact: false,
            root: true,
            sections: true,
        }
    }
}

/// The sections so far, and the blocks after the last one.
struct Flow {
    sections: Vec<bound::Section>,
    blocks: Vec<Block>,
}

fn holds_section(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Section(_) => true,
        Node::Conditional(node) => holds_section(&node.then) || holds_section(&node.otherwise),
        Node::Repeat(node) => holds_section(&node.body),
        _ => false,
    })
}
