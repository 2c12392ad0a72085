"""Gotenberg's Python client against an address: every route that it and the service have.

    python client.py http://127.0.0.1:3000
"""

import datetime
import sys
import tempfile
from pathlib import Path

from gotenberg_client import GotenbergClient
from gotenberg_client.options import PageOrientation, PdfAFormat

PAGE = "<!doctype html><title>T</title><h1>One</h1><p style='break-before: page'>Two</p>"
LETTER = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    '<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"'
    ' office:mimetype="application/vnd.oasis.opendocument.text">'
    "<office:body><office:text><text:p>Dear reader</text:p></office:text></office:body>"
    "</office:document>"
)


def is_pdf(answer):
    assert answer.status_code == 200, answer.status_code
    assert not answer.is_zip, answer.headers
    assert bytes(answer.content).startswith(b"%PDF-"), bytes(answer.content[:20])
    return bytes(answer.content)


def file(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def chromium(client, folder):
    page = file(folder, "page.html", PAGE)
    with client.chromium.html_to_pdf() as route:
        answer = route.index(page).orient(PageOrientation.Landscape).output_filename("mine").run()
    pdf = is_pdf(answer)
    assert 'filename="mine.pdf"' in answer.headers["content-disposition"]
    with client.chromium.screenshot_html() as route:
        answer = route.index(page).output_format("png").run()
    assert bytes(answer.content).startswith(b"\x89PNG")
    index = file(folder, "markdown.html", '<body>{{ toHTML "a.md" }}</body>')
    text = file(folder, "a.md", "# One\n\n* two\n")
    with client.chromium.markdown_to_pdf() as route:
        is_pdf(route.index(index).markdown_file(text).run())
    with client.chromium.screenshot_markdown() as route:
        answer = route.index(index).resource(text).run()
    assert bytes(answer.content).startswith(b"\x89PNG")
    return pdf


def libreoffice(client, folder):
    one, two = (file(folder, name, LETTER) for name in ("a.fodt", "b.fodt"))
    with client.libre_office.to_pdf() as route:
        is_pdf(route.convert(one).pdf_format(PdfAFormat.A2b).run())
    with client.libre_office.to_pdf() as route:
        is_pdf(route.convert_files([one, two]).merge(merge=True).run())
    with client.libre_office.to_pdf() as route:
        answer = route.convert_files([one, two]).merge(merge=False).run()
    assert answer.is_zip
    answer.extract_to(folder)
    assert (folder / "b.fodt.pdf").read_bytes().startswith(b"%PDF-")


def pdf_engines(client, folder, pdf):
    one, two = file(folder, "z.pdf", pdf), file(folder, "y.pdf", pdf)
    with client.merge.merge() as route:
        merged = is_pdf(route.merge([one, two]).run())
    merged = file(folder, "merged.pdf", merged)
    with client.split.split() as route:
        answer = route.split(merged).split_mode("intervals").split_span("3").run()
    assert answer.is_zip
    with client.flatten.flatten() as route:
        is_pdf(route.flatten(merged).run())
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
    with client.metadata.write() as route:
        route = route.write(merged).metadata(
            title="Straße", author="Me", creation_date=moment, keywords=["a", "b"], trapped=False
        )
        changed = is_pdf(route.run())
    changed = file(folder, "changed.pdf", changed)
    with client.metadata.read() as route:
        found = route.read(changed).run()["changed.pdf"]
    assert found["Title"] == "Straße" and found["PageCount"] == 4, found
    assert found["Keywords"] == ["a", "b"] and found["Trapped"] == "False", found
    with client.pdf_convert.to_pdfa() as route:
        is_pdf(route.convert(one).pdf_format(PdfAFormat.A2b).run())


def main():
    with GotenbergClient(sys.argv[1]) as client, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        health = client.health.health()
        assert health.overall == "up" and health.chromium.status == "up", health.data
        pdf = chromium(client, folder)
        libreoffice(client, folder)
        pdf_engines(client, folder, pdf)
        with client.version as version:
            assert version.get()
    print("done")


main()
