"""Finds Gotenberg's scenarios and parses their .feature files, as far as these use Gherkin."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

MODULE = "github.com/gotenberg/gotenberg/v8@v8.36.0"
STEP = re.compile(r"(?:Given|When|Then|And|But) (.*)")
QUOTES = '"""'


@dataclass
class Step:
    text: str
    table: list[list[str]] = field(default_factory=list)
    document: str = ""


@dataclass
class Scenario:
    feature: str
    line: int
    name: str
    steps: list[Step] = field(default_factory=list)

    @property
    def key(self):
        return f"{self.feature}:{self.line}"

    @property
    def environment(self):
        """Variables of its container, which the first step sets."""
        return {row[0]: row[1] for row in self.steps[0].table}


def find():
    """Folder of the scenarios in the cache of Go modules, after a download if they are not there."""
    command = ["go", "env", "GOMODCACHE"]
    cache = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    module = Path(cache) / MODULE
    if not module.is_dir():
        print(f"fetching {MODULE}", file=sys.stderr)
        # Outside of a Go module, so that none has a say in what is fetched.
        command = ["go", "mod", "download", "-json", MODULE]
        download = subprocess.run(command, cwd="/", env={**os.environ, "GOWORK": "off"}, capture_output=True, text=True)
        answer = json.loads(download.stdout or "{}")
        if download.returncode != 0 or "Dir" not in answer:
            sys.exit(f"cannot fetch {MODULE}: {answer.get('Error') or download.stderr}")
        module = Path(answer["Dir"])
    return module / "test/integration/features"


def read(folder):
    """All scenarios of the .feature files of a folder."""
    return [scenario for path in sorted(folder.glob("*.feature")) for scenario in parse(path)]


def parse(path):
    scenarios = []
    lines = enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
    for number, line in lines:
        text = line.strip()
        if text.startswith("Scenario:"):
            name = text.removeprefix("Scenario:").strip()
            scenarios.append(Scenario(path.stem, number, name))
        elif text.startswith("|"):
            scenarios[-1].steps[-1].table.append(cells(text))
        elif text == QUOTES:
            indentation = len(line) - len(line.lstrip())
            scenarios[-1].steps[-1].document = document(lines, indentation)
        elif match := STEP.fullmatch(text):
            scenarios[-1].steps.append(Step(match[1]))
        elif text and not text.startswith(("#", "@", "Feature:")):
            raise ValueError(f"{path}:{number}: what is `{text}`?")
    return scenarios


def cells(row):
    r"""Cells of a row of a table, in which `\|`, `\\` and `\n` stand for `|`, `\` and a new line."""
    return [
        re.sub(r"\\([n|\\])", lambda match: "\n" if match[1] == "n" else match[1], cell.strip())
        for cell in re.split(r"(?<!\\)\|", row)[1:-1]
    ]


def document(lines, indentation):
    """Text up to the closing quotes, without the indentation of the opening ones."""
    texts = []
    for _, line in lines:
        if line.strip() == QUOTES:
            return "\n".join(texts)
        texts.append(line[indentation:] if not line[:indentation].strip() else line)
    raise ValueError("a text has no end")
