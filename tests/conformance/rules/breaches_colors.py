"""Breaches of the rules for colors: output intents, profiles, device colors and colorants (6.2.3, 6.2.4)."""

import io
from functools import partial

from PIL import Image
from pikepdf import Array, Name

from breach import EVERY_PLACE, FEW_PLACES, MAIN_PLACES, add, add_drawn, breach
from breaches_images import PICTURE, picture
from document import color_profile

RED_BOX = "1 0 0 rg 0 0 9 9 re f"
PRINTER = {"space": b"CMYK", "device_class": b"prtr"}


def profile(count=3, **header):
    """Gives a function that makes the stream of a profile for so many components."""
    return lambda document: document.stream(color_profile(**header), N=count)


# Output intents


def add_intent(rule, name, data, count=3, content=None, place="page"):
    """Adds a breach by the profile of the output intent, and content that is drawn."""

    def change(document):
        document.profile.write(data)
        document.profile.N = count
        if content:
            document.draw(place, content)

    add(rule, f"intent-{name}", change)


add_intent("6.2.3-1", "of-a-scanner", color_profile(device_class=b"scnr"))
add_intent("6.2.3-1", "of-a-space", color_profile(device_class=b"spac"))
add_intent("6.2.3-1", "of-lab", color_profile(space=b"Lab "))
add_intent("6.2.3-1", "of-version-5", color_profile(version=5))
add_intent("6.2.3-1", "empty", b"")
add_intent("6.2.3-1", "that-is-none", b"garbage" * 40)
add_intent("6.2.4.3-2", "of-gray-for-rgb", color_profile(space=b"GRAY"), 1, RED_BOX)
add_intent("6.2.4.3-2", "of-cmyk-for-rgb", color_profile(**PRINTER), 4, RED_BOX)
add_intent("6.2.4.3-2", "of-cmyk-for-rgb-in-form", color_profile(**PRINTER), 4, RED_BOX, "form")
add_intent("6.2.4.3-2", "of-cmyk-that-says-rgb", color_profile(**PRINTER), 3, RED_BOX)
add_intent("6.2.4.3-3", "of-rgb-that-says-cmyk", color_profile(), 4, "1 0 0 0 k 0 0 9 9 re f")


@breach("6.2.4.3-2", "intent-without-profile")
def intent_without_profile(document):
    """The output intent has no profile."""
    document.remove(document.intent, "DestOutputProfile")
    document.draw("page", RED_BOX)


@breach("6.2.3-2", "two-profiles")
def two_profiles(document):
    """A second output intent has a profile of its own."""
    add_second_intent(document, profile(), -1)


@breach("6.2.3-2", "two-profiles-cmyk-first")
def two_profiles_cmyk_first(document):
    """The first output intent is for CMYK, the second for RGB."""
    add_second_intent(document, profile(4, **PRINTER), 0)


def add_second_intent(document, made, index):
    intent = document.value(
        "<< /Type /OutputIntent /S /GTS_PDFX /OutputConditionIdentifier (x) "
        "/DestOutputProfile @profile >>",
        profile=made,
    )
    intents = list(document.catalog.OutputIntents)
    intents.insert(index if index >= 0 else len(intents), intent)
    document.catalog.OutputIntents = Array(intents)


@breach("6.2.3-3", "reference-to-profile")
def reference_to_profile(document):
    """An output intent refers to a profile elsewhere."""
    document.catalog.OutputIntents.append(
        document.value(
            "<< /Type /OutputIntent /S /GTS_PDFX /OutputConditionIdentifier (x) "
            "/DestOutputProfileRef << >> >>"
        )
    )


@breach("6.2.4.3-2", "intent-for-printing-only")
def printing_only(document):
    """The only output intent is one of PDF/X."""
    document.intent.S = Name.GTS_PDFX
    document.draw("page", RED_BOX)


@breach("6.2.4.3-2", "intent-for-printing-cmyk-only")
def printing_cmyk_only(document):
    """The only output intent is one of PDF/X for CMYK."""
    document.intent.S = Name.GTS_PDFX
    document.profile.write(color_profile(**PRINTER))
    document.profile.N = 4
    document.draw("page", RED_BOX + " 0 0 0 1 k 9 9 9 9 re f")


def add_without_intent(rule, name, content):
    """Adds a breach by colors without an output intent."""

    def change(document):
        document.catalog.OutputIntents = Array()
        document.draw("page", content)

    add(rule, name, change)


add_without_intent("6.2.4.3-4", "gray-without-intent", "0 g 0 0 9 9 re f")
add_without_intent("6.2.4.3-2", "rgb-without-intent", RED_BOX)

# Profiles of color spaces
SPACE = "<< /ColorSpace << /Space [/ICCBased @profile] >> >>"
FILL = "/Space cs 0 0 0 sc 0 0 9 9 re f"
ABSTRACT = profile(device_class=b"abst")
for name, made in (
    ("of-a-link", profile(device_class=b"link")),
    ("that-is-abstract", ABSTRACT),
    ("of-named-colors", profile(device_class=b"nmcl")),
    ("of-hsv", profile(space=b"HSV ")),
    ("of-xyz", profile(space=b"XYZ ")),
    ("of-version-5", profile(version=5)),
):
    add_drawn(
        "6.2.4.2-1",
        f"profile-{name}",
        FILL,
        SPACE,
        places=MAIN_PLACES if name == "of-a-link" else FEW_PLACES,
        profile=made,
    )
add_drawn(
    "6.2.4.2-1",
    "profile-that-is-none",
    FILL,
    SPACE,
    places=("page",),
    profile=lambda document: document.stream("xx", N=3),
)
add_drawn(
    "6.2.4.2-1",
    "default-profile",
    RED_BOX,
    "<< /ColorSpace << /DefaultRGB [/ICCBased @profile] >> >>",
    places=FEW_PLACES,
    profile=ABSTRACT,
)
add_drawn(
    "6.2.4.2-1",
    "profile-of-palette",
    "/Space cs 0 sc 0 0 9 9 re f",
    "<< /ColorSpace << /Space [/Indexed [/ICCBased @profile] 0 (abc)] >> >>",
    places=FEW_PLACES,
    profile=ABSTRACT,
)
add_drawn(
    "6.2.4.2-1",
    "profile-of-picture",
    "/Picture Do",
    PICTURE,
    places=MAIN_PLACES,
    picture=picture("<< /ColorSpace [/ICCBased @profile] >>", b"abc", profile=ABSTRACT),
)
SHADING = (
    "<< /Shading << /Shading << /ShadingType 2 /ColorSpace {space} /Coords [0 0 9 9] "
    "/Function << /FunctionType 2 /Domain [0 1] /C0 [{start}] /C1 [{end}] /N 1 >> >> >> >>"
)
add_drawn(
    "6.2.4.2-1",
    "profile-of-shading",
    "/Shading sh",
    SHADING.format(space="[/ICCBased @profile]", start="1 1 1", end="1 0 0"),
    places=FEW_PLACES,
    profile=ABSTRACT,
)

# Overprinting in CMYK
OVERPRINT = "<< /ColorSpace << /Space [/ICCBased @profile] >> /ExtGState << /State << {} >> >> >>"
STROKE_CMYK = "/State gs /Space CS 0 0 0 1 SC 0 0 9 9 re S"
FILL_CMYK = "/State gs /Space cs 0 0 0 1 sc 0 0 9 9 re f"
for name, operators, entries, places in (
    ("of-lines", STROKE_CMYK, "/Type /ExtGState /OPM 1 /OP true", MAIN_PLACES),
    ("of-areas", FILL_CMYK, "/Type /ExtGState /OPM 1 /op true", MAIN_PLACES),
    ("of-both", FILL_CMYK, "/OPM 1 /op true /OP true", ("page", "indirect-page", "indirect-form")),
):
    add_drawn(
        "6.2.4.2-2",
        f"overprint-{name}",
        operators,
        OVERPRINT.format(entries),
        places=places,
        profile=profile(4, **PRINTER),
    )

# CMYK colors under an output intent for RGB
add_cmyk = partial(add_drawn, "6.2.4.3-3")
TINT = "<< /FunctionType 2 /Domain [0 1] /C0 [{}] /C1 [{}] /N 1 >>"
CMYK_TINT = TINT.format("0 0 0 0", "1 0 0 0")
add_cmyk("cmyk-areas", "0 0 0 1 k 0 0 9 9 re f", places=EVERY_PLACE)
add_cmyk("cmyk-lines", "0 0 0 1 K 0 0 9 9 re S", places=MAIN_PLACES)
add_cmyk("cmyk-space", "/DeviceCMYK cs 0 0 0 1 sc 0 0 9 9 re f", places=MAIN_PLACES)
add_cmyk("cmyk-inline-picture", "BI /W 1 /H 1 /CS /CMYK /BPC 8 ID \1\2\3\4 EI", places=MAIN_PLACES)
add_cmyk(
    "cmyk-inline-picture-in-full",
    "BI /W 1 /H 1 /ColorSpace /DeviceCMYK /BPC 8 ID \1\2\3\4 EI",
    places=FEW_PLACES,
)
add_cmyk(
    "cmyk-picture",
    "/Picture Do",
    PICTURE,
    places=MAIN_PLACES,
    picture=picture("<< /ColorSpace /DeviceCMYK >>", bytes(4)),
)
add_cmyk(
    "cmyk-palette",
    "/Picture Do",
    PICTURE,
    picture=picture("<< /ColorSpace [/Indexed /DeviceCMYK 0 (abcd)] >>"),
    places=MAIN_PLACES,
)
add_cmyk(
    "cmyk-separation",
    "/Space cs 1 scn 0 0 9 9 re f",
    f"<< /ColorSpace << /Space [/Separation /Spot /DeviceCMYK {CMYK_TINT}] >> >>",
    places=MAIN_PLACES,
)
add_cmyk(
    "cmyk-shading",
    "/Shading sh",
    SHADING.format(space="/DeviceCMYK", start="0 0 0 0", end="1 0 0 0"),
    places=MAIN_PLACES,
)
add_cmyk("cmyk-without-space", "0 0 0 1k", places=("page", "form", "glyph"))
add_cmyk(
    "cmyk-between-pictures",
    "BI /W 2 /H 1 /CS /G /BPC 8 ID ab\nEI 0 0 0 1 k 0 0 9 9 re f " "BI /W 1 /H 1 /CS /G /BPC 8 ID a\nEI",
    places=("page",),
)


def jpeg(mode):
    """Gives a JPEG picture of 8 × 8 dots."""
    data = io.BytesIO()
    Image.new(mode, (8, 8)).save(data, "JPEG")
    return data.getvalue()


add_cmyk(
    "cmyk-jpeg",
    "/Picture Do",
    PICTURE,
    places=FEW_PLACES,
    picture=picture("<< /ColorSpace /DeviceCMYK /Width 8 /Height 8 /Filter /DCTDecode >>", jpeg("CMYK")),
)
CMYK_GROUP = "<< /Group << /S /Transparency /CS /DeviceCMYK >> >>"
HALF = "<< /ExtGState << /State << /ca .5 >> >> >>"
HALF_BOX = "/State gs 0 0 9 9 re f"


@breach("6.2.4.3-3", "cmyk-group-of-page")
def cmyk_page_group(document):
    """Transparency on the page is mixed in CMYK."""
    document.update(document.page, CMYK_GROUP)
    document.draw("page", HALF_BOX, document.value(HALF))


@breach("6.2.4.3-3", "cmyk-group-of-form")
def cmyk_form_group(document):
    """Transparency in a form is mixed in CMYK."""
    form = document.form(HALF_BOX, document.value(HALF))
    document.add_object(document.update(form, CMYK_GROUP))


# Colorants
RGB_TINT = TINT.format("1 1 1", "1 0 0")


def colorant(name):
    return f"[/Separation /{name} /DeviceRGB {RGB_TINT}]"


def colorants(names, described=()):
    """Gives resources with a space of colorants, some of which are described."""
    descriptions = " ".join(f"/{name} {colorant(name)}" for name in described)
    attributes = f"<< /Subtype /NChannel /Colorants << {descriptions} >> >>" if described else ""
    return (
        f"<< /ColorSpace << /Space [/DeviceN [{' '.join('/' + name for name in names)}] /DeviceRGB @tint "
        f"{attributes}] >> >>"
    )


def tint_function(count):
    """Gives a function that makes the tint of so many colorants."""

    def make(document):
        code = "{" + " pop" * (count - 1) + " dup dup }"
        return document.stream(code, FunctionType=4, Domain=Array([0, 1] * count), Range=Array([0, 1] * 3))

    return make


MANY = [f"a{number}" for number in range(33)]
FILL_TWO = "/Space cs 0 0 scn 0 0 9 9 re f"
add_drawn(
    "6.1.13-9",
    "33-colorants",
    "/Space cs " + "0 " * 33 + "scn 0 0 9 9 re f",
    colorants(MANY, MANY),
    places=MAIN_PLACES,
    tint=tint_function(33),
)
add_drawn(
    "6.2.4.4-1",
    "colorants-without-description",
    FILL_TWO,
    colorants("ab"),
    places=MAIN_PLACES,
    tint=tint_function(2),
)
add_drawn(
    "6.2.4.4-1",
    "colorants-with-one-description",
    FILL_TWO,
    colorants("ab", "a"),
    places=FEW_PLACES,
    tint=tint_function(2),
)
add_drawn(
    "6.2.4.4-1",
    "colorants-of-picture",
    "/Picture Do",
    PICTURE,
    places=FEW_PLACES,
    picture=picture("<< /ColorSpace [/DeviceN [/a /b] /DeviceRGB @tint] >>", b"ab", tint=tint_function(2)),
)

TWO_SPACES = "/First cs 0 scn 0 0 9 9 re f /Second cs 0 scn 0 0 9 9 re f"
GREEN_SPOT = f"[/Separation /Spot /DeviceRGB {TINT.format('1 1 1', '0 1 0')}]"
GRAY_SPOT = f"[/Separation /Spot /DeviceGray {TINT.format('0', '1')}]"
add_drawn(
    "6.2.4.4-2",
    "separation-of-two-tints",
    TWO_SPACES,
    places=MAIN_PLACES,
    resources=f"<< /ColorSpace << /First {colorant('Spot')} /Second {GREEN_SPOT} >> >>",
)
add_drawn(
    "6.2.4.4-2",
    "separation-of-two-spaces",
    TWO_SPACES,
    places=FEW_PLACES,
    resources=f"<< /ColorSpace << /First {colorant('Spot')} /Second {GRAY_SPOT} >> >>",
)


@breach("6.2.4.4-2", "separation-in-two-places")
def separation_in_two_places(document):
    """A separation has one tint on the page and another one in a form."""
    fill = "/Space cs 0 scn 0 0 9 9 re f"
    document.draw("page", fill, document.value(f"<< /ColorSpace << /Space {colorant('Spot')} >> >>"))
    document.draw("form", fill, document.value(f"<< /ColorSpace << /Space {GREEN_SPOT} >> >>"))
