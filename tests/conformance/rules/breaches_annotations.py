"""Breaches of the rules for annotations, fields and actions (6.3 to 6.5)."""

from pikepdf import Array, Dictionary, Name, String

from breach import add, add_entries, breach

ADDRESS = "<< /S /URI /URI (http://x) >>"


# Annotations


def add_annotation(rule, name, entries="<< >>", remove=(), tagged=True, **objects):
    """Adds a breach by an annotation: a stamp, unless the entries say otherwise."""

    def change(document):
        annotation = document.annotation(entries, tagged, **objects)
        document.remove(annotation, *remove)

    add(rule, f"annotation-{name}", change)


def add_field(rule, name, entries="<< >>", remove=(), kind="/Tx", form="<< >>", **objects):
    """Adds a breach by a field: one of text, unless its kind is another."""

    def change(document):
        field = document.field(f"<< /FT {kind} >>")
        document.update(field, entries, **objects)
        document.remove(field, *remove)
        document.update(document.catalog.AcroForm, form)

    add(rule, f"field-{name}", change)


def indirect(text):
    """Gives a function that makes an object of the file."""
    return lambda document: document.object(text)


for kind in ("3D", "Sound", "Screen", "Movie", "RichMedia", "Projection", "Unknown"):
    add_annotation("6.3.1-1", f"of-kind-{kind}", f"<< /Subtype /{kind} >>", tagged=False)
add_annotation("6.3.1-1", "without-kind", remove=["Subtype"])
add_annotation("6.3.1-1", "of-indirect-kind", "<< /Subtype @kind >>", tagged=False, kind=indirect("/Movie"))

add_annotation("6.3.2-1", "without-flags", remove=["F"])
add_annotation("6.3.2-1", "link-without-flags", "<< /Subtype /Link >>", remove=["F"])
INVISIBLE, HIDDEN, PRINT, NO_VIEW, TOGGLE = 1, 2, 4, 32, 256
for flags in (
    0,
    INVISIBLE,
    HIDDEN,
    INVISIBLE | PRINT,
    HIDDEN | PRINT,
    NO_VIEW | PRINT,
    TOGGLE | PRINT,
    8,
    HIDDEN | PRINT | NO_VIEW,
):
    add_annotation("6.3.2-2", f"with-flags-{flags}", f"<< /F {flags} >>")
for flags in (0, HIDDEN, HIDDEN | PRINT, NO_VIEW | PRINT):
    add_field("6.3.2-2", f"with-flags-{flags}", f"<< /F {flags} >>")
add_annotation("6.3.2-2", "with-indirect-flags", "<< /F @flags >>", flags=indirect("2"))
add_annotation("6.3.2-2", "with-real-flags", "<< /F 0.0 >>")
add_annotation("6.3.2-2", "text-that-is-not-printed", "<< /Subtype /Text /F 0 >>")

add_annotation("6.3.3-1", "without-appearance", remove=["AP"])
add_annotation("6.3.3-1", "without-appearance-and-width", "<< /Rect [0 0 0 50] >>", remove=["AP"])
add_annotation("6.3.3-1", "without-appearance-and-place", remove=["AP", "Rect"])
add_annotation("6.3.3-1", "without-appearance-reversed", "<< /Rect [50 50 0 0] >>", remove=["AP"])
add_field("6.3.3-1", "without-appearance", remove=["AP"])
add_annotation("6.3.3-2", "pressed", "<< /AP << /N @form /D @form >> >>")
add_annotation("6.3.3-2", "pressed-link", "<< /Subtype /Link /AP << /N @form /D @form >> >>")
add_annotation("6.3.3-2", "pressed-popup", "<< /Subtype /Popup /AP << /N @form /D @form >> >>")
add_annotation("6.3.3-2", "pressed-without-size", "<< /Rect [0 0 0 0] /AP << /N @form /D @form >> >>")
add_annotation("6.3.3-2", "with-empty-appearance", "<< /AP << >> >>")
add_annotation(
    "6.3.3-2",
    "pointed-at",
    "<< /AP @appearance >>",
    appearance=lambda document: document.object("<< /N @form /R @form >>"),
)
add_field("6.3.3-3", "button-with-one-appearance", kind="/Btn")
add_field("6.3.3-3", "push-button-with-one-appearance", "<< /Ff 65536 >>", kind="/Btn")
add_field("6.3.3-3", "button-without-states", "<< /AP << /N << >> >> >>", kind="/Btn")
add_annotation("6.3.3-4", "with-states", "<< /AP << /N << /On @form >> >> >>")
add_annotation("6.3.3-4", "link-with-states", "<< /Subtype /Link /AP << /N << /On @form >> >> >>")
add_annotation("6.3.3-4", "with-empty-states", "<< /AP << /N @states >> >>", states=indirect("<< >>"))
add_field("6.3.3-4", "of-text-with-states", "<< /AP << /N << /On @form >> >> >>")


def add_parent(document, field, entries):
    """Gives the field a parent, from which it has its kind and name."""
    parent = document.object("<< /FT /Tx /T (field) /TU (field) /Kids [@field] >>", field=field)
    document.update(parent, entries)
    document.remove(field, "FT", "T", "TU")
    field.Parent = parent
    document.set_fields(parent)


@breach("6.3.3-3", "field-that-inherits-button")
def inherited_button(document):
    """A button, which is one by its parent only, has a single appearance."""
    add_parent(document, document.field(), "<< /FT /Btn >>")


@breach("6.4.1-2", "field-with-actions-of-parent")
def actions_of_parent(document):
    """The parent of a field has actions."""
    add_parent(document, document.field(), f"<< /AA << /K {ADDRESS} >> >>")


# Fields
add_field("6.4.1-1", "with-action", f"<< /A {ADDRESS} >>")
add_field("6.4.1-1", "with-indirect-action", "<< /A @action >>", action=indirect(ADDRESS))
add_field("6.4.1-1", "with-actions", f"<< /AA << /E {ADDRESS} >> >>")
add_field("6.4.1-3", "without-good-appearances", form="<< /NeedAppearances true >>")
add_field("6.4.2-1", "of-xfa", form="<< /XFA (x) >>")
add_field("6.4.2-1", "of-xfa-without-appearances", form="<< /XFA [] /NeedAppearances true >>")
add_entries("6.4.2-2", "needs-rendering", "catalog", "<< /NeedsRendering true >>")


# Actions, and where they are


def on_opening(document, action):
    document.catalog.OpenAction = action


def on_opening_indirectly(document, action):
    document.catalog.OpenAction = document.pdf.make_indirect(action)


def of_link(document, action):
    document.annotation("<< /Subtype /Link /A @action >>", action=action)


def of_link_indirectly(document, action):
    of_link(document, document.pdf.make_indirect(action))


def of_indirect_kind(document, action):
    action.S = document.pdf.make_indirect(action.S)
    of_link(document, action)


def of_actions_of_link(document, action):
    document.annotation("<< /Subtype /Link /AA << /E @action >> >>", action=action)


def of_actions_of_popup(document, action):
    document.annotation("<< /Subtype /Popup /AA << /E @action >> >>", tagged=False, action=action)


def of_stamp(document, action):
    document.annotation("<< /A @action >>", action=action)


def after_another(document, action):
    document.annotation("<< /Subtype /Link /A << /S /URI /URI (http://x) /Next @action >> >>", action=action)


def after_two(document, action):
    document.annotation(
        f"<< /Subtype /Link /A << /S /URI /URI (http://x) /Next [{ADDRESS} @action] >> >>", action=action
    )


def after_another_indirectly(document, action):
    document.annotation(
        "<< /Subtype /Link /A << /S /URI /URI (http://x) /Next [@action] >> >>",
        action=document.pdf.make_indirect(action),
    )


def of_bookmark(document, action):
    outlines = document.object("<< /Type /Outlines /Count 1 >>")
    bookmark = document.object(
        "<< /Title (x) /Parent @outlines /A @action >>", outlines=outlines, action=action
    )
    document.update(outlines, "<< /First @bookmark /Last @bookmark >>", bookmark=bookmark)
    document.catalog.Outlines = outlines


HOOKS = {
    "on-opening": on_opening,
    "on-opening-indirectly": on_opening_indirectly,
    "of-link": of_link,
    "of-link-indirectly": of_link_indirectly,
    "of-indirect-kind": of_indirect_kind,
    "of-actions-of-link": of_actions_of_link,
    "of-actions-of-popup": of_actions_of_popup,
    "of-stamp": of_stamp,
    "after-another": after_another,
    "after-two": after_two,
    "after-another-indirectly": after_another_indirectly,
    "of-bookmark": of_bookmark,
}
KINDS = (
    "Sound",
    "Movie",
    "ResetForm",
    "ImportData",
    "Hide",
    "SetOCGState",
    "Rendition",
    "Trans",
    "GoTo3DView",
    "Set-State",
    "NOP",
    "RichMediaExecute",
    "GoToDp",
)
ACTIONS = [(f"of-kind-{kind}", f"<< /S /{kind} >>", ["of-link"]) for kind in KINDS]
ACTIONS += [
    ("without-kind", "<< /Type /Action >>", ("of-link", "after-two", "on-opening")),
    ("of-script-of-other-type", "<< /Type /Other /S /JavaScript /JS (1) >>", ("of-link", "on-opening")),
    ("of-script", "<< /S /JavaScript /JS (1) >>", HOOKS),
    ("of-launch", "<< /S /Launch >>", ("of-link", "after-two", "on-opening", "of-bookmark")),
    ("of-unknown-kind", "<< /S /Unknown >>", ("of-link", "of-indirect-kind", "after-two", "on-opening")),
]
NAMED = [
    ("named-print", "<< /S /Named /N /Print >>", ("of-link", "after-two", "on-opening", "of-bookmark")),
    ("named-without-name", "<< /S /Named >>", ("of-link", "after-two", "on-opening")),
]


def add_action(rule, name, action, hook):
    """Adds a breach by an action in a place."""
    add(rule, f"action-{name}-{hook}", lambda document: HOOKS[hook](document, document.value(action)))


for name, action, hooks in ACTIONS:
    for hook in hooks:
        add_action("6.5.1-1", name, action, hook)
for name, action, hooks in NAMED:
    for hook in hooks:
        add_action("6.5.1-2", name, action, hook)

for count in (60, 130):

    @breach("6.5.1-1", f"action-after-{count}-others")
    def after_many(document, count=count):
        """A script comes after many other actions."""
        action = document.value("<< /S /JavaScript /JS (1) >>")
        for _ in range(count):
            action = document.value("<< /S /URI /URI (x) /Next @action >>", action=action)
        of_link(document, action)


add_entries("6.5.2-1", "actions-of-document", "catalog", f"<< /AA << /WC {ADDRESS} >> >>")
add_entries("6.5.2-2", "actions-of-page", "page", f"<< /AA << /O {ADDRESS} >> >>")

# Other entries of the document and the page
add_entries(
    "6.10-1", "other-presentations", "catalog", "<< /Names << /AlternatePresentations << /Names [] >> >> >>"
)
add_entries("6.10-2", "steps-of-presentation", "page", "<< /PresSteps << >> >>")
add_entries(
    "6.10-2",
    "steps-of-page-of-indirect-type",
    "page",
    "<< /PresSteps << >> /Type @type >>",
    type=indirect("/Page"),
)
add_entries("6.11-1", "requirements", "catalog", "<< /Requirements [] >>")


# Attached files


def attachment(document, entries="<< >>", remove=(), kind="text/plain"):
    """Makes an attached file."""
    data = document.stream(b"hello", Type=Name.EmbeddedFile)
    document.update(data, "<< /Params << /ModDate (D:20200101000000Z) >> >>")
    if kind:
        data.Subtype = Name("/" + kind)
    file = document.object(
        "<< /Type /Filespec /F (a.txt) /UF (a.txt) /EF << /F @data >> /AFRelationship /Data >>", data=data
    )
    document.update(file, entries)
    document.remove(file, *remove)
    return file


def name_attachment(document, file):
    """Adds an attached file to the names of the document."""
    document.catalog.Names = document.value("<< /EmbeddedFiles << /Names [(a) @file] >> >>", file=file)


def associate(document, file):
    """Adds an attached file to the names of the document and says that it belongs to the document."""
    name_attachment(document, file)
    document.catalog.AF = Array([file])


def describe_in_place(document, file):
    """Adds an attached file to the names of the document, not as an object of its own."""
    name_attachment(document, Dictionary(dict(file.items())))


def attach_to_annotation(document, file):
    document.annotation("<< /Subtype /FileAttachment /FS @file >>", file=file)


def attach_to_annotation_in_place(document, file):
    attach_to_annotation(document, Dictionary(dict(file.items())))


def attach_to_page(document, file):
    document.page.AF = Array([file])


def attach_to_action(document, file):
    of_link(document, document.value("<< /S /GoToE /F @file /D [0 /Fit] >>", file=file))


def add_attachment(rule, name, entries="<< >>", remove=(), kind="text/plain", attach=name_attachment):
    """Adds a breach by an attached file: of PDF/A-3, and of PDF/A-2, which must have none but PDF/A."""

    def change(document):
        attach(document, attachment(document, entries, remove, kind))

    add("6.8-5" if rule != "6.8-2" else rule, f"attachment-{name}", change)
    if rule:
        add(rule, f"attachment-{name}", change, "3b")


add_attachment(None, "associated", attach=associate)
add_attachment("6.8-4", "named-only")
add_attachment("6.8-4", "described-in-place", attach=describe_in_place)
add_attachment("6.8-4", "of-annotation", attach=attach_to_annotation)
add_attachment("6.8-4", "of-annotation-in-place", attach=attach_to_annotation_in_place)
add_attachment("6.8-4", "of-action", attach=attach_to_action)
add_attachment("6.8-3", "without-relation", remove=["AFRelationship"])
add_attachment("6.8-3", "with-text-as-relation", "<< /AFRelationship (Data) >>")
add_attachment("6.8-3", "without-relation-in-place", remove=["AFRelationship"], attach=describe_in_place)
add_attachment("6.8-3", "without-relation-of-page", remove=["AFRelationship"], attach=attach_to_page)
add_attachment("6.8-2", "without-name", remove=["F"])
add_attachment("6.8-2", "without-unicode-name", remove=["UF"])
add_attachment("6.8-2", "without-names", remove=["F", "UF"])
add_attachment(
    "6.8-2",
    "without-name-of-annotation",
    remove=["UF", "AFRelationship"],
    attach=attach_to_annotation_in_place,
)
add_attachment("6.8-2", "without-file-and-name", "<< /EF << >> >>", remove=["UF"])
add_attachment("6.8-1", "without-kind", kind=None)
add_attachment("6.8-1", "of-wrong-kind", kind="text")
add_attachment("6.8-1", "of-kind-with-parameter", kind="text/plain; charset=utf-8")
add_attachment("6.8-1", "of-kind-with-umlaut", kind="tëxt/plain")


@breach("6.8-1", "attachment-of-two-kinds", "3b")
def two_kinds(document):
    """The file under the second name of an attachment has a wrong kind."""
    file = attachment(document)
    file.EF.UF = document.stream(b"x", Type=Name.EmbeddedFile, Subtype=Name("/t"))
    name_attachment(document, file)


@breach("6.8-4", "attachment-with-empty-list", "3b")
def empty_list(document):
    """A file is attached, but the list of files that belong to the document is empty."""
    name_attachment(document, attachment(document))
    document.catalog.AF = document.pdf.make_indirect(Array())


@breach("6.5.1-1", "several-breaches")
def several(document):
    """Several rules are broken at once."""
    on_opening(document, document.value("<< /S /JavaScript /JS (1) >>"))
    document.draw(
        "form",
        "/State gs 0 0 9 9 re f",
        document.value("<< /ExtGState << /State << /TR /Identity /BM /Unknown >> >> >>"),
    )
    document.draw("page", "/Unknown ri")
    document.annotation("<< /AP << /N @form /D @form >> /F 0 >>")
    document.info.Title = String("x")
