"""Fonts of each kind, conforming ones unless they are given other entries or data."""

import io
from functools import cache

from fontTools.fontBuilder import FontBuilder
from fontTools.misc import eexec
from fontTools.misc.psCharStrings import T1CharString
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables._c_m_a_p import cmap_format_4
from pikepdf import Array, Dictionary, Name

from document import DESCRIPTOR, character_map, font_data, font_glyphs, font_widths

A, B = ord("A"), ord("B")
WIDE_A = f"<{font_glyphs()[A]:04X}>"
SIMPLE = """<< /Type /Font /Subtype @kind /BaseFont @name /FirstChar 65 /LastChar 66 /Widths @widths
    /Encoding /WinAnsiEncoding /FontDescriptor @descriptor /ToUnicode @characters >>"""
DRAWN_WIDTH = 500
DRAWN_GLYPHS = ["A", "B", "space"]


def changed(document, target, entries, remove=(), **objects):
    """Sets and removes entries, and gives the changed dictionary."""
    document.update(target, entries, **objects)
    document.remove(target, *remove)
    return target


def truetype(document, entries="<< >>", remove=(), data=None, **objects):
    """Makes a TrueType font with the characters A and B."""
    name = "ABCDEH+Sans"
    font = document.object(
        SIMPLE,
        kind=Name.TrueType,
        name=Name("/" + name),
        descriptor=document.descriptor(name, 32, data),
        widths=Array([font_widths()[A], font_widths()[B]]),
        characters=document.stream(character_map({A: A, B: B})),
    )
    return changed(document, font, entries, remove, **objects)


def symbolic(document, data=None, entries="<< >>"):
    """Makes a TrueType font that says it is symbolic and has no encoding."""
    font = truetype(document, data=data, remove=["Encoding"])
    font.FontDescriptor.Flags = 4
    return document.update(font, entries)


def unembedded(document):
    """Makes a TrueType font that is not embedded."""
    font = truetype(document)
    document.remove(font.FontDescriptor, "FontFile2")
    return font


def wide(
    document,
    entries="<< >>",
    remove=(),
    descendant="<< >>",
    remove_descendant=(),
    descriptor="<< >>",
    remove_descriptor=(),
    characters=(A, B),
    **objects,
):
    """Makes a font with two bytes a character; its parts may have other entries or lack some."""
    name = Name("/ABCDEJ+Sans")
    described = changed(
        document, document.descriptor(str(name)[1:], 4), descriptor, remove_descriptor, **objects
    )
    part = document.object(
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont @name /FontDescriptor @described /DW 1000 "
        "/W [@first @widths] /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "
        "/CIDToGIDMap /Identity >>",
        name=name,
        described=described,
        first=font_glyphs()[A],
        widths=Array([font_widths()[A], font_widths()[B]]),
    )
    changed(document, part, descendant, remove_descendant, **objects)
    characters = document.stream(character_map({font_glyphs()[code]: code for code in characters}, 2))
    font = document.object(
        "<< /Type /Font /Subtype /Type0 /BaseFont @name /Encoding /Identity-H /DescendantFonts [@part] "
        "/ToUnicode @characters >>",
        name=name,
        part=part,
        characters=characters,
    )
    return changed(document, font, entries, remove, **objects)


def code_map(
    direction=0,
    said_direction=0,
    uses=None,
    registry="Adobe",
    ordering="Identity",
    said_ordering=None,
    codes="<0000> <FFFF> 0",
    name="Codes",
):
    """Gives a function that makes a map of codes (CMap), whose dictionary may say something else."""

    def make(document):
        lines = [
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap",
            f"/{uses} usecmap" if isinstance(uses, str) else "",
            f"/CIDSystemInfo 3 dict dup begin /Registry ({registry}) def /Ordering ({ordering}) def "
            "/Supplement 0 def end def",
            f"/CMapName /{name} def /CMapType 1 def /WMode {direction} def",
            "1 begincodespacerange <0000> <FFFF> endcodespacerange",
            f"1 begincidrange {codes} endcidrange",
            "endcmap CMapName currentdict /CMap defineresource pop end end",
        ]
        stream = document.stream("\n".join(lines))
        document.update(
            stream,
            f"<< /Type /CMap /CMapName /{name} /CIDSystemInfo << /Registry ({registry}) "
            f"/Ordering ({said_ordering or ordering}) /Supplement 0 >> >>",
        )
        if said_direction is not None:
            stream.WMode = said_direction
        if uses:
            stream.UseCMap = Name("/" + uses) if isinstance(uses, str) else uses(document)
        return stream

    return make


# Changed TrueType data


def saved(font):
    data = io.BytesIO()
    font.save(data)
    return data.getvalue()


@cache
def data_with_empty_map():
    """Gives TrueType data whose table of characters has no maps."""
    font = TTFont(io.BytesIO(font_data()))
    font["cmap"].tables = []
    return saved(font)


@cache
def data_with_symbolic_map():
    """Gives TrueType data whose only map of characters is one for symbols."""
    font = TTFont(io.BytesIO(font_data()))
    table = cmap_format_4(4)
    table.platformID, table.platEncID, table.language = 3, 0, 0
    table.cmap = {0xF000 + code: glyph for code, glyph in font.getBestCmap().items() if code < 256}
    font["cmap"].tables = [table]
    return saved(font)


@cache
def data_without(tag):
    """Gives TrueType data without a table."""
    font = TTFont(io.BytesIO(font_data()))
    del font[tag]
    return saved(font)


# Fonts whose glyphs are boxes


@cache
def compact_data():
    """Gives the data of a font of the kind CFF (Type 1C)."""
    order = [".notdef", *DRAWN_GLYPHS]
    builder = FontBuilder(1000, isTTF=False)
    builder.setupGlyphOrder(order)
    builder.setupCharacterMap({A: "A", B: "B", 32: "space"})
    strings = {}
    for glyph in order:
        pen = T2CharStringPen(DRAWN_WIDTH, None)
        if glyph != "space":
            pen.moveTo((50, 0))
            for point in ((450, 0), (450, 700), (50, 700)):
                pen.lineTo(point)
            pen.closePath()
        strings[glyph] = pen.getCharString()
    builder.setupCFF("Boxes", {"FullName": "Boxes"}, strings, {})
    return builder.font["CFF "].compile(builder.font)


def compact(document, entries="<< >>", kind="Type1C", **objects):
    """Makes a font of the kind CFF with the characters A and B."""
    name = Name("/ABCDEI+Boxes")
    descriptor = document.object(DESCRIPTOR, name=name, flags=32)
    descriptor.FontFile3 = document.stream(compact_data())
    if kind:
        descriptor.FontFile3.Subtype = Name("/" + kind)
    font = document.object(
        SIMPLE,
        kind=Name.Type1,
        name=name,
        widths=Array([DRAWN_WIDTH] * 2),
        descriptor=descriptor,
        characters=document.stream(character_map({A: A, B: B})),
    )
    return document.update(font, entries, **objects)


@cache
def type1_data():
    """Gives the data of a Type 1 font: the lengths of its three parts, and the parts together."""
    public = """%!PS-AdobeFont-1.0: Boxes 1.0
11 dict begin
/FontInfo 2 dict dup begin
/FullName (Boxes) readonly def
end readonly def
/FontName /Boxes def
/PaintType 0 def
/FontType 1 def
/FontMatrix [0.001 0 0 0.001 0 0] readonly def
/Encoding StandardEncoding def
/FontBBox {0 0 1000 1000} readonly def
currentdict end
currentfile eexec
"""
    box = [50, 0, "rmoveto", 400, "hlineto", 700, "vlineto", -400, "hlineto", "closepath", "endchar"]
    private = b"""dup /Private 8 dict dup begin
/RD {string currentfile exch readstring pop} executeonly def
/ND {noaccess def} executeonly def
/NP {noaccess put} executeonly def
/BlueValues [] def
/MinFeature {16 16} def
/password 5839 def
/lenIV 4 def
2 index /CharStrings %d dict dup begin
""" % (len(DRAWN_GLYPHS) + 1)
    for glyph in (".notdef", *DRAWN_GLYPHS):
        string = T1CharString(program=[0, DRAWN_WIDTH, "hsbw", *(["endchar"] if glyph == "space" else box)])
        string.compile()
        code = eexec.encrypt(bytes(4) + string.bytecode, 4330)[0]
        private += b"/%s %d RD %s ND\n" % (glyph.encode(), len(code), code)
    private += b"end\nend\nreadonly put\nnoaccess put\ndup /FontName get exch definefont pop\n"
    private += b"mark currentfile closefile\n"
    parts = (
        public.encode(),
        eexec.encrypt(b"rndm" + private, 55665)[0],
        (b"0" * 64 + b"\n") * 8 + b"cleartomark\n",
    )
    return [len(part) for part in parts], b"".join(parts)


def type1(document, descriptor="<< >>", remove_descriptor=(), entries="<< >>"):
    """Makes a Type 1 font with the characters A and B."""
    lengths, data = type1_data()
    name = Name("/ABCDEK+Boxes")
    described = document.object(DESCRIPTOR, name=name, flags=32)
    described.FontFile = document.stream(data, Length1=lengths[0], Length2=lengths[1], Length3=lengths[2])
    changed(document, described, descriptor, remove_descriptor)
    font = document.object(
        SIMPLE,
        kind=Name.Type1,
        name=name,
        widths=Array([DRAWN_WIDTH] * 2),
        descriptor=described,
        characters=document.stream(character_map({A: A, B: B})),
    )
    return document.update(font, entries)


def boxes(document, entries="<< >>", remove=()):
    """Makes a font whose glyph is drawn by operators (Type 3)."""
    return changed(document, document.drawn_font("0 0 9 9 re f", Dictionary()), entries, remove)
