#!/usr/bin/env python3
"""Runs nginx with each of the three configurations in front of services of their own, in a network
namespace where the names app1 to app4 are addresses of this machine, and checks what passes.

    nginx.py BINARY     needs nginx, unshare, and root or user namespaces
"""

import fcntl
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

from service import ADMIN, METRICS, ROOT, WORKER, Service, call, expect, form, publish, render, store, until

PORT = 8080
BIG = 50 << 20


def raise_loopback():
    with socket.socket() as one:
        request = struct.pack("16sh14x", b"lo", 1)  # IFF_UP
        fcntl.ioctl(one, 0x8914, request)  # SIOCSIFFLAGS


class Nginx:
    def __init__(self, folder, count):
        folder.mkdir()
        for name in ("nginx.conf", "platen.conf"):
            shutil.copy(ROOT / "deploy/nginx" / name, folder / name)
        shutil.copy(ROOT / f"deploy/nginx/upstream-{count}.conf", folder / "upstream.conf")
        self.output = folder / "output.log"
        self.stream = self.output.open("wb")
        self.process = subprocess.Popen(
            ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "daemon off;"],
            stdout=self.stream,
            stderr=self.stream,
        )

    def __enter__(self):
        def answers():
            if self.process.poll() is not None:
                raise SystemExit(f"nginx ended: {self.output.read_text()}")
            try:
                return call("127.0.0.1", PORT, "GET", "/health")[0] == 200
            except OSError:
                return False

        until(answers, "nginx")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)

    def text(self):
        return self.output.read_text()

    def upstreams(self, path):
        """The services that answered requests for a path."""
        return set(re.findall(rf'"\S+ {re.escape(path)}\S* HTTP/1.1" \d+ \d+ \S+ (\S+) ', self.text()))


def through(method, path, body=None, headers=(), timeout=120):
    return call("127.0.0.1", PORT, method, path, body, headers, timeout)


def big_pdf(size):
    """A PDF of one empty page and a stream of `size` bytes that does not compress."""
    content = os.urandom(size)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Resources<</XObject<</I 4 0 R>>>>>>",
        b"<</Type/XObject/Subtype/Form/BBox[0 0 1 1]/Length %d>>stream\n%s\nendstream" % (size, content),
    ]
    text, places = b"%PDF-1.7\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(text))
        text += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(text)
    head = b"xref\n0 5\n0000000000 65535 f \n"
    return text + head + table + b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % start


def documents_pass(nginx, count):
    for _ in range(8 * count):
        _, headers, body = expect(render("127.0.0.1", PORT), 200, "rendering")
        assert body.startswith(b"%PDF") and headers["X-Render-Pages"] == "1", headers
    answered = nginx.upstreams("/render")
    assert len(answered) == count, f"{count} services, answers from {answered}"
    _, headers, _ = expect(through("GET", "/health", headers={"X-Request-Id": "mine"}), 200, "health")
    assert headers["X-Request-Id"] == "mine", headers
    expect(through("GET", "/metrics", headers={"Authorization": f"Bearer {METRICS}"}), 404, "metrics from outside")


def the_client_is_known(service):
    """The service sees the client's address, and not what a client writes into a header."""
    trusts = "`TRUSTED_PROXIES`" in (ROOT / "docs/reference/settings.md").read_text()
    forged = {"X-Forwarded-For": "192.0.2.1", "Forwarded": "for=192.0.2.2", "X-Request-Id": "forged"}
    for path in ("/version", "/workers/connection"):
        call("127.0.0.1", PORT, "GET", path, headers=forged, source="127.0.0.9")
    lines = [line for line in service.log.read_text().splitlines() if "requestId=forged" in line]
    expected = "client=127.0.0.9" if trusts else "client=127.0.0.1"
    assert lines and all(expected in line for line in lines), lines


def large_bodies_pass():
    pdf = big_pdf(BIG)
    body, head = form([("1.pdf", pdf), ("2.pdf", big_pdf(1000))])
    _, _, merged = expect(through("POST", "/forms/pdfengines/merge", body, head), 200, "merging 50 MB")
    assert merged.startswith(b"%PDF") and len(merged) > BIG, len(merged)
    # Lengths that are not said in advance.
    chunks = (body[start : start + 65536] for start in range(0, len(body), 65536))
    _, _, merged = expect(through("POST", "/forms/pdfengines/merge", chunks, head), 200, "merging 50 MB in chunks")
    assert len(merged) > BIG, len(merged)


def heads_pass():
    expect(through("GET", "/health", headers={"X-Long": "x" * 60_000}), 200, "a head of 60 kB")
    status = through("GET", "/health", headers={"X-Long": "x" * 80_000})[0]
    assert status in (400, 431), f"a head of 80 kB: {status}"


def events_pass(direct):
    """The first event arrives while the run still waits."""
    publish(*direct, {"kind": "flow", "key": "hold", "name": "Hold", "trigger": {"type": "webhook"},
                      "steps": [{"name": "hold", "type": "wait", "callback": True}]})
    answer = expect(through("POST", "/webhooks/hold", {}), 202, "starting a run")
    run = json.loads(answer[2])["run"]
    until(lambda: json.loads(through("GET", f"/runs/{run}")[2])["state"] == "waiting", "the run waits")
    with socket.create_connection(("127.0.0.1", PORT), timeout=20) as stream:
        head = f"GET /runs/{run}/events HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: {ADMIN}\r\n\r\n"
        stream.sendall(head.encode())
        text = b""
        while b'"state":"waiting"' not in text:
            part = stream.recv(65536)
            assert part, text
            text += part
        expect(through("POST", f"/runs/{run}/cancel"), 200, "cancelling")
        while b'"state":"cancelled"' not in text:
            part = stream.recv(65536)
            assert part, text
            text += part


def workers_pass(binary, folder, direct):
    """A worker connects through nginx and executes the runs of a service that executes none."""
    sum_flow = json.loads((ROOT / "examples/flows/sum.json").read_text())
    publish(*direct, sum_flow)
    arguments = ("worker", "--app", f"http://127.0.0.1:{PORT}", "--token", WORKER, "--slots", "2")
    with Service(binary, folder, arguments, "worker.log"):
        for _ in range(5):
            answer = expect(through("POST", "/webhooks/sum/sync", {}), 200, "a run by a worker")
            assert answer[2] == b'{"result":6}', answer[2]


def a_service_may_die(services, nginx):
    services[-1].end(kill=True)
    for _ in range(30):
        expect(render("127.0.0.1", PORT), 200, "rendering without one service")
    assert "upstream prematurely closed" not in nginx.text()


def inside(binary):
    raise_loopback()
    with tempfile.TemporaryDirectory(prefix="platen-nginx.") as name:
        folder = pathlib.Path(name)
        hosts = folder / "hosts"
        hosts.write_text("127.0.0.1 localhost\n" + "".join(f"127.0.1.{i} app{i}\n" for i in (1, 2, 3, 4)))
        subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)
        os.chmod(folder, 0o755)
        services = []
        try:
            for i in (1, 2, 3, 4):
                role = {"PLATEN_ROLE": "app"} if i == 1 else {}
                more = {"HOST": f"127.0.1.{i}", "PORT": "3000", "TRUSTED_PROXIES": "127.0.0.1"} | role
                services.append(Service(binary, folder / f"app{i}", **more))
            for one in services:
                one.until_ready()
                store(one.host, one.port)
            for count in (1, 2, 4):
                with Nginx(folder / f"nginx{count}", count) as nginx:
                    documents_pass(nginx, count)
                    heads_pass()
                    if count == 1:
                        the_client_is_known(services[0])
                        direct = (services[0].host, services[0].port)
                        workers_pass(binary, folder / "worker", direct)
                        large_bodies_pass()
                    if count == 4:
                        a_service_may_die(services, nginx)
                    for bad in ("buffered to a temporary file", "[error]", "[crit]", "[alert]"):
                        lines = [line for line in nginx.text().splitlines() if bad in line]
                        # A service that was killed is an error that nginx passes over.
                        lines = [line for line in lines if "Connection refused" not in line]
                        lines = [line for line in lines if "too large header" not in line and "too long header" not in line]
                        assert not lines, "\n".join(lines)
                if count == 1:
                    # Runs of its own, without a worker.
                    services[0].end()
                    again = Service(binary, folder / "app1", HOST="127.0.1.1", PORT="3000")
                    services[0] = again.until_ready()
                    with Nginx(folder / "nginx-events", 1):
                        events_pass((again.host, again.port))
        finally:
            for one in services:
                one.end(kill=True)
    print("nginx with 1, 2 and 4 services: documents, heads, 50 MB both ways, events, a worker, a dead service")


if __name__ == "__main__":
    if sys.argv[1] == "--inside":
        inside(sys.argv[2])
    else:
        user = [] if os.geteuid() == 0 else ["--map-root-user"]
        command = ["unshare", "--net", "--mount", *user, sys.executable, __file__, "--inside", os.path.abspath(sys.argv[1])]
        os.execvp("unshare", command)
