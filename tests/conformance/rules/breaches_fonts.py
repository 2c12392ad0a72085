"""Breaches of the rules for fonts (6.2.11 of PDF/A, and the same ones in 7.21 of PDF/UA)."""

from functools import partial

from pikepdf import Name

import fonts
from breach import add, accessible_breach
from document import character_map, font_data, font_widths, wide_codes
from fonts import A, B, WIDE_A, boxes, code_map, compact, symbolic, truetype, type1, unembedded, wide

FONT_PLACES = ("indirect-page", "form", "nested-form", "annotation", "button", "glyph")
WIDTH_A, WIDTH_B = font_widths()[A], font_widths()[B]


def add_font(rule, name, change, accessible=True):
    """Adds a breach of PDF/A and of the same rule of PDF/UA, where there is one."""
    add(rule, f"font-{name}", change)
    section = rule.removeprefix("6.2.11.")
    if accessible and section[0] in "345678":
        add(f"7.21.{section}", f"font-{name}", change, "ua1")


def font_breach(rule, name):
    """Marks a function that makes a breach by a font."""

    def mark(change):
        add_font(rule, name, change)
        return change

    return mark


def shown(make, codes="(A)", before=""):
    """Gives a function that shows text in a font on the page."""
    return lambda document: document.show_text(make(document), codes, before)


def add_truetype(rule, name, entries="<< >>", remove=(), codes="(A)", **more):
    """Adds a breach by a TrueType font that is shown."""
    add_font(
        rule, f"truetype-{name}", shown(partial(truetype, entries=entries, remove=remove, **more), codes)
    )


def add_wide(rule, name, codes=WIDE_A, accessible=True, **more):
    """Adds a breach by a font with two bytes a character that is shown."""
    add_font(rule, f"wide-{name}", shown(partial(wide, **more), codes), accessible)


def add_map(rule, name, accessible=True, descendant="<< >>", **more):
    """Adds a breach by the map of codes of a font."""
    add_wide(
        rule,
        f"map-{name}",
        accessible=accessible,
        entries="<< /Encoding @map >>",
        descendant=descendant,
        map=code_map(**more),
    )


# Dictionaries of fonts
add_truetype("6.2.11.2-1", "of-unknown-type", "<< /Type /Unknown >>")
add_truetype("6.2.11.2-1", "without-type", remove=["Type"])
add_truetype("6.2.11.2-3", "without-name", remove=["BaseFont"])
add_truetype("6.2.11.2-4", "without-first-code", remove=["FirstChar"])
add_truetype("6.2.11.2-5", "without-last-code", remove=["LastChar"])
add_truetype("6.2.11.2-6", "without-widths", remove=["Widths"])
add_truetype("6.2.11.2-6", "with-few-widths", "<< /LastChar 90 >>")
add_truetype("6.2.11.2-6", "with-many-widths", f"<< /Widths [{WIDTH_A} {WIDTH_B} 5] >>")
add_wide("6.2.11.2-1", "part-without-type", remove_descendant=["Type"])
add_wide("6.2.11.2-2", "part-of-unknown-kind", descendant="<< /Subtype /Unknown >>")
add_wide("6.2.11.2-3", "part-without-name", remove_descendant=["BaseFont"])
add_wide("6.2.11.2-1", "without-parts", entries="<< /DescendantFonts [] >>")
add_wide("6.2.11.2-3", "without-list-of-parts", remove=["DescendantFonts"])
add_font("6.2.11.2-4", "drawn-without-first-code", shown(partial(boxes, remove=["FirstChar"])))
add_font("6.2.11.2-7", "compact-of-kind-Type1", shown(partial(compact, kind="Type1")))


def move_file(font, key, kind):
    """Gives the file of a TrueType font another key or kind."""
    data = font.FontDescriptor.FontFile2
    if kind:
        data.Subtype = Name("/" + kind)
    del font.FontDescriptor[Name.FontFile2]
    font.FontDescriptor["/" + key] = data


@font_breach("6.2.11.2-7", "truetype-of-unknown-kind-of-file")
def unknown_kind_of_file(document):
    """The file of a font has a kind that there is not."""
    font = truetype(document)
    move_file(font, "FontFile3", "Unknown")
    document.show_text(font)


@font_breach("6.2.11.2-7", "truetype-with-kind-of-file")
def kind_of_truetype_file(document):
    """The file of a TrueType font has a kind, and a wrong one."""
    font = truetype(document)
    move_file(font, "FontFile2", "Unknown")
    document.show_text(font)


# Composite fonts
SYSTEM = "<< /CIDSystemInfo << /Registry (Adobe) /Ordering ({}) /Supplement {} >> >>"
add_wide("6.2.11.3.1-1", "for-other-codes", entries="<< /Encoding /UniJIS-UTF16-H >>")
add_wide(
    "6.2.11.3.1-1",
    "for-korean-codes",
    entries="<< /Encoding /UniJIS-UTF16-H >>",
    descendant=SYSTEM.format("Korea1", 0),
)
add_wide(
    "6.2.11.3.1-1",
    "for-few-codes",
    entries="<< /Encoding /90ms-RKSJ-H >>",
    descendant=SYSTEM.format("Japan1", 6),
)
add_wide("6.2.11.3.1-1", "for-chinese-codes", entries="<< /Encoding /UniGB-UCS2-H >>")
add_map("6.2.11.3.1-1", "of-other-ordering", ordering="Other")
add_map("6.2.11.3.1-1", "of-other-registry", registry="Other")
add_map("6.2.11.3.1-1", "that-says-other-ordering", said_ordering="Other")
add_map("6.2.11.3.1-1", "of-other-supplement", descendant=SYSTEM.format("Identity", 3))
add_wide("6.2.11.3.2-1", "without-glyph-map", remove_descendant=["CIDToGIDMap"])
add_wide("6.2.11.3.2-1", "with-unknown-glyph-map", descendant="<< /CIDToGIDMap /Unknown >>")
add_wide("6.2.11.3.3-1", "with-unknown-codes", entries="<< /Encoding /Unknown-H >>")
add_map("6.2.11.3.3-2", "that-is-vertical", direction=1)
add_map("6.2.11.3.3-2", "that-says-vertical", said_direction=1)
add_map("6.2.11.3.3-2", "that-is-vertical-and-says-nothing", direction=1, said_direction=None)
add_map("6.2.11.3.3-3", "that-uses-unknown", uses="Unknown-H")
add_map("6.2.11.3.3-3", "that-uses-another", uses=code_map(name="Other"))
add_map("6.1.13-10", "to-large-numbers", accessible=False, codes="<0000> <00FF> 65500")

# Embedding
STANDARD = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
MASTER = "<< /Type /Font /Subtype /MMType1 /BaseFont /Other /FirstChar 65 /LastChar 65 /Widths [500] >>"
add_font("6.2.11.4.1-1", "standard", shown(lambda document: document.object(STANDARD)))
add_font("6.2.11.4.1-1", "of-several-masters", shown(lambda document: document.object(MASTER)))
add_font("6.2.11.4.1-1", "truetype-not-embedded", shown(unembedded))
add_truetype("6.2.11.4.1-1", "with-empty-file", data=b"")
add_truetype("6.2.11.4.1-1", "with-other-file", data=b"garbage")
add_truetype("6.2.11.4.1-1", "with-half-a-file", data=font_data()[:3000])
add_truetype("6.2.11.4.1-1", "without-metrics", data=fonts.data_without("hmtx"))
add_wide("6.2.11.4.1-1", "not-embedded", remove_descriptor=["FontFile2"])
add_wide("6.2.11.4.1-1", "without-descriptor", remove_descendant=["FontDescriptor"])
add_font("6.2.11.4.1-1", "type1-not-embedded", shown(partial(type1, remove_descriptor=["FontFile"])))
add_font("6.2.11.4.1-1", "compact-without-kind", shown(partial(compact, kind=None)))


@font_breach("6.2.11.4.1-1", "type1-with-other-file")
def other_type1_file(document):
    """The file of a Type 1 font is none."""
    font = type1(document)
    font.FontDescriptor.FontFile.write(b"%!PS-AdobeFont garbage")
    document.show_text(font)


@font_breach("6.2.11.4.1-1", "not-embedded-in-glyph")
def unembedded_in_glyph(document):
    """The glyph of a Type 3 font shows text in a font that is not embedded."""
    document.draw(
        "glyph",
        "BT /F 9 Tf (A) Tj ET",
        document.value("<< /Font << /F @font >> >>", font=unembedded(document)),
    )


@font_breach("6.2.11.4.1-1", "not-embedded-in-state")
def unembedded_in_state(document):
    """A state sets a font that is not embedded."""
    document.draw(
        "page",
        "/State gs BT 0 0 Td (A) Tj ET",
        document.value("<< /ExtGState << /State << /Font [@font 10] >> >> >>", font=unembedded(document)),
    )


@font_breach("6.2.11.4.1-1", "not-embedded-in-field")
def unembedded_in_field(document):
    """The appearance of a field shows text in a font that is not embedded."""
    resources = document.value("<< /Font << /F @font >> >>", font=unembedded(document))
    drawn = document.form("/Tx BMC BT /F 9 Tf (A) Tj ET EMC", resources)
    field = document.field("<< /FT /Tx /DA (/F 9 Tf 0 g) /AP << /N @drawn >> >>", drawn=drawn)
    document.set_fields(field, entries="<< /DR << /Font << /F @font >> >> >>", font=resources.Font.F)


@font_breach("6.2.11.4.1-1", "not-embedded-and-inherited")
def unembedded_inherited(document):
    """The page inherits a font that is not embedded, which the form of fields has, too."""
    font = unembedded(document)
    document.set_fields(entries="<< /DR << /Font << /F @font >> >> >>", font=font)
    document.draw(
        "inherited-page", "BT /F 9 Tf (A) Tj ET", document.value("<< /Font << /F @font >> >>", font=font)
    )


# Glyphs
ENCODING = "<< /Encoding << /Type /Encoding /Differences [65 /{}] >> >>"
MANY_WIDTHS = f"<< /LastChar 255 /Widths [{WIDTH_A} {WIDTH_B}{' 0' * 189}] >>"
add_truetype("6.2.11.4.1-2", "without-glyph", MANY_WIDTHS, codes="<E4>")
add_truetype("6.2.11.4.1-2", "without-second-glyph", MANY_WIDTHS, codes="<41E4>")
add_wide("6.2.11.4.1-2", "without-glyph", codes="<0FFF>")
add_wide(
    "6.2.11.4.1-2",
    "with-short-glyph-map",
    descendant="<< /CIDToGIDMap @map >>",
    map=lambda document: document.stream(bytes(2)),
)
add_font("6.2.11.4.1-2", "compact-without-glyph", shown(partial(compact, entries=ENCODING.format("unknown"))))
add_font("6.2.11.4.1-2", "compact-without-accented-glyph", shown(compact, "<E4>"))
add_font("6.2.11.4.1-2", "type1-without-glyph", shown(type1, "(C)"))
add_font("6.2.11.4.1-2", "type1-without-accented-glyph", shown(type1, "<FF>"))
add_font("6.2.11.4.1-2", "drawn-without-glyph", shown(partial(boxes, entries="<< /CharProcs << >> >>")))
add_font("6.2.11.8-1", "compact-with-notdef", shown(partial(compact, entries=ENCODING.format(".notdef"))))
add_wide("6.2.11.8-1", "with-notdef", codes="<0000>")


def with_characters(make, characters):
    """Gives a function that makes a font whose descriptor says which characters it has."""

    def made(document):
        font = make(document)
        document.update(font.FontDescriptor, f"<< /CharSet ({characters}) >>")
        return font

    return made


EXTRA = "".join(f"/{glyph}" for glyph in [*fonts.DRAWN_GLYPHS, "unknown"])
add_font("6.2.11.4.2-1", "compact-with-few-characters", shown(with_characters(compact, "/A")))
add_font("6.2.11.4.2-1", "compact-with-no-characters", shown(with_characters(compact, "")))
add_font("6.2.11.4.2-1", "compact-with-more-characters", shown(with_characters(compact, EXTRA)))
add_font("6.2.11.4.2-1", "type1-with-other-characters", shown(with_characters(type1, "/unknown")))
for name, data in (("few", b"\x80"), ("many", b"\xff" * 200), ("no", b"")):
    add_wide(
        "6.2.11.4.2-2",
        f"with-{name}-characters",
        descriptor="<< /CIDSet @set >>",
        set=lambda document, data=data: document.stream(data),
    )

# Widths
add_truetype("6.2.11.5-1", "of-other-width", f"<< /Widths [{WIDTH_A + 50} {WIDTH_B}] >>")
add_truetype("6.2.11.5-1", "of-other-width-by-2", f"<< /Widths [{WIDTH_A + 2} {WIDTH_B}] >>")
add_truetype("6.2.11.5-1", "outside-of-widths", codes="(C)")
add_wide("6.2.11.5-1", "of-other-width", descendant=f"<< /W [{int(wide_codes('A'), 16)} [10]] >>")
add_wide("6.2.11.5-1", "of-default-width", remove_descendant=["W"])
add_wide(
    "6.2.11.5-1",
    "of-width-by-glyph-map",
    descendant="<< /CIDToGIDMap @map >>",
    map=lambda document: document.stream(bytes(400)),
)
add_font("6.2.11.5-1", "compact-of-other-width", shown(partial(compact, entries="<< /Widths [100 100] >>")))
add_font("6.2.11.5-1", "type1-of-other-width", shown(partial(type1, entries="<< /Widths [599 599] >>")))
add_font("6.2.11.5-1", "drawn-of-other-width", shown(partial(boxes, entries="<< /Widths [10] >>")))


def add_in_places(rule, name, make):
    """Adds a breach by a font in other places than the page."""
    for place in FONT_PLACES:

        def change(document, place=place):
            document.draw(
                place,
                "BT /F 9 Tf (A) Tj ET",
                document.value("<< /Font << /F @font >> >>", font=make(document)),
            )

        # veraPDF looks for widths inside of forms for PDF/A only
        add_font(rule, f"{name}-in-{place}", change, accessible="form" not in place or rule != "6.2.11.5-1")


add_in_places("6.2.11.5-1", "truetype-of-other-width", partial(truetype, entries="<< /Widths [10 10] >>"))
add_in_places("6.2.11.6-2", "truetype-without-encoding", partial(truetype, remove=["Encoding"]))

# Encodings
DIFFERENCES = "<< /Encoding << /Type /Encoding {} /Differences [66 /{}] >> >>"
WIN = "/BaseEncoding /WinAnsiEncoding"
add_truetype("6.2.11.6-2", "without-encoding", remove=["Encoding"])
add_truetype("6.2.11.6-2", "of-standard-encoding", "<< /Encoding /StandardEncoding >>")
add_truetype("6.2.11.6-2", "without-base-encoding", DIFFERENCES.format("", "B"))
add_truetype("6.2.11.6-2", "with-unknown-name", DIFFERENCES.format(WIN, "g66"))
add_truetype("6.2.11.6-1", "with-empty-character-map", data=fonts.data_with_empty_map())
add_truetype("6.2.11.6-1", "without-character-map", data=fonts.data_without("cmap"))
add_truetype("6.2.11.6-1", "with-symbolic-character-map", data=fonts.data_with_symbolic_map())
SYMBOLIC = partial(symbolic, data=fonts.data_with_symbolic_map())
add_font(
    "6.2.11.6-3",
    "symbolic-with-encoding",
    shown(partial(SYMBOLIC, entries="<< /Encoding /WinAnsiEncoding >>")),
)
add_font(
    "6.2.11.6-3",
    "symbolic-with-many-maps-and-encoding",
    shown(partial(symbolic, entries="<< /Encoding /WinAnsiEncoding >>")),
)
add_font(
    "6.2.11.6-3",
    "symbolic-with-base-encoding",
    shown(partial(symbolic, entries=f"<< /Encoding << /Type /Encoding {WIN} >> >>")),
)
add_font("6.2.11.6-4", "symbolic-with-many-maps", shown(symbolic))
add_font("6.2.11.6-4", "symbolic-without-maps", shown(partial(symbolic, data=fonts.data_with_empty_map())))
add_font("6.2.11.6-4", "symbolic-with-differences", shown(partial(symbolic, entries=ENCODING.format("A"))))


@font_breach("6.2.11.6-3", "both-symbolic-and-not")
def both_symbolic_and_not(document):
    """A font says that it is symbolic and that it is not, and has an encoding."""
    font = truetype(document)
    font.FontDescriptor.Flags = 36
    document.show_text(font)


# Characters, for PDF/UA only


def with_unicode(make, text):
    """Gives a function that makes a font whose character `A` stands for text, in UTF-16 in hexadecimal."""

    def made(document):
        font = make(document)
        font.ToUnicode = document.stream(character_map({A: text}))
        return font

    return made


for name, text in (
    ("nothing", "0000"),
    ("no-character", "FFFE"),
    ("byte-order", "FEFF"),
    ("more", "00410000"),
):
    add("7.21.7-2", f"font-that-shows-{name}", shown(with_unicode(truetype, text)), "ua1")
add("7.21.7-1", "font-wide-without-characters", shown(partial(wide, remove=["ToUnicode"]), WIDE_A), "ua1")
add("7.21.7-1", "font-wide-without-one-character", shown(partial(wide, characters=[B]), WIDE_A), "ua1")


@accessible_breach("7.21.7-1", "font-symbolic-without-characters")
def symbolic_without_characters(document):
    """A symbolic font does not say which characters it shows."""
    font = SYMBOLIC(document)
    document.remove(font, "ToUnicode")
    document.show_text(font)


@accessible_breach("7.21.7-1", "font-compact-without-characters")
def compact_without_characters(document):
    """A font does not say which character its glyph with an unknown name shows."""
    font = compact(document, ENCODING.format("g1"))
    document.remove(font, "ToUnicode")
    document.show_text(font)


@accessible_breach("7.21.7-1", "font-wide-without-characters-in-tagged-text")
def tagged_without_characters(document):
    """A paragraph is in a font that does not say which characters it shows."""
    document.add_resource("Font", wide(document, remove=["ToUnicode"]), "F3")
    number = document.bind_mark(document.tag(document.top, "P"))
    document.add_content(f"/P << /MCID {number} >> BDC BT /F3 9 Tf 9 9 Td {WIDE_A} Tj ET EMC")
