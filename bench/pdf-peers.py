#!/usr/bin/env python3
"""Operations on PDF files beside qpdf and pdfcpu: whole processes, in turns, in one run.

    bench/pdf-peers.py target/release/platen [--pdfcpu PROGRAM] [--rounds N] [--small]

Makes the files itself: 100 files of 10 pages, one of 1,000 pages, one of 100 MB. Prints a table in
Markdown: the median of the processor time (user and system) and of the wall time, the largest memory
of a run, and the ratio of processor times, each as a median of rounds. A result that qpdf does not
open ends it. `--small` is for trying the script: files of a tenth of the size.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description="Operations on PDF files beside qpdf and pdfcpu.")
parser.add_argument("platen")
parser.add_argument("--pdfcpu", default=shutil.which("pdfcpu"))
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--small", action="store_true")
OPTIONS = parser.parse_args()
PLATEN = os.path.abspath(OPTIONS.platen)
QPDF = shutil.which("qpdf")
SHARE = 10 if OPTIONS.small else 1


def pages_file(folder, name, pages):
    """A file of so many pages, by Platen: each is a section with one line of text."""
    page = [
        {"type": "heading", "level": 1, "content": "Page {{ page }}"},
        {"type": "text", "content": "The quick brown fox jumps over the lazy dog. " * 20},
        {"type": "pageBreak", "when": "page < last"},
    ]
    body = [{"type": "repeat", "each": "pages", "as": "page", "body": page}]
    template = {"kind": "document", "key": "pages", "body": body}
    source, data = os.path.join(folder, "pages.json"), os.path.join(folder, "data.json")
    with open(source, "w") as file:
        json.dump(template, file)
    with open(data, "w") as file:
        json.dump({"pages": list(range(1, pages + 1)), "last": pages}, file)
    path = os.path.join(folder, name)
    subprocess.run([PLATEN, "render", source, data, "-o", path, "-q"], check=True)
    return path


def large_file(folder, name, size):
    """A page with an attached file of random bytes, which nothing compresses."""
    noise = os.path.join(folder, "noise.bin")
    # In pieces: a process begins with the memory of the one that starts it.
    with open(noise, "wb") as file:
        for begin in range(0, size, 1 << 20):
            file.write(os.urandom(min(1 << 20, size - begin)))
    page, path = pages_file(folder, "one.pdf", 1), os.path.join(folder, name)
    subprocess.run([QPDF, page, "--add-attachment", noise, "--", path], check=True)
    os.remove(noise)
    return path


def run(command):
    """Processor seconds, wall seconds and the most memory in MiB of a process."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    complaint = process.stderr.read().decode(errors="replace")
    process.stderr.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):  # 3: warnings of qpdf
        sys.exit(f"{' '.join(command[:4])} ...: {complaint}")
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def tasks(folder):
    many = [pages_file(folder, f"m{number:03}.pdf", 10) for number in range(100 // SHARE)]
    long = pages_file(folder, "long.pdf", 1000 // SHARE)
    large = large_file(folder, "large.pdf", (100 << 20) // SHARE)
    mark = pages_file(folder, "mark.pdf", 1)
    password = os.path.join(folder, "password")
    with open(password, "w") as file:
        file.write("secret")
    out = os.path.join(folder, "out")

    def fresh():
        shutil.rmtree(out, ignore_errors=True)
        os.mkdir(out)

    one = os.path.join(out, "one.pdf")
    cpu = OPTIONS.pdfcpu
    return fresh, out, [
        (f"merge {len(many)} files of 10 pages", {
            "platen": [PLATEN, "pdf", "merge", "-q", "-o", one, *many],
            "qpdf": [QPDF, "--empty", "--pages", *many, "--", one],
            "pdfcpu": [cpu, "merge", one, *many],
        }),
        (f"split {1000 // SHARE} pages", {
            "platen": [PLATEN, "pdf", "split", "-q", "--every", "1", "-o", out, long],
            "qpdf": [QPDF, "--split-pages", long, os.path.join(out, "p-%d.pdf")],
            "pdfcpu": [cpu, "split", long, out],
        }),
        (f"stamp {1000 // SHARE} pages with a PDF", {
            "platen": [PLATEN, "pdf", "stamp", "-q", "--file", mark, "-o", one, long],
            "qpdf": [QPDF, long, "--overlay", mark, "--repeat=1", "--", one],
            "pdfcpu": [cpu, "stamp", "add", "-mode", "pdf", "--", f"{mark}:1", "pos:c", long, one],
        }),
        (f"encrypt {100 // SHARE} MB", {
            "platen": [PLATEN, "pdf", "encrypt", "-q", "--user-password-file", password, "-o", one, large],
            "qpdf": [QPDF, "--compress-streams=n", large, "--encrypt", "secret", "secret", "256", "--", one],
            "pdfcpu": [cpu, "encrypt", "-mode", "aes", "-key", "256", "-upw", "secret", "-opw", "secret", large, one],
        }),
    ]


def opens(folder):
    """Whether qpdf opens what was made: the first of several files."""
    path = os.path.join(folder, min(os.listdir(folder)))
    done = subprocess.run([QPDF, "--password=secret", "--check", path], capture_output=True)
    return done.returncode in (0, 3)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CONFIG_HOME"] = folder
        fresh, out, rows = tasks(folder)
        print("| What | Program | Processor time | Wall time | Most memory | Processor time, Platen = 1 |")
        print("|---|---|---|---|---|---|")
        for what, commands in rows:
            commands = {name: command for name, command in commands.items() if command[0]}
            taken = {name: [] for name in commands}
            for number in range(OPTIONS.rounds):
                order = list(commands)
                for name in order[number % len(order):] + order[:number % len(order)]:
                    fresh()
                    taken[name].append(run(commands[name]))
                    if not opens(out):
                        sys.exit(f"{name}: {what}: qpdf does not open the result")
            for name, runs in taken.items():
                cpu, wall = (statistics.median(run[at] for run in runs) for at in (0, 1))
                ratio = statistics.median(run[0] / own[0] for run, own in zip(runs, taken["platen"]))
                memory = max(run[2] for run in runs)
                print(f"| {what} | {name} | {cpu:.2f} s | {wall:.2f} s | {memory:.0f} MiB | {ratio:.2f} |")


if __name__ == "__main__":
    main()
