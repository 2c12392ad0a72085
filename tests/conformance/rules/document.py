"""A small tagged document that conforms to PDF/A-2b (or 3b) and PDF/UA-1, for breaches to be put into."""

import io
import re
from functools import cache
from pathlib import Path

import pikepdf
from fontTools import subset
from fontTools.ttLib import TTFont
from PIL import ImageCms
from pikepdf import Array, Dictionary, Name, Stream

FONT = Path(__file__).resolve().parents[3] / "assets" / "fonts" / "LiberationSans-Regular.ttf"
CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz 0123456789.,"

DESCRIPTOR = """<< /Type /FontDescriptor /FontName @name /Flags @flags /FontBBox [-200 -300 1200 1000]
    /ItalicAngle 0 /Ascent 900 /Descent -200 /CapHeight 700 /StemV 80 >>"""

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
EXTENSION = "http://www.aiim.org/pdfa/ns/"
PACKET = f"""<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="{RDF}">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/">
%(properties)s
</rdf:Description>
%(more)s
<rdf:Description rdf:about="" xmlns:pdfaExtension="{EXTENSION}extension/"
    xmlns:pdfaSchema="{EXTENSION}schema#" xmlns:pdfaProperty="{EXTENSION}property#"
    xmlns:pdfaType="{EXTENSION}type#" xmlns:pdfaField="{EXTENSION}field#">
<pdfaExtension:schemas><rdf:Bag>
<rdf:li rdf:parseType="Resource"><pdfaSchema:schema>PDF/UA</pdfaSchema:schema>
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">
<pdfaProperty:name>part</pdfaProperty:name><pdfaProperty:valueType>Integer</pdfaProperty:valueType>
<pdfaProperty:category>internal</pdfaProperty:category>
<pdfaProperty:description>part</pdfaProperty:description>
</rdf:li></rdf:Seq></pdfaSchema:property></rdf:li>
%(schemas)s
</rdf:Bag></pdfaExtension:schemas></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""

TITLE = '<dc:title><rdf:Alt><rdf:li xml:lang="x-default">T</rdf:li></rdf:Alt></dc:title>'
PDFA = "<pdfaid:part>%s</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>"
PDFUA = "<pdfuaid:part>1</pdfuaid:part>"

TEXT_KEYS = "<< /T (field) /TU (field) >>"


def metadata(part="2", properties=None, more="", schemas=""):
    """Gives the XMP metadata of the document; `more` are further descriptions, `schemas` further schemas."""
    if properties is None:
        properties = TITLE + PDFA % part + PDFUA
    return (PACKET % {"properties": properties, "more": more, "schemas": schemas}).encode()


@cache
def font_data():
    """Gives the TrueType font of the document, with few characters and without features."""
    font = TTFont(FONT)
    options = subset.Options(
        layout_features=[],
        name_IDs=[1, 2],
        notdef_outline=True,
        legacy_cmap=True,
        symbol_cmap=True,
        hinting=False,
    )
    options.drop_tables += ["FFTM"]
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=CHARACTERS)
    subsetter.subset(font)
    data = io.BytesIO()
    font.save(data)
    return data.getvalue()


@cache
def font_widths():
    """Gives the widths of the characters of the font in thousandths, by character code."""
    font = TTFont(io.BytesIO(font_data()))
    scale = 1000 / font["head"].unitsPerEm
    return {code: round(font["hmtx"][glyph][0] * scale) for code, glyph in font.getBestCmap().items()}


@cache
def font_glyphs():
    """Gives the numbers of the glyphs of the font, by character code."""
    font = TTFont(io.BytesIO(font_data()))
    return {code: font.getGlyphID(glyph) for code, glyph in font.getBestCmap().items()}


@cache
def color_profile(space=b"RGB ", device_class=b"mntr", version=None):
    """Gives an sRGB profile whose header says it is for another color space, class or version."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    profile[12:16] = device_class
    profile[16:20] = space
    if version:
        profile[8:12] = bytes([version, 0, 0, 0])
    return bytes(profile)


def character_map(codes, length=1):
    """Gives a ToUnicode map from codes of `length` bytes to characters: numbers, or UTF-16 in hexadecimal."""
    digits = 2 * length
    lines = [
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap",
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def",
        "/CMapName /Characters def /CMapType 2 def",
        f"1 begincodespacerange <{'0' * digits}> <{'F' * digits}> endcodespacerange",
    ]
    entries = []
    for code, character in codes.items():
        text = character if isinstance(character, str) else f"{character:04X}"
        entries.append(f"<{code:0{digits}X}> <{text}>")
    for start in range(0, len(entries), 100):
        part = entries[start : start + 100]
        lines += [f"{len(part)} beginbfchar", *part, "endbfchar"]
    lines.append("endcmap CMapName currentdict /CMap defineresource pop end end")
    return "\n".join(lines)


def renewed_table(data):
    """Writes the table of cross-references anew, after a change of bytes before it."""
    table = data.rindex(b"\nxref") + 1
    trailer = data.index(b"trailer", table)
    end = data.index(b"startxref", trailer)
    offsets = {int(found[1]): found.start() for found in re.finditer(rb"(?m)^(\d+) +0 +obj", data[:table])}
    count = max(offsets) + 1
    lines = [b"xref\n0 %d\n0000000000 65535 f \n" % count]
    for number in range(1, count):
        used = number in offsets
        lines.append(b"%010d 00000 n \n" % offsets[number] if used else b"0000000000 65535 f \n")
    return data[:table] + b"".join(lines) + data[trailer:end] + b"startxref\n%d\n%%%%EOF\n" % table


class Document:
    """A tagged page with two paragraphs: in a simple font (`F1`), and in one with wide codes (`F2`)."""

    def __init__(self, part="2"):
        self.part = part
        self.pdf = pikepdf.new()
        self.options = {}
        self.change_bytes = None
        self.marks = 0
        self.names = 0
        self.line = 750
        self.catalog = self.pdf.Root
        self.profile = self.stream(color_profile(), N=3)
        self.intent = self.object(
            "<< /Type /OutputIntent /S /GTS_PDFA1 /OutputConditionIdentifier (sRGB) "
            "/DestOutputProfile @profile >>",
            profile=self.profile,
        )
        self.simple_font = self.make_simple_font()
        self.wide_font = self.make_wide_font()
        self.make_page()
        self.make_catalog()
        self.make_tags()

    # Objects

    def value(self, text, **objects):
        """Reads a value in the syntax of PDF, in which `@name` stands for an object (`@form`: an empty one).

        An object may be given as a function, which makes it for the document.
        """
        parsed = pikepdf.Object.parse(text.replace("@", "/@").encode("latin-1"))
        return self.with_objects(parsed, objects)

    def with_objects(self, value, objects):
        """Replaces the names `@name` in a value by objects."""
        if isinstance(value, Name) and str(value).startswith("/@"):
            name = str(value)[2:]
            if name not in objects and name == "form":
                return self.form("")
            given = objects[name]
            return given(self) if callable(given) else given
        if isinstance(value, Dictionary):
            for key in list(value.keys()):
                value[key] = self.with_objects(value[key], objects)
        elif isinstance(value, Array):
            for index in range(len(value)):
                value[index] = self.with_objects(value[index], objects)
        return value

    def object(self, text, **objects):
        """Makes an object of the file of a value in the syntax of PDF."""
        return self.pdf.make_indirect(self.value(text, **objects))

    def stream(self, data, **entries):
        """Makes a stream with entries of its dictionary."""
        made = Stream(self.pdf, data if isinstance(data, bytes) else data.encode("latin-1"))
        for key, value in entries.items():
            made["/" + key] = value
        return self.pdf.make_indirect(made)

    def update(self, target, text, **objects):
        """Sets entries of a dictionary or stream, given in the syntax of PDF."""
        for key, value in self.value(text, **objects).items():
            target[key] = value
        return target

    def remove(self, target, *keys):
        """Removes entries of a dictionary."""
        for key in keys:
            del target["/" + key]

    def form(self, operators, resources=None, **entries):
        """Makes a form, which is drawn with `Do`."""
        form = self.stream(operators, Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 100, 100]))
        form.Resources = Dictionary() if resources is None else resources
        for key, value in entries.items():
            form["/" + key] = value
        return form

    # Parts of the document

    def descriptor(self, name, flags, data=None):
        """Makes the descriptor of an embedded TrueType font."""
        data = font_data() if data is None else data
        descriptor = self.object(DESCRIPTOR, name=Name("/" + name), flags=flags)
        descriptor.FontFile2 = self.stream(data, Length1=len(data))
        return descriptor

    def make_simple_font(self):
        """Makes the TrueType font of the first paragraph."""
        widths = Array([font_widths().get(code, 0) for code in range(32, 127)])
        return self.object(
            "<< /Type /Font /Subtype /TrueType /BaseFont /ABCDEF+Sans /FirstChar 32 /LastChar 126 "
            "/Widths @widths "
            "/Encoding /WinAnsiEncoding /FontDescriptor @descriptor /ToUnicode @characters >>",
            widths=widths,
            descriptor=self.descriptor("ABCDEF+Sans", 32),
            characters=self.stream(character_map({code: code for code in range(32, 127)})),
        )

    def make_wide_font(self):
        """Makes the font of the second paragraph, with two bytes a character."""
        glyphs, widths = font_glyphs(), Array()
        for code in sorted(glyphs, key=glyphs.get):
            widths.extend([glyphs[code], Array([font_widths()[code]])])
        characters = {glyph: code for code, glyph in glyphs.items()}
        descendant = self.object(
            "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /ABCDEG+Sans "
            "/FontDescriptor @descriptor /W @widths "
            "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 1000 "
            "/CIDToGIDMap /Identity >>",
            descriptor=self.descriptor("ABCDEG+Sans", 4),
            widths=widths,
        )
        return self.object(
            "<< /Type /Font /Subtype /Type0 /BaseFont /ABCDEG+Sans /Encoding /Identity-H "
            "/DescendantFonts [@descendant] /ToUnicode @characters >>",
            descendant=descendant,
            characters=self.stream(character_map(characters, 2)),
        )

    def make_page(self):
        """Makes the page, without content yet."""
        page = self.object(
            "<< /Type /Page /MediaBox [0 0 595 842] /StructParents 0 /Tabs /S /Contents [] "
            "/Resources << /Font << /F1 @simple /F2 @wide >> >> >>",
            simple=self.simple_font,
            wide=self.wide_font,
        )
        self.pdf.pages.append(pikepdf.Page(page))
        self.page = self.pdf.pages[0].obj
        self.resources = self.page.Resources

    def make_catalog(self):
        """Sets the entries of the document itself."""
        self.update(
            self.catalog,
            "<< /Lang (en) /MarkInfo << /Marked true >> /OutputIntents [@intent] "
            "/ViewerPreferences << /DisplayDocTitle true >> >>",
            intent=self.intent,
        )
        self.set_metadata(metadata(self.part))
        self.pdf.trailer.Info = self.object("<< /Title (T) >>")
        self.info = self.pdf.trailer.Info

    def make_tags(self):
        """Makes the structure, with the two paragraphs in it."""
        self.marked = self.pdf.make_indirect(Array())
        self.parents = self.object("<< /Nums [0 @marked] >>", marked=self.marked)
        self.next_parent = 1
        self.tags = self.object(
            "<< /Type /StructTreeRoot /K [] /ParentTree @parents /ParentTreeNextKey 1 >>",
            parents=self.parents,
        )
        self.catalog.StructTreeRoot = self.tags
        self.top = self.tag(self.tags, "Document")
        self.tag(self.top, "P", text="Hello")
        self.tag(self.top, "P", text="World", font="F2")

    # Additions

    def set_metadata(self, data):
        """Sets the XMP metadata of the document."""
        self.catalog.Metadata = self.stream(data, Type=Name.Metadata, Subtype=Name.XML)

    def add_content(self, operators):
        """Adds a stream to the content of the page."""
        self.page.Contents.append(self.stream(operators))

    def add_artifact(self, operators):
        """Adds content to the page that is no part of the structure."""
        self.add_content(f"/Artifact BMC q {operators} Q EMC\n")

    def add_resource(self, kind, value, name=None):
        """Adds a resource to the page and gives its name."""
        if name is None:
            self.names += 1
            name = f"X{self.names}"
        if "/" + kind not in self.resources:
            self.resources["/" + kind] = Dictionary()
        self.resources["/" + kind]["/" + name] = value
        return name

    def add_object(self, value):
        """Draws an external object on the page."""
        self.add_artifact(f"/{self.add_resource('XObject', value)} Do")

    def tag(self, parent, kind, text=None, font="F1", mark=None, entries="<< >>"):
        """Adds an element to the structure, with a line of text where there is one."""
        element = self.object(
            "<< /Type /StructElem /S @kind /P @parent /K [] >>", kind=Name("/" + kind), parent=parent
        )
        self.update(element, entries)
        parent.K.append(element)
        if text is not None:
            self.add_text(element, text, font, mark)
        return element

    def add_text(self, element, text, font="F1", mark=None, properties=""):
        """Adds a line of text that is an element of the structure."""
        self.line -= 14
        mark = mark or str(element.S)[1:]
        number = self.bind_mark(element)
        codes = f"({text})" if font == "F1" else f"<{wide_codes(text)}>"
        self.add_content(
            f"/{mark} << /MCID {number} {properties} >> BDC "
            f"BT /{font} 10 Tf 50 {self.line} Td {codes} Tj ET EMC\n"
        )

    def bind_mark(self, element):
        """Gives the number of the next marked part of the page, which is the element's."""
        number = self.marks
        self.marks += 1
        element.K.append(number)
        element[Name.Pg] = self.page
        self.marked.append(element)
        return number

    def bind_parent(self, value):
        """Adds an entry to the tree of parents and gives its number."""
        number = self.next_parent
        self.next_parent += 1
        self.parents.Nums.extend([number, value])
        return number

    def bind_annotation(self, element, annotation):
        """Says that the annotation is the element's."""
        element.K.append(Dictionary(Type=Name.OBJR, Obj=annotation, Pg=self.page))
        annotation.StructParent = self.bind_parent(element)

    def annotation(self, entries, tagged=True, **objects):
        """Adds an annotation (a stamp, unless the entries say otherwise) to the page and to the structure."""
        annotation = self.object(
            "<< /Type /Annot /Subtype /Stamp /Rect [0 0 50 50] /F 4 /Contents (x) " "/AP << /N @form >> >>"
        )
        self.update(annotation, entries, **objects)
        if Name.Annots not in self.page:
            self.page.Annots = Array()
        self.page.Annots.append(annotation)
        if tagged:
            kind = {"/Link": "Link", "/Widget": "Form"}.get(str(annotation.Subtype), "Annot")
            parent = self.tag(self.top, "P") if kind == "Link" else self.top
            self.bind_annotation(self.tag(parent, kind), annotation)
        return annotation

    def field(self, entries="<< /FT /Tx >>", tagged=True, **objects):
        """Adds a field (of text, unless the entries say otherwise) with its annotation to the page."""
        field = self.annotation("<< /Subtype /Widget >>", tagged=False)
        self.update(self.update(field, TEXT_KEYS), entries, **objects)
        if tagged:
            self.bind_annotation(self.tag(self.top, "Form"), field)
        self.set_fields(field)
        return field

    def set_fields(self, *fields, entries="<< >>", **objects):
        """Sets the form of fields of the document."""
        self.catalog.AcroForm = Dictionary(Fields=Array(fields))
        self.update(self.catalog.AcroForm, entries, **objects)

    def drawn_font(self, operators, resources):
        """Makes a font (Type 3) whose character `A` is drawn by the operators."""
        return self.object(
            "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [.001 0 0 .001 0 0] "
            "/FirstChar 65 "
            "/LastChar 65 /Widths [1000] /Encoding << /Type /Encoding /Differences [65 /A] >> "
            "/CharProcs << /A @glyph >> /Resources @resources /ToUnicode @characters >>",
            glyph=self.stream("1000 0 d0 " + operators),
            resources=resources,
            characters=self.stream(character_map({65: 65})),
        )

    def draw(self, place, operators, resources=None):
        """Draws something in a place: on the page, or in a form, a pattern, an annotation, a glyph."""
        resources = Dictionary() if resources is None else resources
        getattr(self, "draw_in_" + place.replace("-", "_"))(f"q {operators} Q", resources)

    def draw_in_page(self, operators, resources):
        for kind, entries in resources.items():
            for name, value in entries.items():
                self.add_resource(kind[1:], value, name[1:])
        self.add_artifact(operators)

    def draw_in_indirect_page(self, operators, resources):
        self.draw_in_page(operators, resources)
        self.page.Resources = self.indirect(self.resources)

    def draw_in_inherited_page(self, operators, resources):
        self.draw_in_page(operators, resources)
        self.catalog.Pages.Resources = self.resources
        self.remove(self.page, "Resources")

    def draw_in_form(self, operators, resources):
        self.add_object(self.form(operators, resources))

    def draw_in_indirect_form(self, operators, resources):
        self.add_object(self.form(operators, self.indirect(resources)))

    def draw_in_nested_form(self, operators, resources):
        inner = self.form(operators, resources)
        self.add_object(self.form("/Inner Do", self.value("<< /XObject << /Inner @inner >> >>", inner=inner)))

    def draw_in_pattern(self, operators, resources):
        pattern = self.stream(operators)
        self.update(
            pattern,
            "<< /Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 50 50] "
            "/XStep 50 /YStep 50 /Resources @resources >>",
            resources=resources,
        )
        self.add_artifact(f"/Pattern cs /{self.add_resource('Pattern', pattern)} scn 0 0 100 100 re f")

    def draw_in_annotation(self, operators, resources):
        self.annotation("<< /AP << /N @drawn >> >>", drawn=self.form(operators, resources))

    def draw_in_button(self, operators, resources):
        self.field(
            "<< /FT /Btn /AS /On /AP << /N << /On @drawn /Off @form >> >> >>",
            drawn=self.form(operators, resources),
        )

    def draw_in_glyph(self, operators, resources):
        self.show_text(self.drawn_font(operators, resources))

    def indirect(self, resources):
        """Makes the resources, and each kind of them, objects of their own."""
        for kind in list(resources.keys()):
            resources[kind] = self.pdf.make_indirect(resources[kind])
        return self.pdf.make_indirect(resources)

    def show_text(self, font, codes="(A)", before=""):
        """Shows text in a font on the page."""
        name = self.add_resource("Font", font)
        self.add_artifact(f"BT /{name} 20 Tf {before} 50 60 Td {codes} Tj ET")

    def write(self, path):
        """Writes the file."""
        options = {
            "object_stream_mode": pikepdf.ObjectStreamMode.disable,
            "compress_streams": False,
            "stream_decode_level": pikepdf.StreamDecodeLevel.none,
            "deterministic_id": True,
            "force_version": "1.7",
            "fix_metadata_version": False,
        }
        data = io.BytesIO()
        self.pdf.save(data, **{**options, **self.options})
        data = data.getvalue()
        Path(path).write_bytes(self.change_bytes(data) if self.change_bytes else data)


def wide_codes(text):
    """Gives the codes of text in the font with two bytes a character, in hexadecimal."""
    return "".join(f"{font_glyphs()[ord(character)]:04X}" for character in text)
