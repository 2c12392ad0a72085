"""Breaches of the rules for pictures: in streams, inside of content, and of JPEG 2000 (6.2.8)."""

import io
import struct
from functools import cache

from PIL import Image

from breach import EVERY_PLACE, FEW_PLACES, MAIN_PLACES, PLACES, add_drawn

PICTURE = "<< /XObject << /Picture @picture >> >>"


def picture(entries="<< >>", data=b"\0", **objects):
    """Gives a function that makes a gray picture of one dot, with other entries."""

    def make(document):
        stream = document.stream(data)
        document.update(
            stream,
            "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray "
            "/BitsPerComponent 8 >>",
        )
        return document.update(stream, entries, **objects)

    return make


def mask(entries, data=b"\0"):
    """Gives a function that makes a mask of one dot, with other entries."""

    def make(document):
        stream = document.stream(data)
        document.update(stream, "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ImageMask true >>")
        return document.update(stream, entries)

    return make


def add_picture(rule, name, made, places=PLACES):
    """Adds a breach by a picture that is drawn."""
    add_drawn(rule, f"picture-{name}", "/Picture Do", PICTURE, places=places, picture=made)


def indirect(text):
    """Gives a function that makes an object of the file."""
    return lambda document: document.object(text)


add_picture("6.2.6-1", "with-intent", picture("<< /Intent /Unknown >>"), places=MAIN_PLACES)
add_picture("6.2.8-1", "with-alternates", picture("<< /Alternates [] >>"), places=MAIN_PLACES)
add_picture("6.2.8-2", "with-prepress", picture("<< /OPI << >> >>"), places=MAIN_PLACES)
add_picture("6.2.8-3", "interpolated", picture("<< /Interpolate true >>"), places=EVERY_PLACE)
add_picture("6.2.8-4", "of-3-bits", picture("<< /BitsPerComponent 3 >>"))
add_picture(
    "6.2.8-3",
    "interpolated-indirectly",
    picture("<< /Interpolate @true >>", true=indirect("true")),
    places=("page",),
)
add_picture(
    "6.2.8-4",
    "of-3-bits-indirectly",
    picture("<< /BitsPerComponent @three >>", three=indirect("3")),
    places=("page",),
)
add_picture(
    "6.2.8-3",
    "with-interpolated-transparency",
    picture("<< /SMask @mask >>", mask=picture("<< /Interpolate true >>")),
    places=MAIN_PLACES,
)
add_picture(
    "6.2.8-3",
    "with-interpolated-mask",
    picture("<< /Mask @mask >>", mask=mask("<< /BitsPerComponent 1 /Interpolate true >>")),
    places=FEW_PLACES,
)
add_picture(
    "6.2.8-5",
    "with-mask-of-2-bits",
    picture("<< /Mask @mask >>", mask=mask("<< /BitsPerComponent 2 >>")),
    places=MAIN_PLACES,
)

INLINE = "BI /W 1 /H 1 /CS /G /BPC {bits} {entry} ID x EI"
add_drawn("6.2.6-1", "inline-with-intent", INLINE.format(bits=8, entry="/Intent /Unknown"))
add_drawn("6.2.8-3", "inline-interpolated", INLINE.format(bits=8, entry="/I true"))
add_drawn(
    "6.2.8-3",
    "inline-interpolated-in-full",
    INLINE.format(bits=8, entry="/Interpolate true"),
    places=MAIN_PLACES,
)
add_drawn("6.2.8-4", "inline-of-5-bits", INLINE.format(bits=5, entry=""), places=MAIN_PLACES)


# JPEG 2000: a file is a list of boxes, each of a kind and data, and the box `jp2h` is one of boxes itself


@cache
def jpeg2000(mode):
    """Gives a JPEG 2000 picture of 8 × 8 dots."""
    data = io.BytesIO()
    Image.new(mode, (8, 8)).save(data, "JPEG2000")
    return data.getvalue()


def read_boxes(data):
    """Gives the boxes of data as pairs of kind and data."""
    boxes, start = [], 0
    while start < len(data):
        length, kind = struct.unpack(">I4s", data[start : start + 8])
        length = length or len(data) - start
        boxes.append((kind, data[start + 8 : start + length]))
        start += length
    return boxes


def write_boxes(boxes):
    return b"".join(struct.pack(">I4s", len(data) + 8, kind) + data for kind, data in boxes)


def with_header(change, mode="RGB"):
    """Gives a JPEG 2000 picture whose boxes of the header are changed."""
    boxes = []
    for kind, data in read_boxes(jpeg2000(mode)):
        boxes.append((kind, write_boxes(change(read_boxes(data))) if kind == b"jp2h" else data))
    return write_boxes(boxes)


def with_colors(*colors, mode="RGB"):
    """Gives a JPEG 2000 picture with other boxes that say what its colors are."""

    def change(boxes):
        return [box for box in boxes if box[0] != b"colr"] + [(b"colr", color) for color in colors]

    return with_header(change, mode)


def color(space, method=1, approximation=0):
    """Gives the data of a box for a color space by its number."""
    return bytes([method, 0, approximation]) + struct.pack(">I", space)


def with_size(start, value):
    """Gives a JPEG 2000 picture whose box for the size has other bytes."""

    def change(boxes):
        return [
            (kind, data[:start] + value + data[start + len(value) :] if kind == b"ihdr" else data)
            for kind, data in boxes
        ]

    return with_header(change)


def bare_codestream():
    """Gives a JPEG 2000 picture without its boxes."""
    return dict(read_boxes(jpeg2000("RGB")))[b"jp2c"]


GRAY, SRGB, CMYK, APPEARANCE = 17, 16, 12, 19
JPEG2000 = (
    ("6.2.8.3-1", "of-2-channels", jpeg2000("LA"), True),
    ("6.2.8.3-1", "of-5-channels", with_size(8, b"\0\5"), True),
    ("6.2.8.3-1", "bare", bare_codestream(), True),
    ("6.2.8.3-1", "that-is-none", b"garbage", True),
    ("6.2.8.3-2", "without-colors", with_colors(), False),
    ("6.2.8.3-2", "of-two-colors", with_colors(color(SRGB), color(GRAY)), False),
    ("6.2.8.3-2", "of-two-good-colors", with_colors(color(SRGB, 1, 1), color(SRGB, 1, 1)), False),
    ("6.2.8.3-3", "of-colors-by-method-5", with_colors(color(SRGB, 5)), False),
    ("6.2.8.3-4", "of-colors-by-appearance", with_colors(color(APPEARANCE)), False),
    ("6.2.8.3-5", "of-depths", with_header(lambda boxes: [*boxes, (b"bpcc", bytes([7, 7, 7]))]), True),
    ("6.2.8.3-5", "of-unknown-depth", with_size(10, b"\xff"), True),
    ("6.2.4.3-3", "of-cmyk", with_colors(color(CMYK), mode="RGBA"), False),
)


def jpeg2000_stream(data, entries="<< >>"):
    """Gives a function that makes a picture of JPEG 2000."""

    def make(document):
        stream = document.stream(data)
        document.update(stream, "<< /Type /XObject /Subtype /Image /Width 8 /Height 8 /Filter /JPXDecode >>")
        return document.update(stream, entries)

    return make


for rule, name, data, also_with_space in JPEG2000:
    add_picture(rule, f"jpeg2000-{name}", jpeg2000_stream(data), places=("page", "glyph"))
    if also_with_space:
        made = jpeg2000_stream(data, "<< /Filter [/JPXDecode] /ColorSpace /DeviceRGB >>")
        add_drawn(
            rule,
            f"picture-jpeg2000-{name}-with-space",
            "/Picture Do",
            PICTURE,
            places=("page",),
            picture=made,
        )
