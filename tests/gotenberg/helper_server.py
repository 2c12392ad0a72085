"""The server of Gotenberg's scenarios: it has files, and takes the requests of webhooks."""

import email.message
import mimetypes
import threading
import urllib.parse
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# A private address at which nothing listens.
REDIRECTION = "http://127.0.0.1:9999/redirected"
# Names for the files of webhooks whose own headers leave them without one.
UNNAMED = {"application/pdf": "unnamed.pdf", "application/zip": "unnamed.zip"}


class HelperServer:
    """A server for one scenario, with what it was asked."""

    def __init__(self, files, results):
        self.files = files
        self.results = results
        self.headers = None
        self.body = b""
        self.event = threading.Event()
        self.event_body = b""
        self.called = threading.Event()
        self.complaint = None
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.helper = self
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def take_event(self, body):
        self.event_body = body
        self.event.set()

    def take_result(self, path, headers, body):
        self.headers = headers
        self.body = body
        if path == "/webhook":
            try:
                save_answer(self.results, headers, body, UNNAMED.get(headers.get("content-type")))
            except (ValueError, OSError, zipfile.BadZipFile) as error:
                self.complaint = f"webhook: {error}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    @property
    def helper(self):
        return self.server.helper

    def answer(self, status, body=b"", kind="text/plain", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = urllib.parse.unquote(self.path.split("?")[0])
        kind, _, name = path.removeprefix("/").partition("/")
        if kind in ("static", "html", "redirect-to-private"):
            self.helper.headers = lower(self.headers)
        if kind == "static":
            self.answer_attachment(name)
        elif kind == "html":
            self.answer_page(name)
        elif kind == "redirect-to-private":
            self.answer(302, Location=REDIRECTION)
        else:
            self.answer(404, b'{"message":"Not Found"}', "application/json")

    def answer_attachment(self, name):
        path = self.helper.files / name
        if "teststore" in name:
            path = folder_of(self.helper.results, lower(self.headers)) / path.name
        if not path.is_file():
            return self.answer(404, b"not found")
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        disposition = f'attachment; filename="{urllib.parse.quote(path.name)}"'
        self.answer(200, path.read_bytes(), kind, Content_Disposition=disposition)

    def answer_page(self, name):
        path = self.helper.files / name
        if not path.is_file():
            return self.answer(500, b"no such file")
        self.answer(200, path.read_bytes(), "text/html; charset=UTF-8")

    def take(self):
        body = self.read_body()
        if self.path == "/webhook/events":
            self.helper.take_event(body)
            return self.answer(200, b"OK")
        # A synchronous delivery is over with this answer, so the result is there before. A scenario ends,
        # and this server with it, once the call is known: the answer comes before that.
        self.helper.take_result(self.path, lower(self.headers), body)
        self.answer(200, b"OK")
        self.helper.called.set()

    do_POST = do_PUT = do_PATCH = take

    def read_body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while length := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(length)
            self.rfile.readline()
        self.rfile.readline()
        return body


def lower(headers):
    return {name.lower(): value for name, value in headers.items()}


def folder_of(results, headers):
    """Folder of the files of a request, which its trace names."""
    return results / Path(headers.get("gotenberg-trace", "")).name


def save_answer(results, headers, body, unnamed=None):
    """Writes the file of an answer, and what is in it if it is an archive; returns its folder."""
    name = file_name(headers.get("content-disposition"), unnamed)
    folder = folder_of(results, headers)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / Path(name).name
    path.write_bytes(body)
    if headers.get("content-type") == "application/zip":
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                (folder / Path(member).name).write_bytes(archive.read(member))
    return folder


def file_name(disposition, unnamed):
    if not disposition:
        raise ValueError("no Content-Disposition")
    message = email.message.Message()
    message["Content-Disposition"] = disposition
    name = message.get_filename() or unnamed
    if not name:
        raise ValueError(f"no name of a file in `{disposition}`")
    return name
