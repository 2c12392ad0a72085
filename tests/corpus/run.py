#!/usr/bin/env python3
"""Runs every operation of `platen pdf` on every PDF file of some folders, with qpdf and poppler as judges.

    tests/corpus/run.py target/release/platen pikepdf-10.18.0 pypdf-7.1.1 qpdf-11.3.0

The source archives of pikepdf, pypdf and qpdf have files with every kind of damage. All of them take an
hour; a test runs a third of the operations on each file of pypdf (`--part 0/3`).

An operation makes a file that qpdf and poppler open, or ends with an error that says why: no panic, no
signal, no more than a minute, no more than 2 GB. Where the original can be read, the result has its
pages, and the operations that do not change what pages show leave its words and its pixels as they are.
After a redaction of the word in the middle of page 1, poppler finds nothing there, and all letters elsewhere.
What `sign` and `timestamp` add holds, as `verify` says; openssl is the authority of timestamps.
With `--verapdf JARS`, veraPDF says whether what `archive` made is PDF/A-2b.
Prints what went wrong, then a table. Exits with 1 if anything did.
"""

import argparse
import concurrent.futures
import hashlib
import html
import http.server
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

SECONDS = 60
MEMORY = 2 << 30
PASSWORD = "correct horse"
PIXEL = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\x02\0\0\0\x90wS\xde"
    b"\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\3\1\1\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82"
)
# Arguments, how many pages are left of how many, and whether words and pixels stay as they are.
SAME, TWICE = (lambda pages: pages), (lambda pages: 2 * pages)
WHOLE = {
    "merge": ([], TWICE, False),
    "select": (["--pages", "1"], lambda _: 1, False),
    "split": (["--every", "7"], None, False),
    "rotate": (["--degrees", "90"], SAME, False),
    "flatten": ([], SAME, False),
    "stamp": (["--text", "Größe 東京 PAID", "--diagonal", "--opacity", "0.3"], SAME, False),
    "stamp-picture": (["--file", "{folder}/pixel.png", "--position", "top-right"], SAME, False),
    "change-compose": (["--operations", "{folder}/compose.json"], lambda _: 1, False),
    "bookmarks": (["--bookmarks", "{folder}/bookmarks.json"], SAME, True),
    "attach": (["--file", "{folder}/data.xml", "--relationship", "Data"], SAME, True),
    "change-detach": (["--operations", "{folder}/detach.json"], SAME, True),
    "fill": (["--values", "{folder}/values.json"], SAME, False),
    "metadata": (["--metadata", "{folder}/metadata.json"], SAME, True),
    "optimize": ([], SAME, True),
    "sign": (["--key", "{shared}/key.pem"], SAME, True),
    "timestamp": (["--timestamp-url", "{clock}"], SAME, True),
    "encrypt": (["--user-password-file", "{folder}/password"], SAME, True),
    "decrypt": (["--password-file", "{folder}/password"], SAME, True),
    "archive": (["--standard", "pdf-a-2b"], SAME, False),
    "invoice": (["--xml", "{shared}/factur-x.xml"], SAME, False),
}
# Operations on what another one made of the file.
AFTER = {"change-detach": "attach", "decrypt": "encrypt"}
COMPOSE = [{"do": "compose", "size": [842, 595], "placements": [
    {"scale": 0.5}, {"scale": 0.5, "at": [421, 0], "rotation": 30}]}]
# An authority of timestamps, for openssl.
AUTHORITY = """[req]
distinguished_name=dn
[dn]
[stamper]
basicConstraints=CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=critical,timeStamping
[tsa]
default_tsa=here
[here]
serial=serial
signer_digest=sha256
default_policy=1.2.3
digests=sha256
"""
# What is known to be marked as wrong: operation and file, two spaces, and why.
KNOWN = Path(__file__).with_name("known.txt")
WORD = re.compile(r'<word xMin="([^"]*)" yMin="([^"]*)" xMax="([^"]*)" yMax="([^"]*)">([^<]*)<')
READ = ["describe", "verify", "validate", "text", "images", "attachments", "pages"]
VALIDATE = Path(__file__).resolve().parents[1] / "conformance/Validate.java"
EXAMPLE = Path(__file__).resolve().parents[2] / "examples/invoice-facturx-fr"


def limited():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, seconds=SECONDS):
    """Status (None after a timeout), both outputs as bytes, and the greatest memory in bytes."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, preexec_fn=limited)
        timer = threading.Timer(seconds, child.kill)
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timed_out = not timer.is_alive()
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        status = None if timed_out else child.returncode
        return status, out.read(), err.read(), usage.ru_maxrss * 1024


def words(file, password=None):
    options = ["-upw", password] if password else []
    status, out, _, _ = run(["pdftotext", *options, str(file), "-"])
    return out if status == 0 else None


def places(file):
    """Width and height of page 1, and its words with left, top, right and bottom; None if poppler has none."""
    status, out, _, _ = run(["pdftotext", "-bbox", "-cropbox", "-l", "1", str(file), "-"])
    out = out.decode(errors="replace")
    page = re.search(r'<page width="([^"]*)" height="([^"]*)"', out)
    found = [(html.unescape(word[4]), [float(edge) for edge in word[:4]]) for word in WORD.findall(out)]
    return ((float(page[1]), float(page[2])), found) if status == 0 and page and found else None


def pixels(file, password=None):
    options = ["-upw", password] if password else []
    status, out, _, _ = run(["pdftoppm", *options, "-r", "36", "-l", "3", str(file)])
    return hashlib.sha256(out).digest() if status == 0 and out else None


def page_count(file, password=None):
    options = [f"--password={password}"] if password else []
    status, out, _, _ = run(["qpdf", *options, "--show-npages", str(file)])
    return int(out) if status in (0, 3) and out.strip().isdigit() else None


def wrong_end(status, err, memory):
    """What is wrong with how a command ended, if anything."""
    if status is None:
        return f"took more than {SECONDS} s"
    if status < 0:
        return f"ended by signal {-status}"
    if b"panicked" in err or b"internal-error" in err:
        return f"panicked: {err[-300:]!r}"
    if status != 0 and not err.strip():
        return f"ended with {status} without a word"
    if memory > MEMORY:
        return f"took {memory >> 20} MiB"
    return None


class Clock(http.server.BaseHTTPRequestHandler):
    """Answers requests for timestamps by openssl, one at a time as it counts in a file."""

    folder, turn = None, threading.Lock()

    def do_POST(self):
        query = self.rfile.read(int(self.headers["Content-Length"]))
        with self.turn:
            (self.folder / "query").write_bytes(query)
            openssl(self.folder, "ts -reply -config openssl.cnf -queryfile query -signer clock.crt -inkey clock.key -out reply")
            reply = (self.folder / "reply").read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "application/timestamp-reply")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


def openssl(folder, line):
    subprocess.run(["openssl", *line.split()], check=True, capture_output=True, cwd=folder)


class Corpus:
    def __init__(self, platen, shared, part):
        """`part` is which operations run on a file, beginning with its number, and of how many."""
        self.platen = platen
        self.shared = shared
        self.part = part
        # What `archive` made, and of which files.
        self.archival = {}
        self.must("render", EXAMPLE / "template.json", EXAMPLE / "data.json", "-o", shared / "invoice.pdf")
        self.must("pdf", "attachments", shared / "invoice.pdf", "-o", shared)
        (shared / "openssl.cnf").write_text(AUTHORITY)
        (shared / "serial").write_text("01\n")
        new = "req -x509 -config openssl.cnf -newkey rsa:2048 -nodes -days 2"
        openssl(shared, f"{new} -subj /CN=Corpus -keyout key -out certificate")
        openssl(shared, f"{new} -subj /CN=Clock -extensions stamper -keyout clock.key -out clock.crt")
        text = {name: (shared / name).read_text() for name in ("certificate", "key", "clock.crt")}
        (shared / "key.pem").write_text(text["certificate"] + text["key"])
        (shared / "trust.pem").write_text(text["certificate"] + text["clock.crt"])
        Clock.folder = shared
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Clock)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.clock = f"http://127.0.0.1:{server.server_port}/"

    def must(self, *arguments):
        subprocess.run([self.platen, *arguments, "-q"], check=True, cwd=EXAMPLE)

    def chosen(self, number):
        """The operations for a file, and those whose results they need."""
        first, of = self.part
        names = [*READ, *WHOLE, "redact"]
        chosen = {name for at, name in enumerate(names) if (at + number) % of == first}
        return chosen | {AFTER[name] for name in chosen & AFTER.keys()}

    def check(self, number, file):
        """Mistakes and outcomes of the operations on a file."""
        chosen = self.chosen(number)
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            self.prepare(file, folder)
            # Of files whose content has mistakes, which no operation mends, qpdf says 2 or 3.
            sound = run(["qpdf", "--check", str(file)])[0] == 0
            original = (sound, page_count(file), words(file), pixels(file))
            mistakes, outcomes = [], Counter()
            for name in filter(chosen.__contains__, READ):
                command = [self.platen, "pdf", name, str(file)]
                if name in ("images", "attachments", "pages"):
                    command += ["-o", str(folder / name)]
                if name == "pages":
                    command += ["--pages", "1", "--dpi", "36"]
                if name == "validate":
                    command += ["--standard", "pdf-a-2b", "--accessible"]
                status, out, err, memory = run(command)
                # `verify` and `validate` say on standard output what does not hold.
                err = err or (out if status else b"")
                self.note(mistakes, outcomes, name, file, status, wrong_end(status, err, memory), err)
            for name in filter(chosen.__contains__, WHOLE):
                self.change(name, file, folder, original, mistakes, outcomes)
            if "redact" in chosen:
                self.redact(file, folder, original, mistakes, outcomes)
            return mistakes, outcomes

    def prepare(self, file, folder):
        (folder / "pixel.png").write_bytes(PIXEL)
        (folder / "bookmarks.json").write_text('[{"title": "Início – 始め", "page": 1}]')
        (folder / "data.xml").write_text("<data/>")
        (folder / "detach.json").write_text('[{"do": "detach", "file": "data.xml"}]')
        (folder / "compose.json").write_text(json.dumps(COMPOSE))
        (folder / "metadata.json").write_text('{"Title": "Größe 東京"}')
        (folder / "password").write_text(PASSWORD)
        values = {}
        status, out, _, _ = run([self.platen, "pdf", "describe", "--json", str(file)])
        described = json.loads(out) if status == 0 else {}
        for description in described.values():
            for field in description.get("fields", []):
                if field["kind"] == "text" and not field["readOnly"]:
                    values[field["name"]] = "7"
        (folder / "values.json").write_text(json.dumps(values))

    def change(self, name, file, folder, original, mistakes, outcomes):
        arguments, part, same = WHOLE[name]
        arguments = [argument.format(folder=folder, shared=self.shared, clock=self.clock) for argument in arguments]
        source = file
        if name in AFTER:
            source = folder / f"{AFTER[name]}.pdf"
            if not source.exists():
                return
        files = [str(source)] * (2 if name == "merge" else 1)
        out = folder / (name if name == "split" else f"{name}.pdf")
        operation = name.partition("-")[0]
        status, _, err, memory = run([self.platen, "pdf", operation, *files, *arguments, "-o", str(out)])
        wrong = wrong_end(status, err, memory)
        if wrong is None and status == 0:
            made = sorted(out.iterdir())[:3] if out.is_dir() else [out]
            for one in made:
                wrong = wrong or self.judge(name, one, part, same, original)
            if name in ("sign", "timestamp") and b"/ByteRange" not in file.read_bytes():
                trust = str(self.shared / "trust.pem")
                held, said, _, _ = run([self.platen, "pdf", "verify", str(out), "--trust", trust])
                wrong = wrong or (None if held == 0 else f"does not hold: {said[-300:]!r}")
            if name == "archive":
                number = len(self.archival)
                self.archival[str(out.replace(self.shared / f"archival-{number}.pdf"))] = file
        self.note(mistakes, outcomes, name, file, status, wrong, err)

    def redact(self, file, folder, original, mistakes, outcomes):
        """Takes the word in the middle of page 1 out."""
        found = places(file)
        if not found:
            return
        said = run(["pdfinfo", "-box", "-l", "1", str(file)])[1].decode(errors="replace")
        edges = re.findall(r"(?:MediaBox|CropBox): *(.*)", said)
        turned = re.search(r" rot: *(\d+)", said)
        if len(set(edges)) != 1 or not turned:
            return
        (wide, tall), before = found
        # Poppler says the size of the page before it is turned, and places after.
        high = wide if turned[1] in ("90", "270") else tall
        left, top, right, bottom = before[len(before) // 2][1]
        if right - left < 1 or bottom - top < 1:
            return
        region = f"1,{left},{high - bottom},{right - left},{bottom - top}"
        out = folder / "redact.pdf"
        status, _, err, memory = run([self.platen, "pdf", "redact", str(file), "--region", region, "-o", str(out)])
        wrong = wrong_end(status, err, memory)
        if wrong is None and status == 0:
            wrong = self.judge("redact", out, SAME, False, original)
            _, after = places(out) or (None, [])
            inside = [word for word, (x1, y1, x2, y2) in after
                      if left < (x1 + x2) / 2 < right and top < (y1 + y2) / 2 < bottom]
            # Words that touch the area may lose letters; poppler may part others in another way.
            kept = [word for word, (x1, y1, x2, y2) in before if x2 < left or x1 > right or y2 < top or y1 > bottom]
            lost = Counter("".join(kept)) - Counter("".join(word for word, _ in after))
            if inside:
                wrong = wrong or f"still there: {inside}"
            if lost:
                wrong = wrong or f"lost elsewhere: {''.join(lost.elements())[:80]!r}"
        self.note(mistakes, outcomes, "redact", file, status, wrong, err)

    def judge(self, name, made, part, same, original):
        password = PASSWORD if name == "encrypt" else None
        options = [f"--password={password}"] if password else []
        status, out, err, _ = run(["qpdf", *options, "--check", str(made)])
        sound, pages, text, picture = original
        # Only in encrypted files, qpdf looks into pictures.
        if status != 0 and sound and not (name == "encrypt" and status == 3):
            return f"qpdf --check: {(out + err)[-300:]!r}"
        if part and pages and page_count(made, password) != part(pages):
            return f"{page_count(made, password)} pages of {pages}"
        if picture and pixels(made, password) is None:
            return "poppler draws the original and not the result"
        if same and text is not None and words(made, password) != text:
            return "other words"
        if same and picture and pixels(made, password) != picture:
            return "other pixels"
        return None

    def judge_archival(self, jars):
        """Files, and the rules that veraPDF says what `archive` made of them breaks."""
        waiting, found = list(self.archival), {}
        while waiting:
            pairs = [argument for made in waiting for argument in ("2b", made)]
            command = ["java", "-cp", f"{jars}/*", str(VALIDATE), *pairs]
            said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
            for made, _, rule in (line.split(" ", 2) for line in said):
                if rule != "ok":
                    found.setdefault(self.archival[made], rule)
            judged = {line.split(" ", 1)[0] for line in said}
            # At a file that it cannot read, it ends: that one is not judged.
            waiting = [made for made in waiting if made not in judged][1:]
        return found

    @staticmethod
    def note(mistakes, outcomes, name, file, status, wrong, err):
        if wrong:
            mistakes.append((name, file, wrong))
        outcomes[name, "wrong" if wrong else "done" if status == 0 else "refused"] += 1
        if status and not wrong:
            outcomes["reason", err.decode(errors="replace").strip().splitlines()[0][:120]] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("platen")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--reasons", action="store_true", help="list why files were refused")
    parser.add_argument("--part", default="0/1", help="run one of N parts of the operations on each file: 0/N to N-1/N")
    parser.add_argument("--verapdf", metavar="JARS", help="the folder of veraPDF")
    arguments = parser.parse_args()
    files = sorted(file for folder in arguments.folders for file in folder.rglob("*.pdf") if file.is_file())
    if not files:
        sys.exit("no PDF files there")
    first, of = map(int, arguments.part.split("/"))
    known = {line.split("  ")[0] for line in KNOWN.read_text().splitlines() if not line.startswith("#")}
    totals, mistakes, met = Counter(), [], set()
    with tempfile.TemporaryDirectory() as shared, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        corpus = Corpus(str(Path(arguments.platen).resolve()), Path(shared), (first, of))
        for found, outcomes in pool.map(corpus.check, range(len(files)), files):
            totals += outcomes
            for mistake in found:
                operation, file, wrong = mistake
                name = f"{operation} {file.name}"
                met.add(name)
                if name not in known:
                    mistakes.append(mistake)
                print(f"{'known: ' * (name in known)}{operation} {file}: {wrong}", flush=True)
        if arguments.verapdf:
            for file, rule in corpus.judge_archival(arguments.verapdf).items():
                mistakes.append(("archive", file, rule))
                print(f"archive {file}: {rule}")
    there = {file.name for file in files}
    for name in sorted(known - met if of == 1 else ()):
        if name.partition(" ")[2] in there:
            mistakes.append(name)
            print(f"{name} is right now: take it out of {KNOWN.name}")
    print(f"\n{len(files)} files\n{'':16}{'done':>8}{'refused':>9}{'wrong':>7}")
    for name in [*READ, *WHOLE, "redact"]:
        row = [totals[name, end] for end in ("done", "refused", "wrong")]
        print(f"{name:16}{row[0]:8}{row[1]:9}{row[2]:7}")
    if arguments.reasons:
        reasons = [(count, key[1]) for key, count in totals.items() if key[0] == "reason"]
        print("\n".join(f"{count:6} {reason}" for count, reason in sorted(reasons, reverse=True)))
    sys.exit(1 if mistakes else 0)


if __name__ == "__main__":
    main()
