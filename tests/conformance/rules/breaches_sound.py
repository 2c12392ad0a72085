"""Sound files, which must not be refused, and files with odd values, which may be."""

from pikepdf import Array, Dictionary, Name, String

import fonts
from breach import ODD, SOUND, add, add_drawn, add_entries, sound
from breaches_annotations import associate, attachment
from breaches_fonts import ENCODING, SYMBOLIC, shown
from breaches_images import PICTURE, jpeg2000, jpeg2000_stream
from breaches_metadata import schema, value_type
from breaches_tags import SOUND_TABLE, grow
from document import metadata

BOX = "0 0 9 9 re f"
STANDARD = "<< /Font << /Standard << /Type /Font /Subtype /Type1 /BaseFont /Helvetica {} >> >> >>"
BOTH = ("2b", "ua1")


@sound("nothing-changed")
@sound("nothing-changed", "3b")
@sound("nothing-changed", "ua1")
def nothing(document):
    """The document is as it is."""


# What is not drawn may be what must not be drawn


@sound("form-of-cmyk-not-drawn")
def unused_form(document):
    """A form in CMYK is not drawn."""
    document.add_resource("XObject", document.form("0 0 0 1 k 0 0 9 9 re f"))


@sound("text-like-cmyk")
def text_like_operators(document):
    """Text reads like operators."""
    document.add_artifact("BT /F1 9 Tf (0 0 0 1 k) Tj ET")


@sound("font-not-embedded-not-used")
def unused_font(document):
    """A font that is not embedded is not used."""
    document.add_resource("Font", fonts.unembedded(document))


@sound("font-not-embedded-in-unused-form")
def unused_font_in_form(document):
    """A font that is not embedded is used in a form that is not drawn."""
    document.add_resource(
        "XObject", document.form("BT /Standard 9 Tf (a) Tj ET", document.value(STANDARD.format("")))
    )


@sound("font-not-embedded-for-fields")
def font_for_fields(document):
    """The form of fields has a font that is not embedded, but no field."""
    document.set_fields(entries=f"<< /DR {STANDARD.format('')} /DA (/Standard 0 Tf) >>")


@sound("font-not-embedded-without-use")
def orphaned_font(document):
    """A font that is not embedded belongs to nothing."""
    document.object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")


WIN = "/Encoding /WinAnsiEncoding"
add_drawn(
    SOUND,
    "font-not-embedded-invisible",
    "BT 3 Tr /Standard 9 Tf (a) Tj ET",
    STANDARD.format(WIN),
    places=("page",),
)
add_drawn(SOUND, "font-not-embedded-only-set", "BT /Standard 9 Tf ET", STANDARD.format(WIN), places=("page",))
add(SOUND, "font-not-embedded-invisible-truetype", shown(fonts.unembedded, before="3 Tr"))
add_drawn(
    SOUND,
    "form",
    BOX,
    places=("form", "indirect-form", "nested-form", "pattern", "annotation", "button", "glyph"),
)


@sound("field-without-size-and-appearance")
def field_without_size(document):
    """A field without a size needs no appearance."""
    document.remove(document.field("<< /FT /Tx /Rect [0 0 0 0] >>", tagged=False), "AP")


# Fonts, pictures, schemas of metadata and tables
add(SOUND, "font-compact", shown(fonts.compact))
add(SOUND, "font-compact-with-names", shown(lambda document: fonts.compact(document, ENCODING.format("B"))))
add(SOUND, "font-type1", shown(fonts.type1))
add(SOUND, "font-truetype", shown(fonts.truetype))
add(SOUND, "font-symbolic", shown(SYMBOLIC))
add(SOUND, "font-drawn", shown(fonts.boxes))
add(
    SOUND,
    "font-wide-with-map",
    shown(lambda document: fonts.wide(document, "<< /Encoding @map >>", map=fonts.code_map()), fonts.WIDE_A),
)
for mode in ("RGB", "RGBA"):
    add_drawn(
        SOUND,
        f"jpeg2000-{mode}",
        "/Picture Do",
        PICTURE,
        places=("page", "form", "glyph"),
        picture=jpeg2000_stream(jpeg2000(mode)),
    )
    add_drawn(
        SOUND,
        f"jpeg2000-{mode}-with-space",
        "/Picture Do",
        PICTURE,
        places=("page",),
        picture=jpeg2000_stream(jpeg2000(mode), "<< /ColorSpace /DeviceRGB >>"),
    )
add(SOUND, "metadata-with-schema", lambda document: document.set_metadata(schema()))
add(SOUND, "metadata-with-type-of-values", lambda document: document.set_metadata(schema(types=value_type())))
add(
    SOUND,
    "metadata-with-version",
    lambda document: document.set_metadata(
        metadata(
            more='<rdf:Description rdf:about="" xmlns:pdf="http://ns.adobe.com/pdf/1.3/">'
            "<pdf:PDFVersion>1.7</pdf:PDFVersion></rdf:Description>"
        )
    ),
)
add(SOUND, "table", lambda document: grow(document, document.top, SOUND_TABLE), "ua1")
add(SOUND, "attachment", lambda document: associate(document, attachment(document)), "3b")

# Information that says nothing good, which the metadata need not repeat
for name, entry in (
    ("date-in-words", "/CreationDate (yesterday)"),
    ("date-of-nines", "/CreationDate (D:99999999999999)"),
    ("date-of-no-day", "/CreationDate (D:20200231)"),
    ("date-of-no-zone", "/CreationDate (D:20200101120000+99'99')"),
    ("date-of-no-month", "/ModDate (D:202013)"),
    ("date-of-year", "/ModDate (D:2020)"),
    ("date-of-year-0", "/CreationDate (D:00000101)"),
    ("date-of-hour-24", "/CreationDate (D:20200101240000Z)"),
    ("date-of-second-60", "/CreationDate (D:20200101000060Z)"),
    ("date-of-other-form", "/CreationDate (2020-01-01T00:00:00)"),
    ("title-of-controls", "/Title <01026162>"),
    ("title-of-no-characters", "/Title ()"),
    ("title-that-is-a-number", "/Title 3"),
    ("author-of-no-character", "/Author <FEFFFFFE>"),
    ("keywords", "/Keywords (a;b)"),
    ("trapped-unknown", "/Trapped /Maybe"),
):
    add_entries(SOUND, f"information-{name}", "info", f"<< {entry} >>")


# Content


@sound("states-not-saved")
def unbalanced(document):
    """States are restored that were never saved."""
    document.add_content("Q Q Q")


@sound("operators-without-operands")
def missing_operands(document):
    """Operators lack what they need."""
    document.add_content("/Artifact BMC m re f cm gs EMC")


# Structure
add_entries(SOUND, "language-of-region", "catalog", "<< /Lang (en-US) >>", "ua1")
add_entries(SOUND, "language-in-utf-16", "catalog", "<< /Lang <FEFF0065006E> >>", "ua1")


@sound("picture-with-replaced-text", "ua1")
def replaced_picture(document):
    """A picture has, instead of an alternative text, one that replaces it."""
    document.tag(document.top, "Figure", text="a", mark="P", entries="<< /ActualText () >>")


@sound("picture-without-text-without-use", "ua1")
def orphaned_picture(document):
    """A picture without a text belongs to nothing."""
    document.object("<< /Type /StructElem /S /Figure /P @top /K [] >>", top=document.top)


# Circles


def add_circle(name):
    """Marks a function that makes objects that have themselves in them."""

    def mark(change):
        for flavour in BOTH:
            add(SOUND, f"circle-of-{name}", change, flavour)
        return change

    return mark


@add_circle("forms")
def circle_of_forms(document):
    """A form draws itself."""
    form = document.form("/Self Do")
    form.Resources = document.value("<< /XObject << /Self @form >> >>", form=form)
    document.draw("page", "/Self Do", document.value("<< /XObject << /Self @form >> >>", form=form))


@add_circle("actions")
def circle_of_actions(document):
    """An action is followed by itself."""
    action = document.object("<< /S /URI /URI (x) >>")
    action.Next = action
    document.annotation("<< /Subtype /Link /A @action >>", action=action)


@add_circle("bookmarks")
def circle_of_bookmarks(document):
    """A bookmark is followed by itself and is in itself."""
    outlines = document.object("<< /Type /Outlines >>")
    bookmark = document.object("<< /Title (x) /Parent @outlines >>", outlines=outlines)
    document.update(bookmark, "<< /Next @bookmark /First @bookmark >>", bookmark=bookmark)
    document.update(outlines, "<< /First @bookmark /Last @bookmark >>", bookmark=bookmark)
    document.catalog.Outlines = outlines


@add_circle("elements")
def circle_of_elements(document):
    """An element is in itself."""
    document.top.K.append(document.top)


@add_circle("masks")
def circle_of_masks(document):
    """A state has a mask that sets the state."""
    group = document.update(document.form(""), "<< /Group << /S /Transparency >> >>")
    state = document.object("<< /Type /ExtGState /SMask << /S /Alpha /G @group >> >>", group=group)
    group.Resources = document.value("<< /ExtGState << /State @state >> >>", state=state)
    document.draw(
        "page", f"/State gs {BOX}", document.value("<< /ExtGState << /State @state >> >>", state=state)
    )


@add_circle("patterns")
def circle_of_patterns(document):
    """A pattern has itself as a resource."""
    pattern = document.stream("", PatternType=1)
    pattern.Resources = document.value("<< /Pattern << /Self @pattern >> >>", pattern=pattern)
    document.draw("page", BOX, document.value("<< /Pattern << /Self @pattern >> >>", pattern=pattern))


def circle_of_fields(document):
    """A field is in itself."""
    field = document.object("<< /T (x) /TU (x) >>")
    document.update(field, "<< /Kids [@field] /Parent @field >>", field=field)
    document.set_fields(field)


def deep_dictionary(document):
    """Dictionaries are in each other, deeper than readers go."""
    value = Dictionary(Z=1)
    for _ in range(300):
        value = Dictionary(N=value)
    document.page.PieceInfo = document.value(
        "<< /X << /Private @value /LastModified (D:2020) >> >>", value=value
    )


def deep_list(document):
    """An action is in lists in each other, deeper than readers go."""
    value = document.value("[<< /A << /S /JavaScript /JS (1) >> >>]")
    for _ in range(120):
        value = Array([value])
    document.annotation("<< /Subtype /Link /A << /S /URI /URI (x) /Next @value >> >>", value=value)


def chain_of_tags(document):
    """A tag stands for another one, which stands for another one, and so on."""
    roles = {f"R{number}": Name(f"/R{number + 1}") for number in range(12)}
    document.tags.RoleMap = Dictionary({f"/{name}": role for name, role in roles.items()})
    document.tags.RoleMap.R12 = Name.P
    document.tag(document.top, "R0", text="a", mark="P")


for flavour in BOTH:
    for change in (circle_of_fields, deep_dictionary, deep_list):
        add(ODD, change.__name__.replace("_", "-"), change, flavour)
add(ODD, "chain-of-tags", chain_of_tags, "ua1")

# Values of other types than they should be
VALUES = {
    "number": lambda document: 3,
    "string": lambda document: String("x"),
    "list": lambda document: Array([1, Name.x]),
    "dictionary": lambda document: Dictionary(X=1),
    "stream": lambda document: document.stream("x"),
    "page": lambda document: document.page,
}
CATALOG_KEYS = (
    "OutputIntents",
    "Names",
    "OCProperties",
    "AcroForm",
    "Metadata",
    "Lang",
    "StructTreeRoot",
    "MarkInfo",
    "ViewerPreferences",
    "Outlines",
    "AF",
    "OpenAction",
    "AA",
    "Perms",
    "PageLabels",
    "Dests",
    "Extensions",
    "Version",
)
PAGE_KEYS = (
    "Annots",
    "Resources",
    "Contents",
    "Group",
    "MediaBox",
    "Tabs",
    "StructParents",
    "Rotate",
    "AA",
    "Metadata",
)


def add_odd(target, keys, kinds, flavours):
    """Adds files in which entries of the document or the page have values of other types."""
    for key in keys:
        for kind in kinds:
            for flavour in flavours:
                add_entries(
                    ODD,
                    f"{kind}-as-{key}-of-{target}",
                    target,
                    f"<< /{key} @value >>",
                    flavour,
                    value=VALUES[kind],
                )


add_odd("catalog", CATALOG_KEYS, ["number"], ["2b"])
add_odd("catalog", ("OpenAction", "AA", "Perms", "OutputIntents", "Names"), ["dictionary"], ["2b"])
add_odd(
    "catalog",
    ("MarkInfo", "ViewerPreferences", "StructTreeRoot", "Lang", "Metadata"),
    ("number", "stream"),
    ["ua1"],
)
add_odd("page", PAGE_KEYS, ("string", "page"), ["2b"])
add_odd("page", ("Annots", "StructParents", "Tabs"), ("number", "stream"), ["ua1"])
LAYERS = {"OCGs": "/OCGs []", "D": "/D << /Name (x) >>", "Configs": "/Configs []"}
for key in LAYERS:
    for kind in ("number", "list"):
        others = " ".join(entry for other, entry in LAYERS.items() if other != key)
        add_entries(
            ODD,
            f"{kind}-as-{key}-of-layers",
            "catalog",
            f"<< /OCProperties << {others} /{key} @value >> >>",
            value=VALUES[kind],
        )
