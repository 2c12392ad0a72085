#!/usr/bin/env python3
"""Platen beside headless Chromium on the same tables, in interleaved rounds of one run.

Platen renders the template to PDF. Chromium prints the HTML that Platen makes of the same template
and data, on a warm browser, with a fresh page for each print, over the DevTools pipe.

Usage: python3 bench/chromium.py [--platen target/release/platen] [--rounds 7]
"""
import argparse
import base64
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

CELLS = [("pdf-1p", "bench-invoice"), ("pdf-10p", "bench-report"), ("pdf-100p", "bench-quarterly")]
BROWSERS = ["chromium-headless-shell", "/usr/lib/chromium/chromium-headless-shell",
            "/usr/lib/chromium/headless_shell", "chromium"]


class Browser:
    """A warm browser, spoken to over --remote-debugging-pipe (descriptors 3 and 4)."""

    def __init__(self, program, profile):
        to_read, self.to_write = os.pipe()
        self.to_listen, to_answer = os.pipe()

        def wire():
            os.dup2(to_read, 3)
            os.dup2(to_answer, 4)

        # The pipes may themselves be descriptors 3 and 4: move them out of the way first.
        to_read, to_answer = os.dup(to_read), os.dup(to_answer)
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--disable-dev-shm-usage", f"--user-data-dir={profile}", "--remote-debugging-pipe"]
        self.process = subprocess.Popen([program, *flags], preexec_fn=wire, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.buffer = b""
        self.number = 0

    def call(self, method, params=None, session=None):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_write, data):]
        while True:
            while b"\0" not in self.buffer:
                chunk = os.read(self.to_listen, 1 << 20)
                if not chunk:
                    raise SystemExit("error: the browser went away")
                self.buffer += chunk
            answer, self.buffer = self.buffer.split(b"\0", 1)
            answer = json.loads(answer)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"error: {method}: {answer['error']}")
                return answer["result"]

    def print_pdf(self, html):
        """Milliseconds and bytes of one print on a fresh page."""
        start = time.perf_counter()
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        frame = self.call("Page.getFrameTree", session=session)["frameTree"]["frame"]["id"]
        self.call("Page.setDocumentContent", {"frameId": frame, "html": html}, session)
        options = {"printBackground": True, "preferCSSPageSize": True, "generateTaggedPDF": True}
        pdf = self.call("Page.printToPDF", options, session)["data"]
        elapsed = (time.perf_counter() - start) * 1e3
        self.call("Target.closeTarget", {"targetId": target})
        return elapsed, len(base64.b64decode(pdf))

    def close(self):
        self.process.terminate()
        self.process.wait(10)


def platen_ms(platen, cell):
    """Median milliseconds of five renderings in one process."""
    command = [platen, "bench", "render", "--cells", cell, "--warmup", "3", "--samples", "5", "--json", "-q"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return rows[0]["p50Ms"], rows[0]["sizeBytes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platen", default="target/release/platen")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if not program:
        raise SystemExit("error: Chromium is not installed\nhint: apt-get install chromium-headless-shell")
    print("| Cell | Platen p50 | Chromium p50 | ratio, median (min to max) | Platen size | Chromium size |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(program, folder)
        try:
            for cell, key in CELLS:
                html = subprocess.run(
                    [arguments.platen, "render", f"examples/{key}/template.json", f"examples/{key}/data.json",
                     "-o", "-", "--format", "html", "-q"], check=True, capture_output=True).stdout.decode()
                browser.print_pdf(html)
                ours, theirs, sizes = [], [], (0, 0)
                for _ in range(arguments.rounds):
                    mine, my_size = platen_ms(arguments.platen, cell)
                    other, its_size = browser.print_pdf(html)
                    ours.append(mine)
                    theirs.append(other)
                    sizes = (my_size, its_size)
                ratios = [b / a for a, b in zip(ours, theirs)]
                print(f"| {cell} | {statistics.median(ours):.2f} ms | {statistics.median(theirs):.1f} ms | "
                      f"{statistics.median(ratios):.0f} ({min(ratios):.0f} to {max(ratios):.0f}) | "
                      f"{sizes[0] / 1000:.0f} kB | {sizes[1] / 1000:.0f} kB |")
        finally:
            browser.close()


if __name__ == "__main__":
    main()
