"""Steps that look into the files that came, by poppler, qpdf, veraPDF and Pillow."""

import os
import re
import subprocess
from pathlib import Path

from outcome import Difference, expect
from steps import step

PROGRAMS = ("qpdf", "pdfinfo", "pdftotext", "pdfimages", "pdfdetach", "java")
FLAVOURS = {"PDF/A-1b": "1b", "PDF/A-2b": "2b", "PDF/A-3b": "3b", "PDF/UA-1": "ua1", "PDF/UA-2": "ua2"}
PERMISSIONS = {"printing": "print", "copying": "copy", "modifying": "change", "annotating": "addNotes"}
FACTUR_X = ("urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#", "pdfaExtension:schemas")
ALL = r"the (?:response|webhook request) PDF\(s\)"
ONE = r'the "([^"]*)" PDF'
SHOULD = "(should|should NOT)"


def verapdf():
    """Folder of veraPDF's jars, where the other tests have them, too."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "platen/verapdf"


def said(*command):
    """What a program says, mistakes too."""
    output = subprocess.run(command, capture_output=True, text=True, errors="replace")
    return output.stdout + output.stderr


def objects(path):
    """The objects of a file as text, none of them packed."""
    command = ["qpdf", "--qdf", "--object-streams=disable", path, "-"]
    text = subprocess.run(command, capture_output=True).stdout.decode("latin-1")
    expect(text, f"{path.name}: qpdf cannot read it")
    return text.split("endobj")


def check_each(world, should, holds, complaint):
    """Whether something holds for every PDF file, or for none."""
    for path in world.pdf_files():
        check_one(path, should, holds(path), complaint)


def check_one(path, should, holds, complaint):
    expect(holds == (should == "should"), f"{path.name} {should} {complaint}")


@step(r"there should be (\d+) PDF\(s\) in the (?:response|webhook request)")
def check_count(world, one, count):
    names = [path.name for path in world.pdf_files()]
    expect(len(names) == int(count), f"{len(names)} PDF files, not {count}: {names}")


@step(r"there should be the following file\(s\) in the (?:response|webhook request):")
def check_files(world, one):
    names = [path.name for path in world.result_files()]
    for (wanted,) in one.table:
        is_part = wanted.startswith("*_")
        found = any(is_part and wanted[2:] in name or wanted.lower() == name.lower() for name in names)
        expect(found, f"no file `{wanted}` among {names}")


@step(rf'{ALL} should be valid "([^"]*)" with a tolerance of (\d+) failed rule\(s\)')
def check_standard(world, one, standard, tolerance):
    paths = world.pdf_files()
    program = Path(__file__).with_name("Rules.java")
    output = said("java", "-cp", f"{verapdf()}/*", program, FLAVOURS[standard], *paths)
    counts = re.findall(r"^(\d+) .*: (.*)$", output, re.MULTILINE)
    expect(len(counts) == len(paths), f"veraPDF: {output[-300:]}")
    for count, rules in counts:
        expect(int(count) <= int(tolerance), f"{standard}: breaks {count} rules, not {tolerance}: {rules}")


@step(f"{ALL} {SHOULD} be flatten")
def check_flatness(world, one, should):
    def is_flat(path):
        return not any("/Type /Annot" in text or "/Subtype /Widget" in text for text in objects(path))

    check_each(world, should, is_flat, "be flat")


@step(f"{ALL} {SHOULD} be encrypted")
def check_encryption(world, one, should):
    check_each(world, should, lambda path: "Incorrect password" in said("pdfinfo", path), "be encrypted")


@step(f'{ALL} {SHOULD} allow "([^"]*)"')
def check_permission(world, one, should, action):
    word = PERMISSIONS[action] + (":yes" if should == "should" else ":no")
    for path in world.pdf_files():
        expect(word in said("pdfinfo", path).replace(" ", ""), f"{path.name} {should} allow {action}")


@step(f'{ALL} {SHOULD} have the "([^"]*)" file embedded')
def check_embedded(world, one, should, name):
    check_each(world, should, lambda path: name in said("pdfdetach", "-list", path), f"have {name}")


@step(f'{ALL} should have the "([^"]*)" file embedded with relationship "([^"]*)"')
def check_relationship(world, one, name, relationship):
    def has_it(path):
        return any(name in text and f"/AFRelationship /{relationship}" in text for text in objects(path))

    check_each(world, "should", has_it, f"have {name} as {relationship}")


@step(r'the response PDF\(s\) should declare Factur-X XMP with conformance level "([^"]*)"')
def check_invoice(world, one, level):
    parts = (*FACTUR_X, f"<fx:ConformanceLevel>{level}</fx:ConformanceLevel>")
    for path in world.pdf_files():
        metadata = said("pdfinfo", "-meta", path)
        for part in parts:
            expect(part in metadata, f"{path.name}: its metadata has no {part}")


@step(rf"{ONE} should have (\d+) page\(s\)")
def check_pages(world, one, name, count):
    (actual,) = information(world.result(name), r"Pages:\s+(\d+)")
    expect(actual == count, f"{name} has {actual} pages, not {count}")


@step(f"{ONE} {SHOULD} be set to landscape orientation")
def check_orientation(world, one, name, should):
    width, height = map(float, information(world.result(name), r"Page size:\s+([\d.]+) x ([\d.]+)"))
    holds = width >= height if should == "should" else height >= width
    expect(holds, f"{name} {should} be landscape: {width} x {height}")


def information(path, pattern):
    """What `pdfinfo` says about a file."""
    output = said("pdfinfo", path)
    match = re.search(pattern, output)
    if not match:
        raise Difference(f"{path.name}: {output[:300]}")
    return match.groups()


@step(f"{ONE} {SHOULD} have a document outline")
def check_outline(world, one, name, should):
    path = world.result(name)
    check_one(path, should, any("/Outlines" in text for text in objects(path)), "have an outline")


@step(rf"{ONE} {SHOULD} have the following content at page (\d+):")
def check_content(world, one, name, should, page):
    path = world.result(name)
    text, part = page_text(path, page), world.expected(one)
    check_one(path, should, part in text, f"have {part!r} on page {page}: {text[:300]!r}")


@step(rf'{ONE} {SHOULD} have content matching "([^"]*)" at page (\d+)')
def check_match(world, one, name, should, pattern, page):
    path = world.result(name)
    text = page_text(path, page)
    check_one(path, should, re.search(pattern, text) is not None, f"match {pattern} on page {page}: {text[:300]!r}")


def page_text(path, page):
    return said("pdftotext", "-f", page, "-l", page, path, "-")


@step(rf"{ONE} should have (\d+) image\(s\)")
def check_images(world, one, name, count):
    # The first two lines are the head of the table.
    images = said("pdfimages", "-list", world.result(name)).strip().split("\n")[2:]
    expect(len(images) == int(count), f"{name} has {len(images)} images, not {count}")


@step(r'the "([^"]*)" image should be (\d+)x(\d+) pixels')
def check_size(world, one, name, width, height):
    size = picture(world.result(name)).size
    expect(size == (int(width), int(height)), f"{name} has {size} pixels, not {width} x {height}")


@step(r'the "([^"]*)" image pixel at (\d+),(\d+) should be "([^"]*)"')
def check_pixel(world, one, name, x, y, colour):
    red, green, blue, _ = picture(world.result(name)).convert("RGBA").getpixel((int(x), int(y)))
    actual = f"#{red:02x}{green:02x}{blue:02x}"
    expect(actual == colour.lower(), f"{name} has {actual} at {x},{y}, not {colour}")


def picture(path):
    # Two scenarios need it.
    from PIL import Image

    return Image.open(path)


@step(r'the "([^"]*)" file size should be (less|greater) than (\d+) KB')
def check_file_size(world, one, name, comparison, size):
    actual, bound = world.result(name).stat().st_size, int(size) * 1024
    holds = actual < bound if comparison == "less" else actual > bound
    expect(holds, f"{name} has {actual} bytes, which is not {comparison} than {bound}")
