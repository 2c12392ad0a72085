#!/usr/bin/env python3
"""Sends the same requests to Platen and to a Gotenberg, and says where the answers differ.

    tests/gotenberg/compare.py --platen http://127.0.0.1:3000 --gotenberg http://127.0.0.1:3001 \\
        [--only WORD]

Compared are the status, the media type and the name of the file; of PDF files the pages, their sizes, the
words, whether they are tagged or encrypted, and the pictures of the pages; of images the size and the
pixels; of archives their files; of JSON its values. It needs Python 3.11 with requests and Pillow, and
poppler. Each answer is the product of two programs, so a difference is something to look at, not a fault:
the exit status is 0 unless a request could not be sent.
"""

import argparse
import io
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True

import requests  # noqa: E402
from PIL import Image, ImageChops, ImageStat  # noqa: E402

import features  # noqa: E402

# Mean difference of the parts of colors, of 255, that two pictures of a page may have: edges of letters.
TOLERANCE = 2.5
DOTS_PER_INCH = 40
SECONDS = 120

STYLE = "<style>body{font:12pt 'Liberation Sans';margin:0}h1{color:#126}</style>"
PARAGRAPHS = "".join(f"<p>Paragraph {n} of some words, and of some more of them.</p>" for n in range(60))
PAGE = (
    f"<!doctype html><html lang=en><head><title>A page</title>{STYLE}</head><body>"
    "<h1 id=top>Words</h1><div style='background:#fc8;width:50%;height:40px'>box</div>"
    f"<h2>Second</h2><p><a href='https://example.com/'>a link</a></p>{PARAGRAPHS}</body></html>"
)
SHORT = f"<!doctype html><html><head><title>Short</title>{STYLE}</head><body><h1>Words</h1></body></html>"
MARGIN = (
    "<html><head><style>body{font:9px 'Liberation Sans';margin:0 40px}</style></head><body><p>Page "
    "<span class=pageNumber></span> of <span class=totalPages></span>, <span class=title></span></p></body></html>"
)


def html(page=PAGE, **fields):
    """A form for Chromium's route of HTML."""
    return "/forms/chromium/convert/html", fields, [("files", "index.html", page.encode())]


def shot(page=PAGE, **fields):
    return "/forms/chromium/screenshot/html", fields, [("files", "index.html", page.encode())]


def pages(**fields):
    return html(PAGE, **fields)


def chromium():
    """Forms for Chromium, by name."""
    yield "html", pages()
    sizes = [("8.27", "11.7"), ("210mm", "297mm"), ("21cm", "29.7cm"), ("600pt", "800px"), ("5in", "7in")]
    for width, height in sizes:
        yield f"paper {width}", pages(paperWidth=width, paperHeight=height)
    yield "paper, wrong unit", pages(paperWidth="8ell")
    yield "paper, negative", pages(paperWidth="-1")
    yield "paper, none", pages(paperWidth="0")
    yield "landscape", pages(landscape="true")
    yield "landscape, wrong", pages(landscape="foo")
    yield "margins", pages(marginTop="2", marginBottom="1cm", marginLeft="0", marginRight="30mm")
    yield "margins too wide", pages(marginLeft="5", marginRight="5")
    for scale in ["0.5", "1.7", "3", "0", "x"]:
        yield f"scale {scale}", pages(scale=scale)
    yield "background", pages(printBackground="true")
    yield "background omitted", pages(printBackground="true", omitBackground="true")
    yield "background omitted alone", pages(omitBackground="true")
    sheet = PAGE.replace("</style>", "@page{size:6in 4in;margin:1in}</style>")
    yield "css page", html(sheet, preferCssPageSize="true")
    yield "css page, not preferred", html(sheet)
    for ranges in ["1", "1-2", "2-", "-2", "3,1", "1-1,1", "7-9", "foo", "0"]:
        yield f"ranges {ranges}", pages(nativePageRanges=ranges)
    yield "single page", pages(singlePage="true")
    yield "single page, landscape", pages(singlePage="true", landscape="true", scale="0.8")
    yield "single page, short", html(SHORT, singlePage="true")
    path, fields, files = pages(marginTop="1", marginBottom="1")
    margins = [("files", "header.html", MARGIN.encode()), ("files", "footer.html", MARGIN.encode())]
    yield "header and footer", (path, fields, files + margins)
    yield "header alone", (path, fields, files + margins[:1])
    yield "outline", pages(generateDocumentOutline="true", generateTaggedPdf="true")
    yield "tagged", pages(generateTaggedPdf="true")
    screen = PAGE.replace("</style>", "@media screen{h1{font-size:80px}}@media print{h2{display:none}}</style>")
    for media in ["screen", "print", "foo"]:
        yield f"media {media}", html(screen, emulatedMediaType=media)
    yield "media, usual", html(screen)
    script = "<script>document.body.append(matchMedia('print').matches ? 'sheet' : 'window')</script>"
    yield "media in a script", html(screen + script)
    feature = json.dumps([{"name": "prefers-color-scheme", "value": "dark"}])
    dark = PAGE.replace("</style>", "@media (prefers-color-scheme:dark){h1{font-size:70px}}</style>")
    yield "media features", html(dark, emulatedMediaFeatures=feature)
    for name, expression in [
        ("true", "true"), ("late", "window.a === 1"), ("promise", "new Promise(r => setTimeout(() => r(1), 200))"),
        ("undefined", "undefined"), ("throws", "foo()"), ("syntax", "return a"),
    ]:
        late = SHORT + "<script>setTimeout(() => { window.a = 1; document.body.append('late') }, 300)</script>"
        yield f"expression {name}", html(late, waitForExpression=expression)
    yield "selector", html(SHORT + "<p id=a>", waitForSelector="#a")
    yield "selector, wrong", html(SHORT, waitForSelector="[[")
    yield "delay", html(SHORT + "<script>setTimeout(() => document.body.append('late'), 300)</script>",
                        waitDelay="600ms")
    yield "delay, wrong", html(SHORT, waitDelay="soon")
    yield "exception", html(SHORT + "<script>throw new Error('no')</script>", failOnConsoleExceptions="true")
    yield "missing picture", html(SHORT + "<img src=missing.png>", failOnResourceLoadingFailed="true")
    yield "missing picture, unasked", html(SHORT + "<img src=missing.png>")
    yield "metadata", pages(metadata=json.dumps({"Title": "T", "Author": "A", "Keywords": ["a", "b"]}))
    yield "metadata, wrong", pages(metadata="foo")
    yield "split", pages(splitMode="intervals", splitSpan="1")
    yield "split pages", pages(splitMode="pages", splitSpan="1-2", splitUnify="true")
    yield "split, wrong", pages(splitMode="foo", splitSpan="1")
    yield "password", pages(userPassword="secret", ownerPassword="owner")
    yield "rotated", pages(rotateAngle="90", rotatePages="1")
    yield "rotated, wrong", pages(rotateAngle="45")
    yield "stamp", pages(stampSource="text", stampExpression="PAID")
    yield "watermark", pages(watermarkSource="text", watermarkExpression="DRAFT", watermarkPages="1")
    yield "without index.html", ("/forms/chromium/convert/html", {}, [("files", "a.html", b"<p>")])
    yield "without files", ("/forms/chromium/convert/html", {}, [])
    yield "empty page", html("")
    yield "unknown field", pages(foo="bar")
    markdown = b"# Words\n\n- one\n- *two*\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n~~gone~~ `code`\n"
    frame = f"<html><head>{STYLE}</head><body>{{{{ toHTML \"a.md\" }}}}</body></html>".encode()
    route = "/forms/chromium/convert/markdown"
    yield "markdown", (route, {}, [("files", "index.html", frame), ("files", "a.md", markdown)])
    yield "markdown, missing", (route, {}, [("files", "index.html", frame), ("files", "b.md", markdown)])
    yield "markdown, none", (route, {}, [("files", "index.html", frame)])
    yield "url, none", ("/forms/chromium/convert/url", {}, [])
    for kind in ["png", "jpeg", "webp", "gif"]:
        yield f"screenshot {kind}", shot(format=kind)
    yield "screenshot size", shot(width="600", height="400", clip="true")
    yield "screenshot size, unclipped", shot(width="600", height="400")
    yield "screenshot quality", shot(format="jpeg", quality="20")
    yield "screenshot quality, wrong", shot(format="jpeg", quality="200")
    yield "screenshot without background", shot(omitBackground="true")
    yield "screenshot selector", shot(selector="h1")


def engines(data):
    """Forms for the engines of PDF files, by name."""
    one, three, twelve = (data / name for name in ["page_1.pdf", "pages_3.pdf", "pages_12.pdf"])
    marked = data / "page_1_with_bookmarks.pdf"
    read = lambda *paths: [("files", path.name, path.read_bytes()) for path in paths]  # noqa: E731
    form = lambda route, files, **fields: (f"/forms/pdfengines/{route}", fields, files)  # noqa: E731
    yield "merge", form("merge", read(three, one, twelve))
    yield "merge bookmarks", form("merge", read(marked, data / "page_2_with_bookmarks.pdf"))
    yield "merge one", form("merge", read(one))
    yield "merge, none", form("merge", [])
    for mode, span, unify in [("intervals", "1", ""), ("intervals", "2", ""), ("pages", "1-2", "true"),
                              ("pages", "2-", "true"), ("pages", "3,1", "true"), ("pages", "1,3", ""),
                              ("pages", "9", "true"), ("intervals", "0", ""), ("pages", "foo", "true")]:
        fields = {"splitMode": mode, "splitSpan": span} | ({"splitUnify": unify} if unify else {})
        yield f"split {mode} {span}", form("split", read(three), **fields)
    yield "split two", form("split", read(one, three), splitMode="intervals", splitSpan="1")
    yield "split, nothing said", form("split", read(three))
    yield "flatten", form("flatten", read(three))
    yield "convert, nothing said", form("convert", read(one))
    for angle, which in [("90", ""), ("180", "2"), ("270", "1-2"), ("-90", ""), ("foo", "")]:
        fields = {"rotateAngle": angle} | ({"rotatePages": which} if which else {})
        yield f"rotate {angle} {which}", form("rotate", read(three), **fields)
    for route in ["stamp", "watermark"]:
        text = {f"{route}Source": "text", f"{route}Expression": "Some words"}
        yield route, form(route, read(three), **text)
        options = {f"{route}Options": json.dumps({"points": 40, "rotation": 30, "opacity": 0.5, "position": "tl"})}
        yield f"{route} options", form(route, read(three), **text, **options)
        options = {f"{route}Options": json.dumps({"scalefactor": "0.3 abs", "fillcolor": "#ff0000"})}
        yield f"{route} scale", form(route, read(three), **text, **options)
        picture = [(route, "watermark.png", (data / "watermark.png").read_bytes())]
        image = {f"{route}Source": "image", f"{route}Expression": "watermark.png"}
        yield f"{route} image", form(route, read(three) + picture, **image)
        other = [(route, "page_2.pdf", (data / "page_2.pdf").read_bytes())]
        source = {f"{route}Source": "pdf", f"{route}Expression": "page_2.pdf"}
        yield f"{route} pdf", form(route, read(three) + other, **source)
        yield f"{route}, nothing said", form(route, read(three))
        yield f"{route}, wrong source", form(route, read(three), **{f"{route}Source": "foo"})
    yield "metadata read", form("metadata/read", read(one, three))
    yield "metadata write", form("metadata/write", read(one), metadata=json.dumps({"Title": "T", "Author": "A"}))
    yield "metadata write, nothing", form("metadata/write", read(one))
    yield "bookmarks read", form("bookmarks/read", read(marked, one))
    tree = json.dumps([{"title": "One", "page": 1, "children": [{"title": "Two", "page": 2}]}])
    yield "bookmarks write", form("bookmarks/write", read(three), bookmarks=tree)
    yield "bookmarks write, wrong page", form("bookmarks/write", read(one), bookmarks=tree)
    yield "encrypt", form("encrypt", read(one), userPassword="secret")
    yield "encrypt, nothing said", form("encrypt", read(one))
    embeds = [("embeds", "embed_1.xml", (data / "embed_1.xml").read_bytes())]
    yield "embed", form("embed", read(one) + embeds)
    yield "embed, nothing", form("embed", read(one))
    broken = [("files", "a.pdf", b"%PDF-1.4\nnothing")]
    for route, fields in [("merge", {}), ("flatten", {}), ("metadata/read", {}), ("rotate", {"rotateAngle": "90"})]:
        yield f"{route} damaged", form(route, broken, **fields)
    yield "no pdf", form("merge", [("files", "a.txt", b"words")])


def office(data):
    """Forms for LibreOffice, by name."""
    def form(*names, **fields):
        files = [("files", name, (data / name).read_bytes()) for name in names]
        return "/forms/libreoffice/convert", fields, files

    yield "docx", form("page_1.docx")
    yield "docx two", form("page_1.docx", "page_2.docx")
    yield "docx merged", form("page_1.docx", "pages_3.docx", merge="true")
    yield "docx landscape", form("pages_3.docx", landscape="true")
    for ranges in ["1", "2-3", "foo", "9"]:
        yield f"docx ranges {ranges}", form("pages_3.docx", nativePageRanges=ranges)
    yield "docx protected", form("protected_page_1.docx")
    yield "docx password", form("protected_page_1.docx", password="foo")
    yield "docx wrong password", form("protected_page_1.docx", password="bar")
    yield "csv", form("sheet.csv")
    yield "xlsx", form("singlepagesheets-scrolled.xlsx")
    yield "xlsx single pages", form("singlepagesheets-scrolled.xlsx", singlePageSheets="true")
    yield "slides", form("slideshow.ppsx")
    yield "split", form("pages_3.docx", splitMode="intervals", splitSpan="1")
    yield "metadata", form("page_1.docx", metadata=json.dumps({"Title": "T"}))
    yield "quality, wrong", form("page_1.docx", quality="foo")
    yield "watermark", form("page_1.docx", nativeWatermarkText="DRAFT")
    yield "page and csv", form("page_1.docx", "sheet.csv")
    yield "none", ("/forms/libreoffice/convert", {}, [])
    yield "unknown file", ("/forms/libreoffice/convert", {}, [("files", "a.foo", b"words")])
    yield "text", ("/forms/libreoffice/convert", {}, [("files", "a.txt", "Some wörds.".encode())])
    yield "damaged", ("/forms/libreoffice/convert", {}, [("files", "a.docx", b"PK\x03\x04nothing")])


def send(address, request):
    path, fields, files = request
    parts = [(name, (None, value)) for name, value in fields.items()]
    parts += [(field, (name, content)) for field, name, content in files]
    # A form without parts is still a form.
    parts = parts or [("nothing", (None, ""))]
    return requests.post(address + path, files=parts, timeout=SECONDS)


def info(path, *more):
    out = subprocess.run(["pdfinfo", *more, path], capture_output=True, text=True, check=False)
    return out.stdout if out.returncode == 0 else None


def of_pdf(content, folder):
    """What is compared of a PDF file."""
    path = folder / "a.pdf"
    path.write_bytes(content)
    about = info(path)
    if about is None:
        about = info(path, "-upw", "secret")
        return {"encrypted": about is not None}
    value = lambda name: (re.search(rf"^{name}:\s*(.*)$", about, re.M) or [None, ""])[1]  # noqa: E731
    count = int(value("Pages") or 0)
    sheets = info(path, "-f", "1", "-l", str(count)) or ""
    sizes = [tuple(round(float(side)) for side in it) for it in
             re.findall(r"Page\s+\d+ size:\s+([\d.]+) x ([\d.]+)", sheets)]
    text = subprocess.run(["pdftotext", path, "-"], capture_output=True, text=True, check=False).stdout
    prefix = folder / "page"
    for old in folder.glob("page-*"):
        old.unlink()
    subprocess.run(["pdftoppm", "-r", str(DOTS_PER_INCH), "-png", path, prefix], check=False)
    return {
        "pages": count,
        "sizes": sizes,
        "rotations": re.findall(r"Page\s+\d+ rot:\s+(\d+)", sheets),
        "title": value("Title"), "author": value("Author"), "keywords": value("Keywords"),
        "tagged": value("Tagged"),
        "words": text.split(),
        "pictures": [Image.open(it).convert("RGB").copy() for it in sorted(folder.glob("page-*.png"))],
    }


def unlike(ours, theirs):
    """How much two pictures differ, if they do."""
    if ours.size != theirs.size:
        return f"{ours.size} and not {theirs.size}"
    mean = sum(ImageStat.Stat(ImageChops.difference(ours, theirs)).mean) / 3
    return f"pixels by {mean:.1f}" if mean > TOLERANCE else None


def differences(ours, theirs, kind, folder, name=""):
    """Sentences on two bodies of the same kind."""
    if kind == "application/pdf":
        ours, theirs = of_pdf(ours, folder), of_pdf(theirs, folder)
        for key in ours.keys() | theirs.keys():
            if key != "pictures" and ours.get(key) != theirs.get(key):
                show = lambda it: str(it)[:150]  # noqa: E731
                yield f"{name}{key}: {show(ours.get(key))} and not {show(theirs.get(key))}"
        for number, pair in enumerate(zip(ours.get("pictures", []), theirs.get("pictures", [])), 1):
            if how := unlike(*pair):
                yield f"{name}page {number}: {how}"
    elif kind.startswith("image/"):
        ours, theirs = (Image.open(io.BytesIO(it)) for it in [ours, theirs])
        if ours.mode != theirs.mode:
            yield f"{name}mode {ours.mode} and not {theirs.mode}"
        if how := unlike(ours.convert("RGB"), theirs.convert("RGB")):
            yield f"{name}{how}"
    elif kind == "application/zip":
        ours, theirs = (zipfile.ZipFile(io.BytesIO(it)) for it in [ours, theirs])
        names = [sorted(it.namelist()) for it in [ours, theirs]]
        if names[0] != names[1]:
            yield f"files {names[0]} and not {names[1]}"
        for each in sorted(set(names[0]) & set(names[1])):
            kind = "application/pdf" if each.endswith(".pdf") else "application/octet-stream"
            yield from differences(ours.read(each), theirs.read(each), kind, folder, f"{each}: ")
    elif kind == "application/json":
        ours, theirs = json.loads(ours), json.loads(theirs)
        if ours != theirs:
            yield f"{name}`{str(ours)[:300]}` and not `{str(theirs)[:300]}`"
    elif ours != theirs:
        show = lambda it: it.decode(errors="replace")[:300]  # noqa: E731
        yield f"{name}`{show(ours)}` and not `{show(theirs)}`"


def compared(request, platen, gotenberg, folder):
    ours, theirs = send(platen, request), send(gotenberg, request)
    if ours.status_code != theirs.status_code:
        say = lambda it: f"{it.status_code} `{it.text[:200]}`" if it.status_code != 200 else "200"  # noqa: E731
        return [f"{say(ours)} and not {say(theirs)}"]
    kinds = [it.headers.get("content-type", "").split(";")[0] for it in [ours, theirs]]
    if kinds[0] != kinds[1]:
        return [f"{kinds[0]} and not {kinds[1]}"]
    found = []
    # Without a name of the client's, Gotenberg's files have random ones.
    is_random = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
    names = [is_random.sub("ID", it.headers.get("content-disposition", "")) for it in [ours, theirs]]
    if names[0] != names[1]:
        found.append(f"{names[0]} and not {names[1]}")
    try:
        return found + list(differences(ours.content, theirs.content, kinds[0], folder))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        return [*found, f"an answer that cannot be read: {error}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--platen", required=True, help="address of a Platen")
    parser.add_argument("--gotenberg", required=True, help="address of a Gotenberg")
    parser.add_argument("--only", default="", help="compare only forms whose name has this word")
    arguments = parser.parse_args()
    data = features.find().parent / "testdata"
    groups = {"chromium": chromium(), "engines": engines(data), "office": office(data)}
    same = 0
    with tempfile.TemporaryDirectory() as folder:
        for group, forms in groups.items():
            for name, request in forms:
                name = f"{group}: {name}"
                if arguments.only not in name:
                    continue
                found = compared(request, arguments.platen, arguments.gotenberg, Path(folder))
                same += not found
                for line in found:
                    print(f"{name}: {line}", flush=True)
    print(f"{same} answers are the same")


if __name__ == "__main__":
    main()
