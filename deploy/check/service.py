"""Starts Platen for a check, and talks to it. Standard library only."""

import http.client
import json
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ADMIN, METRICS, WORKER = "admin-key-of-a-check", "metrics-token-of-a-check", "worker-token-of-a-check"
INVOICE = {
    "invoiceNumber": "7",
    "customerName": "Harbour & Sons",
    "items": [{"description": "Line", "quantity": 1, "unitPrice": 10}],
}


class Service:
    """A process with a data folder of its own, which ends with the `with` block."""

    def __init__(self, binary, folder, arguments=("serve",), log="service.log", **settings):
        folder.mkdir(parents=True, exist_ok=True)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "API_KEY_ADMIN": ADMIN,
            "METRICS_TOKEN": METRICS,
            "WORKER_TOKEN": WORKER,
            "PLATEN_DATA_DIR": str(folder / "data"),
        } | settings
        self.host = settings.get("HOST", "127.0.0.1")
        self.port = int(settings.get("PORT", "0"))
        self.log = folder / log
        self.process = subprocess.Popen(
            [binary, *arguments], env=environment, cwd=folder, stderr=self.log.open("ab")
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self, kill=False):
        if self.process.poll() is None:
            self.process.kill() if kill else self.process.terminate()
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def until_ready(self):
        def ready():
            if self.process.poll() is not None:
                raise SystemExit(f"the service ended:\n{self.log.read_text()[-3000:]}")
            try:
                return call(self.host, self.port, "GET", "/health/ready")[0] == 200
            except OSError:
                return False

        until(ready, f"the service on {self.host}:{self.port}")
        return self


def until(holds, what, seconds=60):
    """Waits until `holds()` is true, and returns what it returned."""
    end = time.monotonic() + seconds
    while True:
        if found := holds():
            return found
        if time.monotonic() > end:
            raise SystemExit(f"waited {seconds} s in vain: {what}")
        time.sleep(0.1)


def call(host, port, method, path, body=None, headers=(), timeout=120, source=None):
    """Sends one request, with the key unless `Authorization` is given; returns status, headers, body."""
    connection = http.client.HTTPConnection(host, port, timeout, source and (source, 0))
    head = dict(headers)
    if "Authorization" not in head:
        head = {"X-Api-Key": ADMIN} | head
    if isinstance(body, (dict, list)):
        body = json.dumps(body)
        head["Content-Type"] = "application/json"
    try:
        connection.request(method, path, body, head)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def expect(answer, status, what):
    """The answer, if it has this status."""
    if answer[0] != status:
        raise SystemExit(f"{what}: {answer[0]} instead of {status}: {answer[2][:2000]!r}")
    return answer


def form(files, fields=()):
    """A multipart form: its body and its head."""
    mark = "boundary-of-a-check"
    parts = []
    for name, value in fields:
        parts.append(f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode())
    for name, content in files:
        head = f'--{mark}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
        parts.append(head.encode() + content + b"\r\n")
    parts.append(f"--{mark}--\r\n".encode())
    return b"".join(parts), {"Content-Type": f"multipart/form-data; boundary={mark}"}


def store(host, port):
    """Stores the template of the invoice."""
    template = json.loads((ROOT / "examples/bench-invoice/template.json").read_text())
    expect(call(host, port, "POST", "/templates", template), 201, "storing a template")


def publish(host, port, flow):
    expect(call(host, port, "POST", "/flows", flow), 201, "storing a flow")
    expect(call(host, port, "POST", f"/flows/{flow['key']}/publication"), 200, "publishing a flow")


def render(host, port, **more):
    return call(host, port, "POST", "/render", {"template": "bench-invoice", "data": INVOICE} | more)
