#!/usr/bin/env python3
"""What the render modes cost: the same page and the same document, the modes in turn.

    bench/render-modes.py target/release/platen [ROUNDS]

Prints a table in Markdown. `fresh` has PROCESS_MAX_JOBS=1: `ready` waits for a spare process before
each request, `sustained` does not.
"""

import http.client
import io
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

PLATEN = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 20

PAGE = json.dumps({"html": "<h1>Invoice</h1>" + "<p>The quick brown fox jumps over the lazy dog.</p>" * 20})
CONTENT_TYPES = '<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
RELATIONS = '<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
BODY = "<w:p><w:r><w:t>The quick brown fox jumps over the lazy dog.</w:t></w:r></w:p>" * 30
DOCUMENT = f'<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{BODY}</w:body></w:document>'


def docx():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        archive.writestr("_rels/.rels", RELATIONS)
        archive.writestr("word/document.xml", DOCUMENT)
    return buffer.getvalue()


REQUESTS = {
    "chromium": ("/render/html-to-pdf", "application/json", PAGE.encode()),
    "libreoffice": ("/convert?filename=a.docx", "application/octet-stream", docx()),
}
MODES = {
    "child-process": {},
    "child-process, fresh": {"PROCESS_MAX_JOBS": "1"},
    "socket": {"RENDER_MODE": "socket"},
    "socket, fresh": {"RENDER_MODE": "socket", "PROCESS_MAX_JOBS": "1"},
}
# Containers, for each runtime that is installed. Their image is this machine's root, so that the
# programs are the same in every mode.
for runtime in ("crun", "runc"):
    if shutil.which(runtime, path=os.environ["PATH"] + ":/usr/sbin"):
        variables = {"RENDER_MODE": "container", "CONTAINER_RUNTIME": runtime, "CONTAINER_ROOTFS": "/"}
        MODES[f"container, {runtime}"] = variables
        MODES[f"container, {runtime}, fresh"] = {**variables, "PROCESS_MAX_JOBS": "1"}


class Service:
    def __init__(self, folder, number, variables):
        temporary = os.path.join(folder, f"tmp-{number}")
        os.mkdir(temporary)
        # One spare of each, so that a second request in a row finds none.
        spares = {"CHROMIUM_SPARE_PAGES": "1", "OFFICE_SPARES": "1"}
        variables = {**os.environ, "TMPDIR": temporary, **spares, **variables}
        command = [PLATEN, "serve", "--bind", "127.0.0.1:0", "--log-format", "json"]
        command += ["--data-dir", os.path.join(folder, f"data-{number}")]
        self.process = subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True)
        self.host = None
        while not self.host:
            self.host = json.loads(self.process.stderr.readline()).get("address")
        # The log is small: it fits into the pipe.

    def request(self, method, path, kind=None, body=None):
        connection = http.client.HTTPConnection(self.host, timeout=120)
        headers = {"content-type": kind} if kind else {}
        begin = time.perf_counter()
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        elapsed = (time.perf_counter() - begin) * 1e3
        connection.close()
        assert answer.status == 200, (path, answer.status, content[:300])
        return elapsed, content

    def render(self, program):
        path, kind, body = REQUESTS[program]
        return self.request("POST", path, kind, body)[0]

    def until_ready(self, program):
        """Waits for a spare process."""
        pattern = rf'platen_pool_idle_children\{{pool="{program}"\}} ([0-9]+)'
        while True:
            _, metrics = self.request("GET", "/metrics")
            found = re.search(pattern, metrics.decode())
            if found and int(found[1]) > 0:
                return
            time.sleep(0.02)


def main():
    with tempfile.TemporaryDirectory() as folder:
        socket = os.path.join(folder, "s")
        controller = subprocess.Popen([PLATEN, "controller", "--socket", socket], stderr=subprocess.PIPE, text=True)
        while not controller.stderr.readline().startswith("controller on"):
            pass
        services = {}
        try:
            for number, (name, variables) in enumerate(MODES.items()):
                services[name] = Service(folder, number, {"CONTROLLER_SOCKET": socket, **variables})
                for program in REQUESTS:
                    services[name].render(program)
            measure(services)
        finally:
            for service in services.values():
                service.process.terminate()
                service.process.wait()
            controller.terminate()
            controller.wait()


def measure(services):
    times = {}
    chance = random.Random(18)
    for _ in range(ROUNDS):
        for program in REQUESTS:
            # Nobody always comes after the same other, whose spare may still be starting.
            turn = list(services.items())
            chance.shuffle(turn)
            for name, service in turn:
                service.until_ready(program)
                key = f"{name}, ready" if "fresh" in name else name
                times.setdefault((key, program), []).append(service.render(program))
    for _ in range(ROUNDS):
        for program in REQUESTS:
            for name, service in services.items():
                if "fresh" in name:
                    key = f"{name}, sustained"
                    # Two in a row: the second finds no spare that is ready.
                    service.render(program)
                    times.setdefault((key, program), []).append(service.render(program))
    print("| Mode | HTML page, Chromium | DOCX, LibreOffice |")
    print("|---|---|---|")
    names = list(dict.fromkeys(name for name, _ in times))
    for name in sorted(names):
        cells = []
        for program in REQUESTS:
            values = sorted(times[name, program])
            p95 = values[min(len(values) - 1, int(len(values) * 0.95))]
            cells.append(f"{statistics.median(values):.0f} ms (p95 {p95:.0f})")
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
