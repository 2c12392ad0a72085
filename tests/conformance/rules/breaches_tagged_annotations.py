"""Breaches of the rules of PDF/UA for annotations, fields, media and attached files (7.11 to 7.18)."""

from functools import partial

from pikepdf import Array, Dictionary, Name

from breach import accessible_breach, add
from breaches_annotations import attachment, name_attachment
from breaches_tags import grow


def add_annotation(rule, name, entries="<< >>", remove=(), tagged=True, **objects):
    """Adds a breach by an annotation: a stamp, unless the entries say otherwise."""

    def change(document):
        document.remove(document.annotation(entries, tagged, **objects), *remove)

    add(rule, f"annotation-{name}", change, "ua1")


add_link = partial(add_annotation, "7.18.5-2")
add_annotation("7.18.1-1", "outside-of-structure", tagged=False)
add_annotation("7.18.1-1", "popup-outside-of-structure", "<< /Subtype /Popup >>", tagged=False)
add_annotation(
    "7.18.1-1",
    "file-outside-of-structure",
    "<< /Subtype /FileAttachment /FS @file >>",
    tagged=False,
    file=attachment,
)
add_annotation("7.18.1-2", "without-description", remove=["Contents"])
add_annotation("7.18.1-2", "with-empty-description", "<< /Contents () >>")
add_annotation("7.18.2-1", "of-traps", "<< /Subtype /TrapNet >>")
add_annotation("7.18.8-1", "of-printer", "<< /Subtype /PrinterMark >>")
add_annotation("7.18.5-1", "link-outside-of-structure", "<< /Subtype /Link >>", tagged=False)
add_annotation("7.18.5-1", "link-of-unknown-parent", "<< /Subtype /Link /StructParent 99 >>", tagged=False)
add_link("link-without-description", "<< /Subtype /Link >>", remove=["Contents"])
add_link("link-with-empty-description", "<< /Subtype /Link /Contents () >>")
add_link("link-with-empty-unicode-description", "<< /Subtype /Link /Contents <FEFF> >>")
add_link("link-with-empty-address", "<< /Subtype /Link /A << /S /URI /URI () >> >>", remove=["Contents"])


@accessible_breach("7.18.5-1", "annotation-link-in-paragraph")
def link_in_paragraph(document):
    """A link is in a paragraph, and not in an element for links."""
    document.bind_annotation(
        document.tag(document.top, "P"), document.annotation("<< /Subtype /Link >>", tagged=False)
    )


@accessible_breach("7.18.5-1", "annotation-link-in-place")
def link_in_place(document):
    """A link, which is no object of its own, is outside of the structure."""
    document.page.Annots = document.value("[<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /F 4 >>]")


@accessible_breach("7.18.5-2", "annotation-link-by-role")
def link_by_role(document):
    """A link without a description is in an element whose tag stands for a link."""
    link = document.annotation("<< /Subtype /Link >>", tagged=False)
    document.remove(link, "Contents")
    document.tags.RoleMap = Dictionary(Anchor=Name.Link)
    document.bind_annotation(document.tag(document.top, "Anchor"), link)


@accessible_breach("7.18.5-2", "annotation-link-of-indirect-kind")
def link_of_indirect_kind(document):
    """The kind of a link without a description is an object of its own."""
    link = document.annotation("<< /Subtype /Link >>")
    document.remove(link, "Contents")
    link.Subtype = document.object("/Link")


@accessible_breach("7.18.5-2", "annotation-link-in-indirect-list")
def link_in_indirect_list(document):
    """The list of annotations, which has a link without a description, is an object of its own."""
    document.remove(document.annotation("<< /Subtype /Link >>"), "Contents")
    document.page.Annots = document.pdf.make_indirect(Array(list(document.page.Annots)))


@accessible_breach("7.18.3-1", "annotation-on-page-without-order")
def no_order(document):
    """The page with an annotation does not say in which order it is gone through."""
    document.annotation("<< >>")
    document.remove(document.page, "Tabs")


@accessible_breach("7.18.3-1", "annotation-on-page-in-rows")
def order_in_rows(document):
    """The page with an annotation is gone through in rows."""
    document.annotation("<< >>")
    document.page.Tabs = Name.R


# Fields


@accessible_breach("7.18.1-3", "field-without-description")
def field_without_description(document):
    """A field has no description."""
    document.remove(document.field(), "TU")


@accessible_breach("7.18.1-3", "field-with-empty-description")
def field_with_empty_description(document):
    """The description of a field is empty."""
    document.field("<< /FT /Tx /TU () >>")


@accessible_breach("7.18.4-1", "field-outside-of-structure")
def field_outside(document):
    """A field is outside of the structure."""
    document.field(tagged=False)


@accessible_breach("7.18.4-1", "field-in-paragraph")
def field_in_paragraph(document):
    """A field is in a paragraph, and not in an element for fields."""
    document.bind_annotation(document.tag(document.top, "P"), document.field(tagged=False))


@accessible_breach("7.18.4-2", "field-beside-another")
def two_fields(document):
    """One element has two fields."""
    field = document.field()
    other = document.annotation("<< /Subtype /Widget /FT /Tx /T (other) /TU (other) >>", tagged=False)
    document.bind_annotation(document.top.K[-1], other)
    document.set_fields(field, other)


@accessible_breach("7.18.4-2", "field-that-is-missing")
def missing_field(document):
    """An element for fields has none."""
    grow(document, document.top, ("Form", "a"))


@accessible_breach("7.15-1", "field-of-dynamic-xfa")
def dynamic_xfa(document):
    """The document has a dynamic form of XFA."""
    document.field()
    document.catalog.AcroForm.XFA = document.stream(
        '<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"><config xmlns="http://www.xfa.org/schema/xci/1.0/">'
        "<acrobat><acrobat7><dynamicRender>required</dynamicRender></acrobat7></acrobat></config></xdp:xdp>"
    )


# Media and attached files


def add_media(rule, name, entries):
    """Adds a breach by a clip of a medium."""

    def change(document):
        clip = document.value("<< /Type /MediaClip /S /MCD /D @file >>", file=attachment)
        document.update(clip, entries)
        document.annotation(
            "<< /Subtype /Screen /A << /S /Rendition /OP 0 /R << /Type /Rendition /S /MR /C @clip "
            ">> >> >>",
            clip=clip,
        )

    add(rule, f"media-{name}", change, "ua1")


add_media("7.18.6.2-1", "without-kind", "<< /Alt [() (x)] >>")
add_media("7.18.6.2-2", "without-text", "<< /CT (video/mp4) >>")


def add_attachment(name, entries="<< >>", remove=()):
    """Adds a breach by the name of an attached file."""
    add(
        "7.11-1",
        f"attachment-{name}",
        lambda document: name_attachment(document, attachment(document, entries, remove)),
        "ua1",
    )


add_attachment("without-unicode-name", remove=["UF"])
add_attachment("with-empty-unicode-name", "<< /UF () >>")
add_attachment("with-empty-name", "<< /F () >>")
