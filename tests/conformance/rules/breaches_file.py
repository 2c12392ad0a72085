"""Breaches of the rules for the file itself: its header, trailer, objects, streams and limits (6.1)."""

import re

import pikepdf
from pikepdf import Array, Dictionary, Name, String

from breach import FEW_PLACES, MAIN_PLACES, add, add_bytes, add_drawn, add_entries, breach, replace_bytes
from document import renewed_table

LONG_TEXT = "a" * 32768
LONG_NAME = "n" * 128
LARGE_REAL = "1" + "0" * 39 + ".0"
TINY_REAL = "0." + "0" * 38 + "1"
LZW_DATA = bytes([0x80, 0x0B, 0x60, 0x50, 0x22, 0x0C, 0x0C, 0x85, 0x01])


def replace_pattern(pattern, new):
    """Gives a function that replaces the first place that a pattern matches."""

    def change(data):
        changed, count = re.subn(pattern, new, data, count=1)
        assert count, pattern
        return changed

    return change


# Header and trailer
add_bytes("6.1.2-1", "header-of-2.0", replace_bytes(b"%PDF-1.7", b"%PDF-2.0"))
add_bytes("6.1.2-1", "header-of-1.9", replace_bytes(b"%PDF-1.7", b"%PDF-1.9"))
add_bytes("6.1.2-1", "header-and-more", replace_bytes(b"%PDF-1.7", b"%PDF-1.7 x"), renew=True)
add_bytes("6.1.2-1", "junk-before-header", lambda data: b"junk\n" + data)
add_bytes("6.1.2-2", "no-binary-comment", replace_pattern(rb"(%PDF-1.7\n)%[^\n]*\n", rb"\1"), renew=True)
add_bytes("6.1-1", "header-of-2.0", replace_bytes(b"%PDF-1.7", b"%PDF-2.0"), flavour="ua1")
IDENTIFIER = rb"/ID ?\[[^\]]*\]"
add_bytes("6.1.3-1", "no-identifier", replace_pattern(IDENTIFIER, b""))
add_bytes("6.1.3-1", "empty-identifier", replace_pattern(IDENTIFIER, b"/ID [<><>]"))
add_bytes("6.1.3-1", "number-as-identifier", replace_pattern(IDENTIFIER, b"/ID 3"))
add_bytes("6.1.3-3", "junk-after-the-end", lambda data: data + b"junk data after")
add_bytes("6.1.4-2", "space-after-xref", replace_bytes(b"\nxref\n", b"\nxref \n"))
add_bytes("6.1.4-2", "empty-line-after-xref", replace_bytes(b"\nxref\n", b"\nxref\n\n"))

# Strings, streams and objects
add_bytes("6.1.6-1", "odd-number-of-digits", replace_bytes(b"/Lang (en)", b"/Lang <656E2>"), renew=True)
add_bytes("6.1.6-2", "digits-that-are-none", replace_bytes(b"/Lang (en)", b"/Lang <65zz6E>"), renew=True)
add_bytes(
    "6.1.7.1-1",
    "wrong-length",
    replace_pattern(rb"/Length \d+ >>\nstream\n/P", b"/Length 5 >>\nstream\n/P"),
    renew=True,
)
add_bytes(
    "6.1.7.1-2",
    "stream-after-carriage-return",
    replace_pattern(rb">>\nstream\n/P", b">>\nstream\r/P"),
    renew=True,
)
add_bytes(
    "6.1.9-1",
    "two-spaces-in-object",
    replace_pattern(rb"(?m)^(\d+) 0 obj\n<<", rb"\1  0 obj\n<<"),
    renew=True,
)
add_bytes("6.1.9-1", "no-line-before-endobj", replace_pattern(rb"\nendobj\n", rb" endobj "), renew=True)


@breach("6.1.3-2", "encrypted")
def encrypt(document):
    """The file is encrypted."""
    document.options = {
        "encryption": pikepdf.Encryption(owner="o", user="", R=4),
        "deterministic_id": False,
        "stream_decode_level": None,
    }


def add_outside(key, value):
    """Adds a breach by a stream whose data is outside of the file."""

    def change(document):
        document.page.Contents.append(document.stream(b"", **{key: value}))

    add("6.1.7.1-3", f"stream-with-{key}", change)


add_outside("F", String("x.bin"))
add_outside("FFilter", Name.FlateDecode)
add_outside("FDecodeParms", Dictionary())


def private(document, value):
    """Puts a value in the private data of the page, where only the rules for objects look."""
    document.page.PieceInfo = document.value(
        "<< /X << /Private @value /LastModified (D:20200101) >> >>", value=value
    )


def add_filter(name, filters, data=b"x", **objects):
    """Adds a breach by a filter."""

    def change(document):
        stream = document.stream(data)
        document.update(stream, filters, **objects)
        private(document, stream)

    add("6.1.7.2-1", name, change)


add_filter("lzw", "<< /Filter /LZWDecode >>", LZW_DATA)
add_filter("lzw-in-list", "<< /Filter [/ASCIIHexDecode /LZWDecode] >>", LZW_DATA.hex().encode() + b">")
add_filter(
    "indirect-lzw", "<< /Filter @filter >>", LZW_DATA, filter=lambda document: document.object("/LZWDecode")
)
add_filter("unknown-filter", "<< /Filter /Unknown >>")
add_filter("abbreviated-filter", "<< /Filter /AHx >>", b"00>")

INLINE = "BI /W 1 /H 1 /CS /G /BPC 8 /F {filter} ID {data} EI"
add_drawn("6.1.10-1", "lzw", INLINE.format(filter="/LZW", data="\x80\x0b\x60\x50\x22"))
add_drawn(
    "6.1.10-1",
    "lzw-in-list",
    INLINE.format(filter="[/AHx /LZWDecode]", data="800B605022>"),
    places=FEW_PLACES,
)
add_drawn("6.1.10-1", "crypt", INLINE.format(filter="/Crypt", data="x"), places=FEW_PLACES)
add_drawn("6.1.10-1", "unknown-filter", INLINE.format(filter="/Unknown", data="x"), places=FEW_PLACES)


# Names that are not in UTF-8: the file is made with `ZZZZ`, which becomes a wrong name of the same length


def wrong_name(document):
    """Makes each name `ZZZZ` one that is not in UTF-8."""
    document.change_bytes = lambda data: renewed_table(data.replace(b"/ZZZZ", b"/Z#E4Z"))


@breach("6.1.8-1", "name-of-font")
def wrong_font_name(document):
    """The name of a font is not in UTF-8."""
    wrong_name(document)
    document.simple_font.BaseFont = Name.ZZZZ
    document.simple_font.FontDescriptor.FontName = Name.ZZZZ


@breach("6.1.8-1", "name-of-colorant")
def wrong_colorant_name(document):
    """The name of a colorant is not in UTF-8."""
    wrong_name(document)
    tint = "<< /FunctionType 2 /Domain [0 1] /C0 [1 1 1] /C1 [1 0 0] /N 1 >>"
    document.draw(
        "page",
        "/S cs 1 scn 0 0 9 9 re f",
        document.value(f"<< /ColorSpace << /S [/Separation /ZZZZ /DeviceRGB {tint}] >> >>"),
    )


@breach("6.1.8-1", "name-of-tag")
def wrong_tag_name(document):
    """The name of a tag is not in UTF-8."""
    wrong_name(document)
    document.tags.RoleMap = Dictionary(ZZZZ=Name.P)
    document.tag(document.top, "ZZZZ", text="a", mark="P")


# Limits


def add_raw(rule, name, raw):
    """Adds a breach by a value beyond a limit, in a dictionary and deeper."""
    for place, text in (("dictionary", "<< /V /ZZZZ >>"), ("list", "[<< /V [/ZZZZ] >>]")):

        def change(document, text=text):
            private(document, document.value(text))
            document.change_bytes = lambda data: renewed_table(data.replace(b"/ZZZZ", raw.encode()))

        add(rule, f"{name}-in-{place}", change)


add_raw("6.1.13-1", "large-integer", "2147483648")
add_raw("6.1.13-1", "small-integer", "-2147483649")
add_raw("6.1.13-1", "enormous-integer", "99999999999999999999999")
add_raw("6.1.13-2", "large-real", LARGE_REAL)
add_raw("6.1.13-5", "tiny-real", TINY_REAL)
add_raw("6.1.13-3", "long-string", f"({LONG_TEXT})")
add_raw("6.1.13-3", "long-hexadecimal-string", f"<{'61' * 32768}>")
add_raw("6.1.13-4", "long-name", f"/{LONG_NAME}")
add_raw("6.1.13-4", "long-key", f"<< /{LONG_NAME} 1 >>")
add_raw("6.1.13-4", "long-escaped-name", "/" + "#6e" * 128)

add_drawn("6.1.13-1", "large-integer", "2147483648 0 m 0 0 l S", places=MAIN_PLACES)
add_drawn("6.1.13-2", "large-real", f"{LARGE_REAL} 0 m 0 0 l S", places=MAIN_PLACES)
add_drawn("6.1.13-5", "tiny-real", f"{TINY_REAL} 0 m 0 0 l S", places=MAIN_PLACES)
add_drawn("6.1.13-3", "long-string", f"/P << /X ({LONG_TEXT}) >> BDC EMC", places=MAIN_PLACES)
add_drawn("6.1.13-4", "long-name", f"/{LONG_NAME} BMC EMC", places=MAIN_PLACES)
add_drawn(
    "6.1.13-4",
    "long-name-of-resource",
    f"/{LONG_NAME} gs",
    f"<< /ExtGState << /{LONG_NAME} << /LW 1 >> >> >>",
    places=("page",),
)
add_drawn(
    "6.1.13-8",
    "29-saved-states",
    "q " * 29 + "0 0 9 9 re f" + " Q" * 29,
    places=MAIN_PLACES + ("nested-form",),
)
add_drawn("6.1.13-8", "27-saved-states-and-two", "q " * 27 + "0 0 9 9 re f" + " Q" * 27, places=("page",))


@breach("6.1.13-8", "saved-states-in-several-streams")
def save_states(document):
    """States are saved too often, in several streams of content together."""
    document.add_content("/Artifact BMC " + "q " * 20)
    document.add_content("q " * 10 + "0 0 9 9 re f")
    document.add_content("Q " * 30 + "EMC")


@breach("6.1.13-4", "long-name-of-font")
def long_font_name(document):
    """The name of a font is too long."""
    name = Name("/ABCDEF+" + LONG_NAME)
    document.simple_font.BaseFont = name
    document.simple_font.FontDescriptor.FontName = name


for key in ("Title", "Author", "Subject", "Creator", "Producer"):
    add_entries("6.1.13-3", f"long-{key}", "info", f"<< /{key} ({LONG_TEXT}) >>")


@breach("6.1.13-3", "long-description-of-link")
def long_contents(document):
    """The description of an annotation is too long."""
    document.annotation(f"<< /Subtype /Link /Contents ({LONG_TEXT}) >>")


@breach("6.1.13-3", "long-address")
def long_address(document):
    """The address of a link is too long."""
    document.annotation(f"<< /Subtype /Link /A << /S /URI /URI ({LONG_TEXT}) >> >>")


@breach("6.1.13-3", "long-alternative-text")
def long_alternative(document):
    """The alternative text of a picture is too long."""
    document.tag(document.top, "Figure", text="a", entries=f"<< /Alt ({LONG_TEXT}) >>")


for box in ("MediaBox", "CropBox", "BleedBox", "TrimBox", "ArtBox"):
    add_entries("6.1.13-11", f"small-{box}", "page", f"<< /{box} [0 0 2 2] >>")
    add_entries("6.1.13-11", f"large-{box}", "page", f"<< /{box} [0 0 14401 100] >>")
add_entries("6.1.13-11", "large-units", "page", "<< /UserUnit 10 /MediaBox [0 0 14500 14500] >>")


@breach("6.1.13-11", "inherited-large-MediaBox")
def inherit_box(document):
    """The page inherits a size that is too large."""
    document.catalog.Pages.MediaBox = Array([0, 0, 20000, 20000])
    document.remove(document.page, "MediaBox")


# Permissions and signatures

add_entries("6.1.12-1", "unknown-permission", "catalog", "<< /Perms << /Unknown << >> >> >>")
add_entries(
    "6.1.12-1",
    "usage-rights",
    "catalog",
    "<< /Perms @rights >>",
    rights=lambda document: document.object("<< /UR << /Type /Sig >> >>"),
)


def sign(document, contents="00" * 40):
    """Adds a signature (which signs nothing) to the document and gives it."""
    signature = document.object(
        "<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /adbe.pkcs7.detached /ByteRange [0 10 20 30] "
        f"/Contents <{contents}> >>"
    )
    document.field("<< /FT /Sig /Rect [0 0 0 0] /F 132 /V @signature >>", signature=signature)
    document.catalog.AcroForm.SigFlags = 3
    return signature


@breach("6.1.12-2", "digest-in-reference")
def digest_reference(document):
    """The signature of a permission has a reference with a digest."""
    signature = sign(document)
    document.update(
        signature,
        "<< /Reference [<< /Type /SigRef /TransformMethod /DocMDP /DigestMethod /MD5 "
        "/DigestValue (x) /TransformParams << /Type /TransformParams /P 2 /V /1.2 >> >>] >>",
    )
    document.catalog.Perms = Dictionary(DocMDP=signature)


@breach("6.4.3-1", "signed-range")
def wrong_range(document):
    """A signature does not sign the whole file."""
    sign(document)


@breach("6.4.3-1", "signed-range-without-type")
def wrong_range_without_type(document):
    """A signature without a type does not sign the whole file."""
    document.remove(sign(document), "Type")


def tagged(tag, body):
    """Gives an element of DER (with a short body) in hexadecimal."""
    return f"{tag}{len(body) // 2:02x}{body}"


@breach("6.4.3-2", "no-certificate")
def no_certificate(document):
    """A signature has no certificate in it."""
    signed_data = tagged("30", "020101" + "3100" + "300b06092a864886f70d010701" + "3100")
    sign(document, tagged("30", "06092a864886f70d010702" + tagged("a0", signed_data)))
