"""Breaches of the rules for metadata, in XMP and beside it (6.6)."""

import re

from pikepdf import Name

from breach import add, add_removal, breach
from document import PDFA, PDFUA, TITLE, metadata

HEADER = b'id="W5M0MpCehiHzreSzNTczkc9d"'
DESCRIPTION = '<rdf:Description rdf:about="" xmlns:{prefix}="{space}">{properties}</rdf:Description>'
ADOBE = "http://ns.adobe.com/"
IDENTIFIERS = "http://www.aiim.org/{}/ns/id/"


def add_metadata(rule, name, data, flavour="2b"):
    """Adds a breach by the metadata of the document."""
    add(rule, f"metadata-{name}", lambda document: document.set_metadata(data), flavour)


def described(prefix, space, properties):
    """Gives metadata with a further description."""
    return metadata(more=DESCRIPTION.format(prefix=prefix, space=space, properties=properties))


def replaced(old, new):
    """Gives metadata with something else in it."""
    data = metadata()
    assert old in data, old
    return data.replace(old, new)


ENCODED = replaced(HEADER, HEADER + b' encoding="UTF-8"')
add_removal("6.6.2.1-1", "no-metadata", "catalog", "Metadata")
add_removal("7.1-8", "no-metadata", "catalog", "Metadata", flavour="ua1")
add_metadata("6.6.2.1-2", "with-length", replaced(HEADER, HEADER + b' bytes="9"'))
add_metadata("6.6.2.1-3", "with-encoding", ENCODED)
add_metadata("6.6.2.1-4", "cut-off", replaced(b"</rdf:RDF>", b""))
add_metadata("6.6.2.1-4", "that-is-none", b"garbage")
add_metadata("6.6.2.1-4", "empty", b"")
add_metadata("6.6.2.1-5", "in-utf-16", metadata().decode().encode("utf-16"))
add_metadata("6.6.2.3.1-1", "with-unknown-property", described("q", "http://q/", "<q:a>1</q:a>"))
add_metadata(
    "6.6.2.3.1-1",
    "with-unknown-property-of-pdf",
    described(
        "pdf", ADOBE + "pdf/1.3/", "<pdf:PDFVersion>1.7\n&#x85;</pdf:PDFVersion><pdf:Unknown>1</pdf:Unknown>"
    ),
)
add_metadata(
    "6.6.2.3.1-2",
    "with-wrong-date",
    described("xmp", ADOBE + "xap/1.0/", "<xmp:CreateDate>x</xmp:CreateDate>"),
)
add_metadata(
    "6.6.2.3.1-2",
    "with-wrong-rights",
    described("dc", "http://purl.org/dc/elements/1.1/", "<dc:rights>(c)</dc:rights>"),
)
add_metadata("6.6.4-1", "without-identifier", metadata(properties=TITLE))
add_metadata("6.6.4-2", "of-part-1", metadata("1"))
add_metadata("6.6.4-2", "of-part-4", metadata("4"))
add_metadata("6.6.4-3", "of-unknown-conformance", replaced(b"conformance>B<", b"conformance>X<"))
add_metadata("6.6.4-4", "with-other-prefix", replaced(b"pdfaid", b"other"))
add_metadata(
    "6.6.4-6",
    "with-other-prefix-of-amendment",
    described("other", IDENTIFIERS.format("pdfa"), "<other:amd>1</other:amd><other:corr>1</other:corr>"),
)
add_metadata("5-1", "without-identifier", replaced(PDFUA.encode(), b""), "ua1")
add_metadata("5-2", "of-part-2", replaced(b"<pdfuaid:part>1<", b"<pdfuaid:part>2<"), "ua1")
add_metadata("5-3", "with-other-prefix", replaced(b"pdfuaid", b"other"), "ua1")
add_metadata(
    "5-4",
    "with-other-prefix-of-amendment",
    described("other", IDENTIFIERS.format("pdfua"), "<other:amd>1</other:amd><other:corr>1</other:corr>"),
    "ua1",
)


@breach("7.1-9", "no-title", "ua1")
def no_title(document):
    """The document has no title."""
    document.set_metadata(metadata(properties=PDFA % "2" + PDFUA))
    del document.pdf.trailer["/Info"]


# Metadata of other objects


def of_page(document, data):
    document.page.Metadata = data


def of_font(document, data):
    document.simple_font.FontDescriptor.FontFile2.Metadata = data


def of_form(document, data):
    document.add_object(document.form("", Metadata=data))


def of_profile(document, data):
    document.profile.Metadata = data


def add_other_metadata(rule, name, data, give):
    """Adds a breach by the metadata of an object."""

    def change(document):
        give(document, document.stream(data, Type=Name.Metadata, Subtype=Name.XML))

    add(rule, f"metadata-{give.__name__.replace('_', '-')}-{name}", change)


for give in (of_page, of_font, of_form, of_profile):
    add_other_metadata("6.6.2.1-4", "that-is-none", b"garbage", give)
    add_other_metadata("6.6.2.1-3", "with-encoding", ENCODED, give)

# Schemas of properties: each has a description of its own, of which a part is wrong
ITEM = '<rdf:li rdf:parseType="Resource">{}</rdf:li>'
SEQUENCE = "<rdf:Seq>" + ITEM + "</rdf:Seq>"


def elements(space, /, **values):
    """Gives elements with a prefix and their values."""
    return "".join(f"<{space}:{name}>{value}</{space}:{name}>" for name, value in values.items())


PROPERTY = elements("pdfaProperty", name="a", valueType="Text", category="internal", description="d")
FIELD = elements("pdfaField", name="f", valueType="Text", description="d")
TYPE = elements("pdfaType", type="ty", namespaceURI="http://t/", prefix="t", description="d")


def value_type(head=TYPE, field=FIELD):
    """Gives the description of a type of values with one field."""
    fields = elements("pdfaType", field=SEQUENCE.format(field))
    return elements("pdfaSchema", valueType=SEQUENCE.format(head + fields))


def schema(item=PROPERTY, types=""):
    """Gives metadata with a schema, and with a property that it describes."""
    head = elements(
        "pdfaSchema", schema="s", namespaceURI="http://q/", prefix="q", property=SEQUENCE.format(item)
    )
    return metadata(
        more=DESCRIPTION.format(prefix="q", space="http://q/", properties="<q:a>1</q:a>"),
        schemas=ITEM.format(head + types),
    )


def bag(data, element):
    """Makes the list in an element of the schema a bag instead of a sequence."""
    start = data.rindex(f"<{element}><rdf:Seq>".encode())
    end = data.index(f"</rdf:Seq></{element}>".encode(), start)
    return (
        data[:start]
        + f"<{element}><rdf:Bag>".encode()
        + data[start + len(f"<{element}><rdf:Seq>") : end]
        + f"</rdf:Bag></{element}>".encode()
        + data[end + len(f"</rdf:Seq></{element}>") :]
    )


def without(text, element):
    """Takes an element out of a description."""
    return re.sub(f"<{element}>.*?</{element}>", "", text)


add_metadata(
    "6.6.2.3.3-1",
    "schemas-in-a-sequence",
    replaced(b"<pdfaExtension:schemas><rdf:Bag>", b"<pdfaExtension:schemas><rdf:Seq>")
    .replace(b"</rdf:Bag>\n</pdfaExtension", b"</rdf:Seq>\n</pdfaExtension")
    .replace(b"</rdf:Bag></pdfaExtension", b"</rdf:Seq></pdfaExtension"),
)
add_metadata(
    "6.6.2.3.3-2",
    "schema-of-unknown-parts",
    metadata(schemas=ITEM.format("<pdfaSchema:unknown>1</pdfaSchema:unknown>")),
)
add_metadata("6.6.2.3.3-5", "properties-in-a-bag", bag(schema(), "pdfaSchema:property"))
add_metadata("6.6.2.3.3-6", "types-in-a-bag", bag(schema(types=value_type()), "pdfaSchema:valueType"))
add_metadata("6.6.2.3.3-15", "fields-in-a-bag", bag(schema(types=value_type()), "pdfaType:field"))
add_metadata("6.6.2.3.3-8", "property-of-unknown-type", schema(PROPERTY.replace("Text", "Unknown")))
add_metadata("6.6.2.3.3-9", "property-of-unknown-category", schema(PROPERTY.replace("internal", "unknown")))
for number, name in enumerate(("name", "valueType", "category", "description"), 7):
    add_metadata(
        f"6.6.2.3.3-{number}", f"property-without-{name}", schema(without(PROPERTY, f"pdfaProperty:{name}"))
    )
for number, name in enumerate(("type", "namespaceURI", "prefix", "description"), 11):
    add_metadata(
        f"6.6.2.3.3-{number}",
        f"type-without-{name}",
        schema(types=value_type(head=without(TYPE, f"pdfaType:{name}"))),
    )
for number, name in enumerate(("name", "valueType", "description"), 16):
    add_metadata(
        f"6.6.2.3.3-{number}",
        f"field-without-{name}",
        schema(types=value_type(field=without(FIELD, f"pdfaField:{name}"))),
    )
