"""Breaches of the rules for content: operators, resources, states, forms and optional content (6.2, 6.9)."""

from pikepdf import Array, Dictionary, Name

from breach import EVERY_PLACE, FEW_PLACES, MAIN_PLACES, PLACES, add, add_drawn, breach

BOX = "0 0 9 9 re f"

# Operators and the resources that they name
add_drawn("6.2.2-1", "unknown-operator", "unknown", places=EVERY_PLACE)
add_drawn("6.2.2-1", "unknown-operator-in-compatibility", "BX unknown EX", places=MAIN_PLACES)
add_drawn("6.2.2-1", "operator-of-postscript", "1 0 PS", places=MAIN_PLACES)


@breach("6.2.2-1", "operator-in-two-streams")
def split_operator(document):
    """An operator is torn apart by the end of a stream, which makes two unknown ones of it."""
    document.add_content("/Artifact BMC 0 0 9 9 r")
    document.add_content("e f EMC")


def page_state(document):
    """Gives the page a state `State` that other content may name without having it."""
    document.add_resource("ExtGState", document.value("<< /Type /ExtGState /LW 1 >>"), "State")
    return f"/State gs {BOX}"


@breach("6.2.2-2", "form-without-resources")
def form_without_resources(document):
    """A form has no resources and takes those of the page."""
    form = document.form(page_state(document))
    document.remove(form, "Resources")
    document.add_object(form)


@breach("6.2.2-2", "form-with-empty-resources")
def form_with_empty_resources(document):
    """A form names what only the resources of the page have."""
    document.add_object(document.form(page_state(document)))


@breach("6.2.2-2", "page-inherits-resources")
def inherit_resources(document):
    """The page has no resources of its own."""
    document.draw("inherited-page", BOX)


@breach("6.2.2-2", "glyph-without-resources")
def glyph_without_resources(document):
    """A Type 3 font has no resources and takes those of the page."""
    font = document.drawn_font(page_state(document), Dictionary())
    document.remove(font, "Resources")
    document.show_text(font)


@breach("6.2.2-2", "pattern-with-empty-resources")
def pattern_with_empty_resources(document):
    """A pattern names what only the resources of the page have."""
    document.draw("pattern", page_state(document))


@breach("6.2.2-2", "annotation-with-empty-resources")
def annotation_with_empty_resources(document):
    """An appearance names a font that only the resources of the page have."""
    document.draw("annotation", "BT /F1 9 Tf (a) Tj ET")


# States: each as a value in place and as objects of the file
HALFTONE = "/Type /Halftone /HalftoneType 1 /Frequency 60 /Angle 45 /SpotFunction /Round"
IDENTITY = "<< /FunctionType 2 /Domain [0 1] /N 1 >>"
COLORANTS = "/HT << /Type /Halftone /HalftoneType 5 /Default << {0} >> /{1} << {0} {2} >> >>"
STATES = (
    ("6.2.5-1", "transfer-name", "/TR /Identity"),
    ("6.2.5-1", "transfer-function", f"/TR {IDENTITY}"),
    ("6.2.5-2", "second-transfer-name", "/TR2 /Identity"),
    ("6.2.5-2", "second-transfer-function", f"/TR2 {IDENTITY}"),
    ("6.2.5-3", "halftone-origin", "/HTP [0 0]"),
    (
        "6.2.5-4",
        "halftone-without-type",
        "/HT << /Type /Halftone /Frequency 60 /Angle 45 /SpotFunction /Round >>",
    ),
    ("6.2.5-5", "halftone-name", f"/HT << {HALFTONE} /HalftoneName (x) >>"),
    ("6.2.5-6", "halftone-transfer", f"/HT << {HALFTONE} /TransferFunction /Identity >>"),
    ("6.2.5-6", "halftone-of-cyan", COLORANTS.format(HALFTONE, "Cyan", "/TransferFunction /Identity")),
    ("6.2.5-6", "halftone-of-spot", COLORANTS.format(HALFTONE, "Spot", "")),
    ("6.2.6-1", "rendering-intent", "/RI /Unknown"),
    ("6.2.10-1", "blend-mode", "/BM /Unknown"),
    ("6.2.10-1", "blend-modes", "/BM [/Unknown /Normal]"),
)


def indirect_state(entries):
    """Gives a function that makes a state of the entries, in which each value is an object of its own."""

    def make(document):
        state = document.value(f"<< {entries} >>")
        for key in list(state.keys()):
            state[key] = document.pdf.make_indirect(state[key])
        return document.pdf.make_indirect(state)

    return make


for index, (rule, name, entries) in enumerate(STATES):
    first_of_rule = STATES[index - 1][0] != rule
    add_drawn(
        rule,
        f"state-{name}",
        f"/State gs {BOX}",
        f"<< /ExtGState << /State << {entries} >> >> >>",
        places=EVERY_PLACE if index == 0 else PLACES if first_of_rule else FEW_PLACES,
    )
    add_drawn(
        rule,
        f"indirect-state-{name}",
        f"/State gs {BOX}",
        "<< /ExtGState << /State @state >> >>",
        places=("page",),
        state=indirect_state(entries),
    )
add_drawn(
    "6.2.5-4",
    "state-halftone-of-type-6",
    f"/State gs {BOX}",
    "<< /ExtGState << /State << /HT @halftone >> >> >>",
    halftone=lambda document: document.stream(
        bytes(4), Type=Name.Halftone, HalftoneType=6, Width=2, Height=2
    ),
)
add_drawn("6.2.6-1", "rendering-intent", "/Unknown ri")

# Forms and other external objects
FORMS = (
    ("6.2.9-1", "kind-of-postscript", "<< /Subtype2 /PS >>"),
    ("6.2.9-1", "postscript", "<< /PS @code >>"),
    ("6.2.9-1", "open-prepress", "<< /OPI << >> >>"),
    ("6.2.9-2", "reference", "<< /Ref << /F (x.pdf) /Page 0 >> >>"),
)


def form_with(entries):
    """Gives a function that makes a form with entries."""

    def make(document):
        return document.update(document.form(BOX), entries, code=lambda document: document.stream("x"))

    return make


for rule, name, entries in FORMS:
    add_drawn(
        rule,
        f"form-with-{name}",
        "/Form Do",
        "<< /XObject << /Form @drawn >> >>",
        places=EVERY_PLACE if rule == "6.2.9-2" else MAIN_PLACES,
        drawn=form_with(entries),
    )


@breach("6.2.9-2", "form-with-indirect-kind")
def form_with_indirect_kind(document):
    """A form refers to another file, and its kind is an object of its own."""
    form = form_with("<< /Ref << /F (x.pdf) /Page 0 >> >>")(document)
    form.Subtype = document.object("/Form")
    document.add_object(form)


@breach("6.2.9-2", "appearance-with-reference")
def appearance_with_reference(document):
    """The appearance of an annotation refers to another file."""
    document.annotation("<< /AP << /N @drawn >> >>", drawn=form_with("<< /Ref << /F (x.pdf) /Page 0 >> >>"))


add_drawn(
    "6.2.9-3",
    "postscript",
    "/Code Do",
    "<< /XObject << /Code @code >> >>",
    code=lambda document: document.stream("showpage", Type=Name.XObject, Subtype=Name.PS),
)
add_drawn(
    "6.2.9-3",
    "postscript-without-type",
    "/Code Do",
    "<< /XObject << /Code @code >> >>",
    places=FEW_PLACES,
    code=lambda document: document.stream("showpage", Subtype=Name.PS),
)


# Optional content


def add_optional(rule, name, entries="<< >>", configuration="<< >>", accessible_rule=None):
    """Adds a breach by two layers, whose properties and whose configuration have other entries."""

    def change(document):
        layers = [document.object(f"<< /Type /OCG /Name ({name}) >>") for name in "ab"]
        document.catalog.OCProperties = document.value(
            "<< /OCGs @layers /D << /Name (d) /Order @order /ON [] /OFF [] >> >>",
            layers=Array(layers),
            order=Array(layers),
        )
        document.draw(
            "page",
            f"/OC /Layer BDC {BOX} EMC",
            document.value("<< /Properties << /Layer @layer >> >>", layer=layers[0]),
        )
        document.update(document.catalog.OCProperties, entries)
        document.update(document.catalog.OCProperties.D, configuration, first=layers[0])

    add(rule, f"layers-{name}", change)
    if accessible_rule:
        add(accessible_rule, f"layers-{name}", change, "ua1")


add_optional("6.9-1", "with-empty-name", configuration="<< /Name () >>", accessible_rule="7.10-1")
add_optional("6.9-1", "without-name", "<< /D << >> >>", accessible_rule="7.10-1")
add_optional("6.9-1", "with-more-without-name", "<< /Configs [<< >>] >>", accessible_rule="7.10-1")
add_optional("6.9-2", "with-the-same-name", "<< /Configs [<< /Name (d) >>] >>")
add_optional("6.9-2", "with-more-of-the-same-name", "<< /Configs [<< /Name (c) >> << /Name (c) >>] >>")
add_optional("6.9-3", "with-one-missing", configuration="<< /Order [@first] >>")
add_optional("6.9-3", "with-all-missing-elsewhere", "<< /Configs [<< /Name (c) /Order [] >>] >>")
add_optional("6.9-4", "that-change", configuration="<< /AS [] >>", accessible_rule="7.10-2")
add_optional(
    "6.9-4", "that-change-elsewhere", "<< /Configs [<< /Name (c) /AS [] >>] >>", accessible_rule="7.10-2"
)
