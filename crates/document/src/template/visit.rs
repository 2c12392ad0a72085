//! Visits everything in a template that is checked or compiled, with its pointer.

use super::{
    CellSpec, Chart, ColumnSpec, Content, Expression, FieldOption, FormField, FormatSpec,
    GroupSpec, InvoiceSection, ListItem, Node, PageSetup, RowSpec, Run, StyleRef, Table, Template,
    Text, TotalSpec,
};
use crate::pointer;

/// A visited element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Site<'t> {
    /// Text with expressions.
    Text(&'t Text),
    /// An expression.
    Expression(&'t Expression),
    /// A style.
    Style(&'t StyleRef),
    /// A value format.
    Format(&'t FormatSpec),
    /// A page setup.
    Page(&'t PageSetup),
    /// A node, visited before its contents.
    Node(&'t Node),
}

/// Calls `see` with every element of `template` and its RFC 6901 pointer.
pub(crate) fn visit<'t>(template: &'t Template, see: &mut dyn FnMut(&str, Site<'t>)) {
    let mut walk = Walk {
        path: String::new(),
        see,
    };
    walk.below("metadata", |walk| {
        let metadata = &template.metadata;
        walk.text("title", metadata.title.as_ref());
        walk.text("author", metadata.author.as_ref());
        walk.text("subject", metadata.subject.as_ref());
        walk.each("keywords", &metadata.keywords, |walk, keyword| {
            walk.see(Site::Text(keyword));
        });
    });
    walk.below("invoice", |walk| walk.invoice(template.invoice.as_ref()));
    walk.below("page", |walk| walk.page(&template.page));
    walk.below("macros", |walk| {
        for (name, used) in &template.macros {
            walk.below(name, |walk| walk.nodes("body", &used.body));
        }
    });
    walk.nodes("body", &template.body);
    for (path, text) in template.dynamic.texts() {
        (walk.see)(&path, Site::Text(text));
    }
}

struct Walk<'w, 't> {
    path: String,
    see: &'w mut dyn FnMut(&str, Site<'t>),
}

impl<'t> Walk<'_, 't> {
    fn see(&mut self, site: Site<'t>) {
        (self.see)(&self.path, site);
    }

    fn below(&mut self, token: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        pointer::push(&mut self.path, token);
        visit(self);
        self.path.truncate(length);
    }

    fn each<T>(&mut self, token: &str, items: &'t [T], mut visit: impl FnMut(&mut Self, &'t T)) {
        self.below(token, |walk| {
            for (index, item) in items.iter().enumerate() {
                walk.below(&index.to_string(), |walk| visit(walk, item));
            }
        });
    }

    fn text(&mut self, token: &str, text: Option<&'t Text>) {
        if let Some(text) = text {
            self.below(token, |walk| walk.see(Site::Text(text)));
        }
    }

    fn expression(&mut self, token: &str, expression: Option<&'t Expression>) {
        if let Some(expression) = expression {
            self.below(token, |walk| walk.see(Site::Expression(expression)));
        }
    }

    fn style(&mut self, style: Option<&'t StyleRef>) {
        if let Some(style) = style {
            self.below("style", |walk| walk.see(Site::Style(style)));
        }
    }

    fn invoice(&mut self, section: Option<&'t InvoiceSection>) {
        let Some(section) = section else {
            return;
        };
        let root = self.path.clone();
        for (path, text) in &section.texts {
            (self.see)(&format!("{root}{path}"), Site::Text(text));
        }
        for (path, expression) in &section.expressions {
            (self.see)(&format!("{root}{path}"), Site::Expression(expression));
        }
    }

    fn format(&mut self, format: Option<&'t FormatSpec>) {
        let Some(format) = format else {
            return;
        };
        self.below("format", |walk| {
            walk.see(Site::Format(format));
            if let FormatSpec::Options { currency, .. } = format {
                walk.text("currency", currency.as_ref());
            }
        });
    }

    fn content(&mut self, token: &str, content: Option<&'t Content>) {
        if let Some(content) = content {
            self.below(token, |walk| walk.bare_content(content));
        }
    }

    fn bare_content(&mut self, content: &'t Content) {
        match content {
            Content::Text(text) => self.see(Site::Text(text)),
            Content::Runs(runs) => {
                for (index, run) in runs.iter().enumerate() {
                    self.below(&index.to_string(), |walk| walk.run(run));
                }
            }
        }
    }

    fn run(&mut self, run: &'t Run) {
        match run {
            Run::Text(text) => self.see(Site::Text(text)),
            Run::Full(run) => {
                self.text("text", run.text.as_ref());
                self.style(run.style.as_ref());
                self.text("link", run.link.as_ref());
                self.content("footnote", run.footnote.as_deref());
                self.text("index", run.index.as_ref());
                self.expression("when", run.when.as_ref());
            }
        }
    }

    fn page(&mut self, page: &'t PageSetup) {
        self.see(Site::Page(page));
        for (token, nodes) in [
            ("header", &page.header),
            ("footer", &page.footer),
            ("firstHeader", &page.first_header),
            ("firstFooter", &page.first_footer),
            ("evenHeader", &page.even_header),
            ("evenFooter", &page.even_footer),
            ("lastHeader", &page.last_header),
            ("lastFooter", &page.last_footer),
        ] {
            if let Some(nodes) = nodes {
                self.nodes(token, nodes);
            }
        }
        for (token, background) in [
            ("background", &page.background),
            ("firstBackground", &page.first_background),
        ] {
            if let Some(background) = background {
                self.below(token, |walk| {
                    walk.text("image", background.image.as_ref());
                    if let Some(watermark) = &background.watermark {
                        walk.below("watermark", |walk| walk.text("text", Some(&watermark.text)));
                    }
                });
            }
        }
    }

    fn nodes(&mut self, token: &str, nodes: &'t [Node]) {
        self.each(token, nodes, Self::node);
    }

    fn node(&mut self, node: &'t Node) {
        self.see(Site::Node(node));
        self.text("id", node.id());
        self.expression("when", node.when());
        self.style(node.style());
        match node {
            Node::Heading(node) => self.content("content", Some(&node.content)),
            Node::Paragraph(node) => self.content("content", Some(&node.content)),
            Node::Footnote(node) => self.content("content", Some(&node.content)),
            Node::List(node) => {
                self.each("items", &node.items, Self::list_item);
                self.expression("each", node.each.as_ref());
                if let Some(item) = &node.item {
                    self.below("item", |walk| walk.list_item(item));
                }
            }
            Node::Table(node) => self.table(node),
            Node::Columns(node) => self.each("columns", &node.columns, |walk, column| {
                walk.style(column.style.as_ref());
                walk.nodes("body", &column.body);
            }),
            Node::Panel(node) => {
                self.content("title", node.title.as_ref());
                self.nodes("body", &node.body);
            }
            Node::KeyValue(node) => self.each("items", &node.items, |walk, item| {
                walk.content("key", Some(&item.key));
                walk.content("value", Some(&item.value));
                walk.format(item.format.as_ref());
                walk.expression("when", item.when.as_ref());
            }),
            Node::Section(node) => {
                self.text("name", node.name.as_ref());
                if let Some(page) = &node.page {
                    self.below("page", |walk| walk.page(page));
                }
                self.nodes("body", &node.body);
            }
            Node::Conditional(node) => {
                self.expression("condition", Some(&node.condition));
                self.nodes("then", &node.then);
                self.nodes("else", &node.otherwise);
            }
            Node::Repeat(node) => {
                self.expression("each", Some(&node.each));
                self.nodes("body", &node.body);
                self.nodes("separator", &node.separator);
                self.nodes("empty", &node.empty);
            }
            Node::TableOfContents(node) => self.content("title", node.title.as_ref()),
            Node::Positioned(node) => self.nodes("body", &node.body),
            Node::Use(node) => self.below("with", |walk| {
                for (name, value) in &node.with {
                    walk.text(name, Some(value));
                }
            }),
            _ => self.leaf(node),
        }
    }

    fn leaf(&mut self, node: &'t Node) {
        match node {
            Node::Image(node) => {
                self.text("source", Some(&node.source));
                self.text("fallback", node.fallback.as_ref());
                self.text("alt", Some(&node.alt));
                self.content("caption", node.caption.as_ref());
                self.text("link", node.link.as_ref());
            }
            Node::Barcode(node) => {
                self.text("value", Some(&node.value));
                self.text("alt", node.alt.as_ref());
            }
            Node::Chart(node) => {
                self.chart(node);
                self.content("caption", node.caption.as_ref());
            }
            Node::SignatureField(node) => self.text("label", node.label.as_ref()),
            Node::FormField(node) => self.form_field(node),
            Node::RichText(node) => {
                self.text("source", Some(&node.source));
                self.below("styles", |walk| {
                    for (name, style) in &node.styles {
                        walk.below(name, |walk| walk.see(Site::Style(style)));
                    }
                });
            }
            _ => {}
        }
    }

    fn form_field(&mut self, node: &'t FormField) {
        self.text("name", Some(&node.name));
        self.text("label", node.label.as_ref());
        self.text("value", node.value.as_ref());
        self.expression("checked", node.checked.as_ref());
        self.expression("each", node.each.as_ref());
        self.text("submit", node.submit.as_ref());
        self.each("options", &node.options, |walk, option| match option {
            FieldOption::Text(text) => walk.see(Site::Text(text)),
            FieldOption::Full(option) => {
                walk.text("value", Some(&option.value));
                walk.text("label", Some(&option.label));
            }
        });
    }

    fn chart(&mut self, node: &'t Chart) {
        self.text("title", node.title.as_ref());
        self.expression("rows", Some(&node.rows));
        self.text("category", Some(&node.category));
        self.each("series", &node.series, |walk, series| {
            walk.text("name", Some(&series.name));
            walk.expression("value", Some(&series.value));
            walk.expression("x", series.x.as_ref());
        });
        self.format(node.format.as_ref());
        self.text("categoryTitle", node.category_title.as_ref());
        self.text("valueTitle", node.value_title.as_ref());
        for (token, axis) in [
            ("valueAxis", &node.value_axis),
            ("secondaryAxis", &node.secondary_axis),
            ("xAxis", &node.x_axis),
        ] {
            let Some(axis) = axis else { continue };
            self.below(token, |walk| {
                walk.text("title", axis.title.as_ref());
                walk.expression("min", axis.min.as_ref());
                walk.expression("max", axis.max.as_ref());
                walk.format(axis.format.as_ref());
            });
        }
        self.each("targets", &node.targets, |walk, target| {
            walk.expression("value", Some(&target.value));
            walk.text("label", Some(&target.label));
        });
        self.text("alt", Some(&node.alt));
    }

    fn list_item(&mut self, item: &'t ListItem) {
        match item {
            // The item itself is the content, so no token is added.
            ListItem::Content(content) => self.bare_content(content),
            ListItem::Full(item) => {
                self.content("content", Some(&item.content));
                self.nodes("body", &item.body);
                self.text("mark", item.mark.as_ref());
                self.expression("when", item.when.as_ref());
            }
        }
    }

    fn table(&mut self, table: &'t Table) {
        self.text("name", table.name.as_ref());
        self.content("caption", table.caption.as_ref());
        self.expression("rows", table.rows.as_ref());
        self.expression("rowWhen", table.row_when.as_ref());
        self.each("rowStyles", &table.row_styles, |walk, rule| {
            walk.expression("when", Some(&rule.when));
            walk.style(Some(&rule.style));
        });
        self.each("columns", &table.columns, Self::column);
        self.each("headerRows", &table.header_rows, Self::row);
        self.each("bodyRows", &table.body_rows, Self::row);
        self.each("footerRows", &table.footer_rows, Self::row);
        self.each("groups", &table.groups, Self::group);
        self.content("continued", table.continued.as_ref());
        self.content("broughtForward", table.brought_forward.as_ref());
        self.content("carriedForward", table.carried_forward.as_ref());
        self.content("pageTotal", table.page_total.as_ref());
        self.content("total", table.total.as_ref());
        self.content("empty", table.empty.as_ref());
    }

    fn column(&mut self, column: &'t ColumnSpec) {
        self.expression("each", column.each.as_ref());
        self.content("header", column.header.as_ref());
        self.content("value", column.value.as_ref());
        self.nodes("body", &column.body);
        self.format(column.format.as_ref());
        if let Some(TotalSpec::Text(text)) = &column.total {
            self.text("total", Some(text));
        }
        self.style(column.style.as_ref());
        if let Some(style) = &column.header_style {
            self.below("headerStyle", |walk| walk.see(Site::Style(style)));
        }
        self.each("cellStyles", &column.cell_styles, |walk, rule| {
            walk.expression("when", Some(&rule.when));
            walk.style(Some(&rule.style));
        });
        self.expression("when", column.when.as_ref());
    }

    fn group(&mut self, group: &'t GroupSpec) {
        self.expression("by", Some(&group.by));
        self.content("header", group.header.as_ref());
        self.content("footer", group.footer.as_ref());
    }

    fn row(&mut self, row: &'t RowSpec) {
        self.expression("when", row.when.as_ref());
        self.style(row.style.as_ref());
        self.each("cells", &row.cells, |walk, cell| match cell {
            CellSpec::Text(text) => walk.see(Site::Text(text)),
            CellSpec::Full(cell) => {
                walk.content("content", cell.content.as_ref());
                walk.nodes("body", &cell.body);
                walk.format(cell.format.as_ref());
                walk.style(cell.style.as_ref());
            }
        });
    }
}
