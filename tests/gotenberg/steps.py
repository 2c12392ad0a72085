"""The table of steps, and what the steps of a scenario share."""

import re

import helper_server
from outcome import Difference

STEPS = []


def step(pattern):
    """Says that a function carries out the steps whose text has a pattern."""

    def register(function):
        STEPS.append((re.compile(pattern), function))
        return function

    return register


def carry_out(world, one):
    for pattern, function in STEPS:
        if match := pattern.fullmatch(one.text):
            return function(world, one, *match.groups())
    raise Difference(f"unknown step: {one.text}")


class World:
    """A scenario while it runs."""

    def __init__(self, service, files, folder):
        self.service = service
        self.files = files
        self.folder = folder
        self.helper = None
        self.answer = None
        self.answers = []
        # Folder of the files of the last answer.
        self.results = None

    def start_helper(self):
        self.helper = helper_server.HelperServer(self.files, self.folder)

    def stop_helper(self):
        if self.helper:
            self.helper.stop()

    def local(self, text):
        """A text of the scenario with the address of the helper server."""
        port = str(self.helper.port) if self.helper else "%d"
        # The second is an expression of scopes in JSON.
        for name in ("host.docker.internal", r"docker\\.internal"):
            text = text.replace(name, "localhost")
        return text.replace("%d", port)

    def expected(self, one):
        """The text that a step expects."""
        return one.document.replace("{version}", self.service.version).replace("host.docker.internal", "localhost")

    def body(self, kind):
        return self.answer.content if kind == "response" else self.helper.body

    def header(self, kind, name):
        headers = self.answer.headers if kind == "response" else self.helper.headers or {}
        return headers.get(name if kind == "response" else name.lower(), "")

    def result_files(self):
        if not self.results or not self.results.is_dir():
            raise Difference("no file came")
        return sorted(self.results.iterdir())

    def pdf_files(self):
        return [path for path in self.result_files() if path.suffix.lower() == ".pdf"]

    def result(self, name):
        """The file of a name, or with a part of it: `*_PART`."""
        paths = self.result_files()
        for path in paths:
            if path.name == name or name.startswith("*_") and name[2:] in path.name:
                return path
        raise Difference(f"no file `{name}` among {[path.name for path in paths]}")
