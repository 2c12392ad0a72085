"""Breaches of the rules of PDF/UA for structure: marks, tags, languages, tables, lists (7.1 to 7.9)."""

from pikepdf import Array, Dictionary, Name, String

from breach import accessible_breach, add, add_entries, add_removal

BOX = "0 0 9 9 re f"
TEXT = "BT /F1 9 Tf 9 9 Td (A) Tj ET"


# Marks


def add_content(rule, name, *streams):
    """Adds a breach by content of the page that is as it is given."""

    def change(document):
        for stream in streams:
            document.add_content(stream)

    add(rule, f"content-{name}", change, "ua1")


add_content("7.1-1", "of-artifact-in-paragraph", f"/P << /MCID 0 >> BDC /Artifact BMC {TEXT} EMC EMC")
add_content(
    "7.1-1",
    "of-described-artifact-in-paragraph",
    f"/P << /MCID 0 >> BDC /Artifact << /Type /Pagination >> BDC {TEXT} EMC EMC",
)
add_content("7.1-3", "of-text", TEXT)
add_content("7.1-3", "of-path", BOX)
add_content("7.1-3", "of-line-after-clipping", "q 0 0 9 9 re W n Q 0 0 9 9 re S")
add_content("7.1-3", "of-inline-picture", "BI /W 1 /H 1 /CS /G /BPC 8 ID x EI")
add_content("7.1-3", "of-unknown-mark", f"/P << /MCID 99 >> BDC {TEXT} EMC")
add_content("7.1-3", "of-mark-without-number", f"/Span << /ActualText (x) >> BDC {TEXT} EMC")
add_content("7.1-3", "of-mark-without-properties", f"/P BMC {TEXT} EMC")
add_content("7.1-3", "after-the-end-of-no-mark", f"EMC {TEXT}")
add_content("7.1-3", "after-mark-in-two-streams", "/Artifact BMC", f"{BOX} EMC {BOX}")


@accessible_breach("7.1-2", "content-of-paragraph-in-artifact")
def paragraph_in_artifact(document):
    """A paragraph is marked inside of an artifact."""
    number = document.bind_mark(document.tag(document.top, "P"))
    document.add_content(f"/Artifact BMC /P << /MCID {number} >> BDC {TEXT} EMC EMC")


def tagged_form(document):
    """Makes a form with a paragraph of the structure in it."""
    element = document.tag(document.top, "P")
    form = document.form(
        f"/P << /MCID 0 >> BDC {TEXT} EMC",
        document.value("<< /Font << /F1 @font >> >>", font=document.simple_font),
    )
    form.StructParents = document.bind_parent(Array([element]))
    element.K.append(Dictionary(Type=Name.MCR, Pg=document.page, Stm=form, MCID=0))
    return form


@accessible_breach("7.1-2", "content-of-tagged-form-in-artifact")
def tagged_form_in_artifact(document):
    """A form with a paragraph in it is drawn as an artifact."""
    document.add_object(tagged_form(document))


@accessible_breach("7.20-2", "content-of-tagged-form-twice")
def tagged_form_twice(document):
    """A form with a paragraph in it is drawn twice."""
    name = document.add_resource("XObject", tagged_form(document))
    document.add_content(f"/{name} Do /{name} Do")


@accessible_breach("7.20-1", "content-of-form-of-other-file")
def form_of_other_file(document):
    """A form shows the page of another file."""
    document.add_object(document.update(document.form(""), "<< /Ref << /F (x.pdf) /Page 0 >> >>"))


@accessible_breach("7.1-3", "content-of-shading")
def untagged_shading(document):
    """A shading is not marked."""
    shading = document.value(
        "<< /ShadingType 2 /ColorSpace /DeviceRGB /Coords [0 0 9 9] /Function "
        "<< /FunctionType 2 /Domain [0 1] /C0 [1 1 1] /C1 [1 0 0] /N 1 >> >>"
    )
    document.add_content(f"/{document.add_resource('Shading', shading)} sh")


@accessible_breach("7.1-3", "content-of-named-properties-without-number")
def named_properties(document):
    """The properties of a mark, which are a resource, have no number."""
    name = document.add_resource("Properties", Dictionary(Unknown=1))
    document.add_content(f"/P /{name} BDC {TEXT} EMC")


def add_untagged_form(name, operators, resources="<< >>", **entries):
    """Adds a breach by a form that is drawn without a mark."""

    def change(document):
        inner = document.form(BOX)
        value = document.value(resources, inner=inner, font=document.simple_font)
        drawn = document.add_resource("XObject", document.form(operators, value, **entries))
        document.add_content(f"/{drawn} Do")

    add("7.1-3", f"content-of-form-{name}", change, "ua1")


add_untagged_form("without-marks", BOX)
add_untagged_form("with-parents", BOX, StructParents=7)
add_untagged_form("with-parent", BOX, StructParent=7)
add_untagged_form("in-a-form", "/Inner Do", "<< /XObject << /Inner @inner >> >>")
add_untagged_form(
    "with-number-without-parents", f"/P << /MCID 0 >> BDC {TEXT} EMC", "<< /Font << /F1 @font >> >>"
)


def add_page(name, operators):
    """Adds a breach by a second page."""

    def change(document):
        page = document.object(
            "<< /Type /Page /MediaBox [0 0 99 99] /Contents @content "
            "/Resources << /Font << /F1 @font >> >> >>",
            content=document.stream(operators),
            font=document.simple_font,
        )
        page.Parent = document.catalog.Pages
        document.catalog.Pages.Kids.append(page)
        document.catalog.Pages.Count = 2

    add("7.1-3", f"content-of-second-page-{name}", change, "ua1")


add_page("of-path", BOX)
add_page("of-partly-marked-text", "BT /F1 9 Tf /Span BMC (a) Tj EMC (b) Tj ET")

# Entries of the document
add_entries("6.2-1", "not-marked", "catalog", "<< /MarkInfo << /Marked false >> >>", "ua1")
add_removal("6.2-1", "no-mark-info", "catalog", "MarkInfo", flavour="ua1")
add_entries("7.1-4", "suspects", "catalog", "<< /MarkInfo << /Marked true /Suspects true >> >>", "ua1")
add_removal("7.1-10", "title-not-shown", "catalog", "ViewerPreferences", flavour="ua1")
add_removal("7.1-11", "no-structure", "catalog", "StructTreeRoot", flavour="ua1")


# Tags


def add_tag(rule, name, kind, roles="<< >>", entries="<< >>", remove=()):
    """Adds a breach by the tag of an element, and by what tags stand for."""

    def change(document):
        document.tags.RoleMap = document.value(roles)
        document.remove(document.tag(document.top, kind, text="a", mark="P", entries=entries), *remove)

    add(rule, f"tag-{name}", change, "ua1")


add_tag("7.1-5", "unknown", "Other")
add_tag("7.1-5", "unknown-without-type", "Other", remove=["Type"])
add_tag("7.1-5", "for-unknown", "Other", "<< /Other /Another >>")
add_tag("7.1-5", "Title", "Title")
add_tag("7.1-5", "Aside", "Aside")
add_tag("7.1-5", "FENote", "FENote")
add_tag("7.1-6", "in-a-circle", "Other", "<< /Other /Another /Another /Other >>")
add_tag("7.1-6", "for-itself", "Other", "<< /Other /Other >>")
add_tag("7.1-6", "P-for-itself", "P", "<< /P /P >>")
add_tag("7.1-7", "P-for-H1", "P", "<< /P /H1 >>")
add_tag("7.1-7", "for-Span-for-P", "Other", "<< /Span /P /Other /Span >>")
add_tag("7.1-7", "P-and-Div-in-a-circle", "P", "<< /P /Div /Div /P >>")
add_tag("7.3-1", "for-Figure", "Bild", "<< /Bild /Figure >>")
add_tag("7.3-1", "Figure-with-name-as-text", "Figure", entries="<< /Alt /x >>")
add_tag("7.3-1", "Figure-with-empty-unicode", "Figure", entries="<< /Alt <FEFF> >>")
add_tag("7.3-1", "Figure-without-content", "Figure", remove=["K"])
add_tag("7.7-1", "for-Formula", "Equation", "<< /Equation /Formula >>")
add_tag("7.9-1", "for-Note", "Footnote", "<< /Footnote /Note >>")


@accessible_breach("7.3-1", "tag-Figure-as-object")
def indirect_tag(document):
    """The tag of a picture without text is an object of its own."""
    document.tag(document.top, "Figure", text="a", mark="P").S = document.object("/Figure")


@accessible_breach("7.3-1", "tag-Figure-in-place")
def element_in_place(document):
    """The element of a picture without text is no object of its own."""
    document.top.K.append(
        document.value("<< /Type /StructElem /S /Figure /P @top /K [] >>", top=document.top)
    )


@accessible_breach("7.4.2-1", "tags-for-headings")
def headings_by_role(document):
    """Tags that stand for headings leave a level out."""
    document.tags.RoleMap = document.value("<< /First /H1 /Third /H3 >>")
    for kind in ("First", "Third"):
        document.tag(document.top, kind, text="a", mark="P")


@accessible_breach("7.2-20", "tags-for-list")
def list_by_role(document):
    """An item of a list, by the roles of tags, has a paragraph in it."""
    document.tags.RoleMap = document.value("<< /Item /LI /List /L >>")
    item = document.tag(document.tag(document.top, "List"), "Item")
    document.tag(item, "P", text="a")


# Languages


def add_language(rule, name, value):
    """Adds a breach by the language of the document."""

    def change(document):
        document.catalog.Lang = value

    add(rule, f"language-{name}", change, "ua1")


add_language("7.2-29", "with-underscore", String("en_US"))
add_language("7.2-29", "in-words", String("english language"))
add_language("7.2-29", "after-space", String(" en"))
add_language("7.2-29", "with-accent", String("dé"))
add_language("7.2-29", "in-utf-16-with-underscore", String(b"\xfe\xff\0e\0n\0_\0U\0S"))
add_language("7.2-34", "as-name", Name.en)
add_removal("7.2-34", "no-language", "catalog", "Lang", flavour="ua1")
add_tag("7.2-29", "with-wrong-language", "P", entries="<< /Lang (de_DE) >>")
add_tag("7.2-29", "with-empty-language", "P", entries="<< /Lang () >>")


@accessible_breach("7.2-29", "language-of-mark")
def language_of_mark(document):
    """The language of a mark is none."""
    document.add_text(document.tag(document.top, "P"), "a", properties="/Lang (de_DE)")


@accessible_breach("7.2-33", "language-of-structure-only")
def language_of_structure(document):
    """Only the structure says its language."""
    document.remove(document.catalog, "Lang")
    document.top.Lang = String("en")


@accessible_breach("7.2-33", "language-of-structure-only-with-replaced-text")
def language_of_replaced_text(document):
    """Only the structure says its language, and has text that replaces other text."""
    language_of_structure(document)
    document.tag(document.top, "P", text="a", entries="<< /ActualText (x) >>")


@accessible_breach("7.2-2", "language-of-bookmark")
def language_of_bookmark(document):
    """The document has a bookmark and no language."""
    outlines = document.object("<< /Type /Outlines /Count 1 >>")
    document.update(
        outlines,
        "<< /First @bookmark /Last @bookmark >>",
        bookmark=document.object("<< /Title (x) /Parent @outlines >>", outlines=outlines),
    )
    document.catalog.Outlines = outlines
    document.remove(document.catalog, "Lang")


# Trees of elements: each is its tag, then its text, its elements, or its entries as a value of PDF


def grow(document, parent, tree):
    """Adds a tree of elements to the structure."""
    kind, *rest = tree
    text = next((part for part in rest if isinstance(part, str) and not part.startswith("<<")), None)
    entries = next((part for part in rest if isinstance(part, str) and part.startswith("<<")), "<< >>")
    element = document.tag(parent, kind, text=text, mark="P", entries=entries)
    for part in rest:
        if not isinstance(part, str):
            grow(document, element, part)


def add_tree(rule, name, *trees):
    """Adds a breach by trees of elements."""

    def change(document):
        for tree in trees:
            grow(document, document.top, tree)

    add(rule, f"tree-of-{name}", change, "ua1")


def row(*cells):
    return ("TR", *cells)


def cell(kind="TD", **attributes):
    """Gives a cell of a table with attributes."""
    if kind == "TH":
        attributes.setdefault("Scope", "/Column")
    entries = " ".join(f"/{key} {value}" for key, value in attributes.items())
    return (kind, "a", f"<< /A << /O /Table {entries} >> >>" if attributes else "<< >>")


TD, TH, BARE_TH, P = cell(), cell("TH"), ("TH", "a"), ("P", "a")
ITEM = ("LI", ("LBody", "a"))
SOUND_TABLE = ("Table", row(TH, TH), row(TD, TD))
TREES = (
    ("7.2-3", "P-in-table", ("Table", P, row(TH), row(TD))),
    ("7.2-4", "TR-outside", ("Div", row(TD))),
    ("7.2-5", "THead-outside", ("Div", ("THead", row(TH)))),
    ("7.2-6", "TBody-outside", ("Div", ("TBody", row(TH)))),
    ("7.2-7", "TFoot-outside", ("Div", ("TFoot", row(TH)))),
    ("7.2-8", "TH-outside", ("Div", TH)),
    ("7.2-9", "TD-outside", ("Div", TD)),
    ("7.2-9", "TD-in-table", ("Table", TD)),
    ("7.2-10", "P-in-row", ("Table", row(TH, P))),
    ("7.2-11", "two-heads", ("Table", ("THead", row(TH)), ("THead", row(TH)), ("TBody", row(TD)))),
    ("7.2-12", "two-feet", ("Table", ("TFoot", row(TH)), ("TFoot", row(TH)), ("TBody", row(TD)))),
    ("7.2-13", "foot-without-body", ("Table", ("TFoot", row(TH)))),
    ("7.2-14", "head-without-body", ("Table", ("THead", row(TH)), row(TD))),
    ("7.2-16", "caption-in-the-middle", ("Table", row(TH), ("Caption", "a"), row(TD))),
    ("7.2-17", "LI-outside", ("Div", ITEM)),
    ("7.2-17", "LI-in-LI", ("L", ("LI", ("LBody", "a"), ITEM))),
    ("7.2-18", "LBody-outside", ("Div", ("LBody", "a"))),
    ("7.2-19", "P-in-list", ("L", P, ITEM)),
    ("7.2-20", "P-in-item", ("L", ("LI", P))),
    ("7.2-20", "P-and-Lbl-in-item", ("L", ("LI", P, ("Lbl", "1")))),
    ("7.2-20", "L-in-item", ("L", ("LI", ("LBody", "a"), ("L", ITEM)))),
    ("7.2-26", "TOCI-outside", ("Div", ("TOCI", "a"))),
    ("7.2-27", "P-in-contents", ("TOC", P, ("TOCI", "a"))),
    ("7.2-28", "caption-after-contents", ("TOC", ("TOCI", "a"), ("Caption", "a"))),
    ("7.2-36", "P-in-head", ("Table", ("THead", P, row(TH)), ("TBody", row(TD)))),
    ("7.2-37", "P-in-body", ("Table", ("TBody", P, row(TH)))),
    ("7.2-38", "P-in-foot", ("Table", ("TBody", row(TH)), ("TFoot", P))),
    ("7.2-39", "two-captions", ("Table", ("Caption", "a"), row(TH), row(TD), ("Caption", "a"))),
    ("7.2-40", "caption-after-list", ("L", ITEM, ("Caption", "a"))),
    ("7.2-41", "cell-of-many-rows", ("Table", row(TH, cell("TH", RowSpan=3)), row(TD))),
    ("7.2-42", "cells-over-each-other", ("Table", row(cell("TH", RowSpan=2), TH), row(cell(ColSpan=2)))),
    ("7.2-42", "cell-of-many-columns", ("Table", row(TH, TH), row(cell(ColSpan=5)))),
    ("7.2-43", "row-of-few-cells", ("Table", row(TH, TH), row(TD))),
    ("7.2-43", "row-of-few-cells-in-the-middle", ("Table", row(TH, TH), row(TD), row(TD, TD))),
    ("7.3-1", "Figure-without-text", ("Figure", "a")),
    ("7.3-1", "Figure-with-empty-text", ("Figure", "a", "<< /Alt () >>")),
    ("7.7-1", "Formula-without-text", ("Formula", "a")),
    ("7.7-1", "Formula-with-empty-text", ("Formula", "a", "<< /Alt () >>")),
    ("7.4.2-1", "H3-after-H1", ("Div", ("H1", "a"), ("H3", "a"))),
    ("7.4.2-1", "H2-first", ("Div", ("H2", "a"))),
    ("7.4.2-1", "H3-only", ("H3", "a")),
    ("7.4.4-1", "two-H", ("Sect", ("H", "a"), ("H", "b"))),
    ("7.4.4-3", "H-and-H1", ("Sect", ("H", "a"), ("Div", ("H1", "b")))),
    ("7.5-1", "cells-without-head", ("Table", row(BARE_TH, BARE_TH), row(TD, TD))),
    ("7.5-1", "head-in-the-middle", ("Table", row(TD, BARE_TH), row(TD, TD))),
    ("7.5-2", "cells-with-unknown-head", ("Table", row(BARE_TH), row(cell(Headers="[(unknown)]")))),
    ("7.9-1", "Note-without-identifier", ("Note", "a")),
    ("7.9-1", "Note-with-empty-identifier", ("Note", "a", "<< /ID () >>")),
    (
        "7.9-2",
        "two-Notes-of-the-same-identifier",
        ("Div", ("Note", "a", "<< /ID (x) >>"), ("Note", "a", "<< /ID (x) >>")),
    ),
)
for rule, name, tree in TREES:
    add_tree(rule, name, tree)
