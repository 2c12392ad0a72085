//! Findings about templates, data, documents, flows and pieces, by name. Severity, place and advice
//! come with each finding.

/// Every code of a diagnostic with its meaning. A name that ends with `-*` is a family: the rest is
/// a keyword of JSON Schema.
pub static DIAGNOSTICS: &[(&str, &str)] = &[
    (
        "address-denied",
        "The page requests an address that is not allowed.",
    ),
    (
        "alt-says-nothing",
        "The alternative text does not say what is to be seen.",
    ),
    (
        "bidi-controls",
        "A text contains characters that change the direction of the surrounding text.",
    ),
    ("cell-flattened", "A cell of this format holds text only."),
    (
        "chart-omitted",
        "The format, or this place in it, cannot hold the chart.",
    ),
    (
        "chart-simplified",
        "The format's native charts lack something that the chart has.",
    ),
    ("code-syntax", "Code of a flow cannot be parsed."),
    ("code-too-deep", "Code is nested too deep."),
    (
        "column-not-hidden",
        "The tables of a sheet share its columns, so none of them is hidden.",
    ),
    (
        "column-span-omitted",
        "A block that spans all text columns is in one of them in this format.",
    ),
    (
        "columns-flattened",
        "Columns side by side are written below each other.",
    ),
    (
        "columns-too-wide",
        "The columns of a table are wider than the page.",
    ),
    (
        "content-omitted",
        "CSV can hold the rows of a table and nothing beside it.",
    ),
    (
        "content-too-tall",
        "A part of the document is taller than a page.",
    ),
    ("contents-empty", "A table of contents has no entries."),
    (
        "contents-omitted",
        "The format has no pages that a table of contents could list.",
    ),
    (
        "contents-unlinked",
        "The table of contents has no page numbers in this format.",
    ),
    (
        "control-characters",
        "A text contains control characters, which are omitted.",
    ),
    (
        "data-*",
        "The data breaks the keyword of that name in the template's `inputSchema`.",
    ),
    (
        "decimal-align-omitted",
        "Numbers are aligned at their end, not at their decimal separators, in this format.",
    ),
    ("duplicate-id", "Two nodes have the same `id`."),
    ("duplicate-name", "Two fields have the same name."),
    ("duplicate-step", "Two steps of a flow have the same name."),
    ("empty-chart", "The chart has no categories."),
    ("empty-paragraph", "An empty paragraph makes space."),
    ("expression-failed", "An expression failed with this data."),
    ("expression-syntax", "An expression cannot be parsed."),
    (
        "expression-too-complex",
        "An expression has too many operators, or more than its place allows.",
    ),
    ("expression-too-deep", "An expression is nested too deep."),
    ("expression-too-long", "An expression is too long."),
    (
        "first-page-header-omitted",
        "The pages of a sheet share one header and footer.",
    ),
    (
        "first-page-number-omitted",
        "The pages of a sheet are counted from 1.",
    ),
    ("flow-too-large", "The flow is larger than allowed."),
    (
        "font-feature-missing",
        "A font lacks an OpenType feature, or more instances of variable fonts are asked for than are made.",
    ),
    (
        "font-not-embedded",
        "A font is damaged: HTML names it instead of bringing it.",
    ),
    (
        "font-not-found",
        "A font of the theme is not installed; another is used.",
    ),
    (
        "footer-simplified",
        "The footer of a slide is a line of text.",
    ),
    (
        "footnote-unlinked",
        "The mark of a footnote has no link here; in headers and footers of PDF, PNG and SVG its text is missing, too.",
    ),
    ("footnotes-as-endnotes", "Footnotes are written at the end."),
    (
        "footnotes-as-rows",
        "Footnotes are written below the last row.",
    ),
    (
        "form-field-as-text",
        "The format has no form fields: the field is written as text, or left out.",
    ),
    (
        "form-value-cut",
        "The box of a form field is too small for its value; readers of paper see a part of it.",
    ),
    ("header-omitted", "The format has no header or footer."),
    (
        "header-simplified",
        "Headers and footers of sheets and of printed HTML hold text only.",
    ),
    (
        "header-too-tall",
        "Header and footer leave no room for text.",
    ),
    ("heading-level-skipped", "A heading skips a level."),
    (
        "helper-failed",
        "A helper of the template failed with this data.",
    ),
    (
        "hidden-by-helpers",
        "Expressions cannot reach this name, because `helpers` is the template's module.",
    ),
    (
        "image-not-cropped",
        "A sheet shows the whole picture, where others cut it off to fill its place.",
    ),
    ("image-omitted", "The format cannot hold the picture."),
    (
        "image-replaced",
        "An image is unknown or damaged; its fallback is shown.",
    ),
    (
        "image-too-large",
        "A picture has more pixels, or a drawing takes more to read, than allowed.",
    ),
    (
        "import-clash",
        "Two imports give different values for something that the template does not set.",
    ),
    (
        "import-cycle",
        "Template files import each other in a circle.",
    ),
    (
        "import-invalid",
        "A template cannot be imported: it has errors, is no document, or there are too many.",
    ),
    (
        "import-not-found",
        "There is no such template, version or file to import.",
    ),
    (
        "import-unresolved",
        "The template imports another, which is not at hand where it is read.",
    ),
    (
        "invalid-asset",
        "An asset of the template is not a `data:` URL that can be read.",
    ),
    (
        "invalid-barcode",
        "The value cannot be a barcode of this kind.",
    ),
    (
        "invalid-chart",
        "Properties of the chart contradict each other, or a value cannot be on its axis.",
    ),
    ("invalid-color", "A color is malformed."),
    (
        "invalid-cron",
        "The schedule is not a cron expression that can match.",
    ),
    ("invalid-css", "The style sheet cannot be embedded."),
    (
        "invalid-form-field",
        "A form field lacks a property of its kind, or has one of another.",
    ),
    (
        "invalid-formula",
        "The formula or number format of a spreadsheet column cannot be used.",
    ),
    ("invalid-helpers", "The module of helpers cannot be parsed."),
    ("invalid-image", "A picture is damaged."),
    (
        "invalid-input-schema",
        "`inputSchema` is not a valid JSON Schema.",
    ),
    ("invalid-json", "The template or the flow is not JSON."),
    (
        "invalid-key",
        "The key has characters that a key cannot have.",
    ),
    ("invalid-length", "A length is malformed."),
    ("invalid-link", "The target of a link is not allowed."),
    ("invalid-name", "The name cannot be used in expressions."),
    (
        "invalid-piece",
        "The manifest or the code of a custom action has an error.",
    ),
    (
        "invalid-span",
        "A cell covers more rows or columns than there are.",
    ),
    (
        "invalid-template-name",
        "An entry of a flow's `templates` is not the key of a template, or one is missing.",
    ),
    ("invalid-value", "A value has the wrong type or form."),
    (
        "invalid-wait",
        "A wait does not have exactly one of `delayMs`, `until` and `callback`.",
    ),
    ("invalid-width", "The width of a column is malformed."),
    (
        "invoice-difference",
        "What the invoice states is not what its lines make.",
    ),
    ("invoice-rule", "The invoice breaks a rule of its profile."),
    (
        "justified-without-hyphens",
        "Justified text without hyphens has wide gaps.",
    ),
    ("key-mismatch", "The key is not the one of the address."),
    ("line-too-narrow", "A line is narrower than a letter."),
    ("links-omitted", "The format cannot hold the links here."),
    ("list-levels-flattened", "Word has nine levels of lists."),
    (
        "low-contrast",
        "Text and its ground have too little contrast.",
    ),
    (
        "macro-cycle",
        "A macro uses itself, directly or through others.",
    ),
    (
        "misplaced-page-number",
        "Page numbers are allowed only in inline content.",
    ),
    (
        "misplaced-section",
        "A section is allowed only in the body of the template.",
    ),
    ("missing-field", "A required field is missing."),
    (
        "missing-file",
        "The page requests a file that does not exist.",
    ),
    ("missing-glyph", "No font has a character of the text."),
    ("name-taken", "Two tables of a workbook have the same name."),
    ("negative-slice", "A slice of a pie is below zero."),
    ("no-columns", "Every column of a table is left out."),
    (
        "no-room-for-label",
        "The label of a group has no column to stand in.",
    ),
    ("no-steps", "The flow has no steps."),
    ("no-table", "The document has no table."),
    ("no-text-area", "The margins leave no room for text."),
    ("no-title", "The document has no title."),
    ("not-a-date", "The value is not a date or time."),
    ("not-a-list", "The value is not a list."),
    ("not-a-number", "The value is not a number."),
    (
        "not-comparable",
        "Only numbers with numbers and texts with texts are compared.",
    ),
    (
        "not-pdf-ua",
        "The PDF is tagged, but does not meet PDF/UA-1.",
    ),
    ("not-text", "A list or an object cannot be shown as text."),
    ("number-too-large", "A number is too large."),
    ("off-page", "Something stands outside the page."),
    ("off-slide", "Something is taller than a slide."),
    ("out-of-range", "A number is outside its range."),
    (
        "outline-omitted",
        "Groups of long tables are written without an outline.",
    ),
    (
        "page-break-ignored",
        "A page break stands in a box, where no page can end.",
    ),
    (
        "page-count-omitted",
        "Slides have no field for the number of slides.",
    ),
    ("page-number-omitted", "Cells cannot show page numbers."),
    (
        "page-numbers-on-open",
        "The page numbers of the table of contents appear when Word updates its fields.",
    ),
    (
        "page-reference-omitted",
        "The format has no pages that a reference could name.",
    ),
    (
        "page-rows-omitted",
        "Rows that depend on where pages end are left out of a table in a box.",
    ),
    (
        "page-setup-omitted",
        "The format lacks a part of the page setup.",
    ),
    ("page-size-changed", "The format has no page of this size."),
    ("panel-flattened", "The box of a panel is left out."),
    (
        "position-ignored",
        "Content at a fixed position is written as rows on a sheet.",
    ),
    (
        "reference-without-number",
        "A reference names the number of something that has none.",
    ),
    (
        "rich-text-dropped",
        "Something in a Markdown or HTML text that documents cannot hold is left out.",
    ),
    (
        "rich-text-too-large",
        "A Markdown or HTML text exceeds a limit.",
    ),
    (
        "row-spans-flattened",
        "Cells that span rows are written in one row.",
    ),
    (
        "rows-omitted",
        "A sheet holds 1,048,576 rows; the rest is left out.",
    ),
    (
        "schema-too-complex",
        "Checking the data against `inputSchema` takes too much work.",
    ),
    (
        "signature-as-line",
        "The field for a signature is written as a line.",
    ),
    (
        "single-braces",
        "A name stands in single braces, which are printed.",
    ),
    ("style-cycle", "Styles inherit from each other in a circle."),
    ("summary-rows-omitted", "CSV can hold only data rows."),
    ("svg-rasterized", "The format shows SVG drawings as pixels."),
    (
        "svg-text-omitted",
        "Some texts of an SVG picture are not drawn.",
    ),
    ("table-without-header", "No column of a table has a header."),
    (
        "tables-omitted",
        "CSV can hold only one table; the others are omitted.",
    ),
    (
        "tabs-simplified",
        "The format has no tab stops, or no leaders for them.",
    ),
    ("template-too-large", "The template is larger than allowed."),
    (
        "text-cut",
        "A cell holds 32,767 characters; the rest is left out.",
    ),
    ("text-too-long", "A text is longer than allowed."),
    ("text-too-small", "The text is too small to read."),
    ("too-deep", "Something is nested too deep."),
    ("too-many-blocks", "The document has too many blocks."),
    ("too-many-categories", "A chart has too many categories."),
    (
        "too-many-columns",
        "The data give a table too many columns.",
    ),
    ("too-many-footnotes", "The document has too many footnotes."),
    ("too-many-nodes", "The template has too many nodes."),
    ("too-many-pages", "The document has too many pages."),
    ("too-many-rows", "A table or a loop has too many rows."),
    ("too-many-steps", "The flow has too many steps."),
    (
        "too-many-terms",
        "The index of the document has too many places.",
    ),
    ("too-much-text", "The document has too much text."),
    ("too-much-work", "The expressions take too much work."),
    ("typed-line", "Typed underscores or dots draw a line."),
    ("typed-list", "A paragraph is typed as a list item."),
    ("typed-number", "The number of a heading is typed."),
    ("typed-spaces", "Typed spaces align a text."),
    ("unclosed-expression", "An expression has no end."),
    ("unclosed-statement", "A statement has no end."),
    ("undefined-variable", "The data has no value of this name."),
    ("unknown-asset", "There is no asset of this name."),
    ("unknown-currency", "The currency is unknown, or missing."),
    ("unknown-field", "The field does not exist here."),
    ("unknown-filter", "There is no filter of this name."),
    (
        "unknown-font-feature",
        "There is no OpenType feature or axis of this name.",
    ),
    ("unknown-function", "There is no function of this name."),
    (
        "unknown-helper",
        "The helpers export no function of this name.",
    ),
    (
        "unknown-link-target",
        "The link leads to an `id` that does not exist.",
    ),
    ("unknown-locale", "The locale is unknown."),
    ("unknown-macro", "The template has no macro of this name."),
    ("unknown-message", "There is no message of this name."),
    ("unknown-node-type", "There is no node of this type."),
    ("unknown-path", "The schema of the data has no such field."),
    ("unknown-statement", "There is no statement of this name."),
    ("unknown-style", "There is no style of this name."),
    ("unknown-table", "There is no table of this name."),
    ("unknown-test", "There is no test of this name."),
    ("unknown-time-zone", "The time zone is unknown."),
    ("unknown-value", "The value is none of those allowed."),
    (
        "unknown-variable",
        "Names must not begin with two underscores.",
    ),
    ("unsupported-image", "The kind of picture is not supported."),
    (
        "unsupported-option",
        "Chromium's PDF cannot have this option.",
    ),
    ("unused-asset", "Nothing uses the asset."),
    ("unused-message", "No expression uses this message."),
    (
        "unused-option",
        "The format cannot carry this option; it changes nothing.",
    ),
    ("unused-style", "Nothing uses the style."),
    (
        "value-broken",
        "A value is much wider than its line and is broken inside.",
    ),
    (
        "value-shrunk",
        "A value is wider than its line and is set smaller.",
    ),
    ("wrong-type", "The value has the wrong type."),
];

/// The meaning of a diagnostic's code; `None` if it is not in the table.
#[must_use]
pub fn find_diagnostic(name: &str) -> Option<&'static str> {
    let is_it = |known: &str| match known.strip_suffix('*') {
        Some(family) => name.starts_with(family),
        None => known == name,
    };
    let mut rows = DIAGNOSTICS.iter();
    rows.find(|(known, _)| is_it(known))
        .map(|(_, meaning)| *meaning)
}
