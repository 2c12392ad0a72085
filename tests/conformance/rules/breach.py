"""What a breach is, and the ways to write many of them down."""

from dataclasses import dataclass
from typing import Callable

from document import Document, renewed_table

SOUND = "sound"
ODD = "odd"

PLACES = ("page", "indirect-page", "form", "nested-form", "pattern", "annotation", "glyph")
EVERY_PLACE = (*PLACES, "indirect-form", "button")
MAIN_PLACES = ("page", "form", "pattern", "annotation", "glyph")
FEW_PLACES = ("page", "form")

BREACHES = []


@dataclass(frozen=True)
class Breach:
    """A file that breaks a rule of veraPDF, or is sound (`SOUND`), or is odd and may be either (`ODD`)."""

    flavour: str
    rule: str
    name: str
    change: Callable[[Document], object]

    @property
    def label(self):
        """The name of the file."""
        return f"{self.flavour}_{self.rule}_{self.name}"

    def write(self, path):
        """Writes the document with the change made to it."""
        document = Document("3" if self.flavour == "3b" else "2")
        self.change(document)
        document.write(path)


def add(rule, name, change, flavour="2b"):
    """Adds a breach, made by a function that changes the document."""
    BREACHES.append(Breach(flavour, rule, name, change))


def breach(rule, name, flavour="2b"):
    """Marks a function that makes a breach."""

    def mark(change):
        add(rule, name, change, flavour)
        return change

    return mark


def accessible_breach(rule, name):
    """Marks a function that breaks a rule of PDF/UA."""
    return breach(rule, name, "ua1")


def sound(name, flavour="2b"):
    """Marks a function whose file breaks no rule."""
    return breach(SOUND, name, flavour)


def add_drawn(rule, name, operators, resources="<< >>", places=PLACES, flavour="2b", **objects):
    """Adds a breach by what is drawn, once for each place; `objects` stand for `@name` in the resources."""
    for place in places:

        def change(document, place=place):
            document.draw(place, operators, document.value(resources, **objects))

        add(rule, f"{name}-in-{place}", change, flavour)


def add_entries(rule, name, target, entries, flavour="2b", **objects):
    """Adds a breach by entries of a part of the document: its `catalog`, `page`, `intent` and so on."""

    def change(document):
        document.update(getattr(document, target), entries, **objects)

    add(rule, name, change, flavour)


def add_removal(rule, name, target, *keys, flavour="2b"):
    """Adds a breach by entries that are missing."""

    def change(document):
        document.remove(getattr(document, target), *keys)

    add(rule, name, change, flavour)


def add_bytes(rule, name, change_bytes, renew=False, flavour="2b"):
    """Adds a breach by changed bytes, with the table of cross-references made anew or not."""

    def change(document):
        document.change_bytes = lambda data: (
            renewed_table(change_bytes(data)) if renew else change_bytes(data)
        )

    add(rule, name, change, flavour)


def replace_bytes(old, new):
    """Gives a function that replaces the first place that has some bytes."""

    def change(data):
        assert old in data, old
        return data.replace(old, new, 1)

    return change
