#!/usr/bin/env python3
"""Harms a fleet that run.sh has started while clients use it, writes a history, and checks it.

    chaos.py LOG OF RUN.SH --injections N --seed N --history FILE
    chaos.py --check FILE        checks a history again
    chaos.py --self-check        shows that the checker finds each kind of violation

Clients start runs with an Idempotency-Key, synchronously and not, and store documents; they repeat what
failed, with the same key. Meanwhile services, workers, PostgreSQL, Redis and the S3 server are killed
and frozen. In the end every acknowledged run must have ended once, with its own answer.
"""

import argparse
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LONG = 120  # seconds that nothing takes unless it hangs


def check(history):
    """What the history violates, a line each."""
    wrong, runs, numbers, ended, hooks, stored = [], {}, {}, {}, {}, {}
    for event in history:
        kind = event["event"]
        if kind == "answer":
            status = event["status"]
            if status is None:
                continue  # the connection was lost: the client repeats
            if status >= 500 and not event.get("retry_after"):
                wrong.append(f"{event['what']}: {status} without Retry-After")
            elif 400 <= status < 500:
                wrong.append(f"{event['what']}: {status}")
        elif kind == "accepted":
            known = runs.setdefault(event["key"], event["run"])
            if known != event["run"]:
                wrong.append(f"key {event['key']} started {known} and {event['run']}")
            numbers[event["run"]] = event["number"]
            if "result" in event and event["result"] != event["number"] + 1:
                wrong.append(f"{event['run']} answered {event['result']} for {event['number']}")
        elif kind == "run":
            before = ended.setdefault(event["run"], (event["state"], event["result"]))
            if before != (event["state"], event["result"]):
                wrong.append(f"{event['run']} was {before} and became {event['state']} {event['result']}")
        elif kind == "hook":
            hooks[event["run"]] = hooks.get(event["run"], 0) + 1
        elif kind == "stored":
            stored[event["link"]] = event["digest"]
        elif kind == "read":
            if stored.get(event["link"]) != event["digest"]:
                wrong.append(f"{event['link']} is not what was stored")
            stored.pop(event["link"], None)
        elif kind == "silence":
            wrong.append(f"{event['what']} was not answered for {LONG} s")
        elif kind == "rows" and event["count"]:
            wrong.append(f"{event['table']} still has {event['count']} rows")
    for run, number in numbers.items():
        state, result = ended.get(run, ("never asked", None))
        if (state, result) != ("succeeded", number + 1):
            wrong.append(f"{run} for {number} is {state} {result}")
        if not hooks.get(run):
            wrong.append(f"{run} ended without its request to the hook")
    wrong.extend(f"{link} was not read again" for link in stored)
    return wrong


def self_check():
    accepted = {"event": "accepted", "key": "k", "run": "r", "number": 1}
    end = {"event": "run", "run": "r", "state": "succeeded", "result": 2}
    hook = {"event": "hook", "run": "r"}
    good = [accepted, hook, end, {"event": "stored", "link": "/l", "digest": "d"}, {"event": "read", "link": "/l", "digest": "d"}]
    assert check(good) == [], check(good)
    for change in (
        good + [accepted | {"run": "other"}],
        good + [accepted | {"result": 7}],
        good + [end | {"state": "failed"}],
        [accepted, hook],
        [accepted, end],
        [accepted, hook, end | {"result": 3}],
        good + [{"event": "answer", "what": "w", "status": 503}],
        good + [{"event": "answer", "what": "w", "status": 409}],
        good + [{"event": "silence", "what": "w"}],
        good + [{"event": "rows", "table": "open_runs", "count": 1}],
        good + [{"event": "stored", "link": "/m", "digest": "d"}],
        good + [{"event": "stored", "link": "/m", "digest": "d"}, {"event": "read", "link": "/m", "digest": "e"}],
    ):
        assert check(change), change
    print("the checker finds each violation")


class Fleet:
    """The processes of run.sh: each can be harmed and started again."""

    def __init__(self, log):
        self.text = pathlib.Path(log).read_text()
        find = lambda pattern: re.search(pattern, self.text)[1]
        self.work = pathlib.Path(find(r"logs\s+(\S+)/\*\.log"))
        self.address = urllib.parse.urlsplit(find(r"address\s+(\S+)"))
        self.database, self.key = find(r"database\s+(\S+)"), find(r"admin key\s+(\S+)")
        names = sorted(file.stem for file in self.work.glob("*.pid"))
        self.names = [name for name in names if re.match(r"(app|worker|postgres|redis|s3)-", name)]
        self.recipes = {name: self.recipe(name) for name in self.names}
        self.children = []

    def pid(self, name):
        return int((self.work / f"{name}.pid").read_text())

    def recipe(self, name):
        process = pathlib.Path(f"/proc/{self.pid(name)}")
        words = lambda file: [word for word in (process / file).read_text().split("\0") if word]
        ids = re.search(r"Uid:\s+(\d+)", (process / "status").read_text())[1]
        return words("cmdline"), dict(word.split("=", 1) for word in words("environ") if "=" in word), int(ids)

    def start(self, name):
        words, environment, user = self.recipes[name]
        with (self.work / f"{name}.log").open("ab") as log:
            child = subprocess.Popen(words, env=environment, cwd=self.work, stdout=log, stderr=log,
                                     user=user, start_new_session=True)
        self.children.append(child)
        (self.work / f"{name}.pid").write_text(f"{child.pid}\n")
        return child

    def restart(self, name):
        """Starts a process that was killed, again until it stays: PostgreSQL waits for its old children."""
        while True:
            # What was killed keeps its number until it is asked for its end.
            for ended in self.children:
                ended.poll()
            child = self.start(name)
            for _ in range(30 if name.startswith("postgres") else 1):
                time.sleep(0.1)
                if child.poll() is not None:
                    break
            else:
                return

    def harm(self, name, how, seconds):
        pid = self.pid(name)
        os.kill(pid, getattr(signal, f"SIG{how}"))
        if how == "STOP":
            time.sleep(seconds)
            os.kill(pid, signal.SIGCONT)
            return
        for _ in range(300):
            state = pathlib.Path(f"/proc/{pid}/stat")
            if not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z":
                break
            time.sleep(0.1)
        time.sleep(seconds)
        self.restart(name)

    def rows(self, table):
        psql = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/psql"))[-1]
        query = [psql, self.database, "-Atc", f"SELECT count(*) FROM {table}"]
        return int(subprocess.run(query, capture_output=True, text=True, check=True).stdout)

    def call(self, method, path, body=None, headers=(), patience=40):
        """Status, headers and body; `None` for all if the connection was lost."""
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=patience)
        try:
            head = {"X-Api-Key": self.key, "Content-Type": "application/json"} | dict(headers)
            connection.request(method, path, None if body is None else json.dumps(body), head)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException):
            return None, {}, b""
        finally:
            connection.close()


class Chaos:
    def __init__(self, fleet, arguments):
        self.fleet, self.arguments = fleet, arguments
        self.random = random.Random(arguments.seed)
        self.history, self.lock, self.next = [], threading.Lock(), 0
        self.file = open(arguments.history, "w")
        self.stop, self.took = threading.Event(), []

    def note(self, event, **facts):
        facts = {"event": event, "at": round(time.monotonic(), 3)} | facts
        with self.lock:
            self.history.append(facts)
            self.file.write(json.dumps(facts) + "\n")
            self.file.flush()

    def listen(self):
        chaos = self

        class Hook(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                self.rfile.read(int(self.headers.get("content-length") or 0))
                run = (self.headers.get("idempotency-key") or "").split(":")[0]
                chaos.note("hook", run=run)
                self.send_response(200)
                self.send_header("content-length", "2")
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(b"{}")

        ThreadingHTTPServer.request_queue_size = 256
        server = ThreadingHTTPServer(("127.0.0.1", self.arguments.hook_port), Hook)
        server.daemon_threads = True
        server.handle_error = lambda *_: None
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def publish(self):
        steps = [
            {"name": "tell", "type": "http", "method": "POST", "body": {"a": "{{ trigger.body.a }}"},
             "url": f"http://127.0.0.1:{self.arguments.hook_port}/", "retry": {"attempts": 3, "backoffMs": 50}},
            {"name": "next", "type": "code", "input": {"a": "{{ trigger.body.a }}"},
             "source": "export default async ({ a }) => Number(a) + 1;"},
            {"name": "reply", "type": "respond", "body": {"result": "{{ steps.next.output }}"}},
        ]
        flow = {"kind": "flow", "key": "chaos", "name": "chaos", "trigger": {"type": "webhook"}, "steps": steps}
        for path, body in (("/flows", flow), ("/flows/chaos/publication", None)):
            status, _, text = self.fleet.call("POST", path, body)
            if status not in (200, 201):
                sys.exit(f"{path}: {status} {text[:300]}")

    def until(self, what, accept, *request, **more):
        """Repeats a request until an answer is accepted; notes each."""
        begin = time.monotonic()
        while time.monotonic() < begin + LONG:
            status, headers, body = self.fleet.call(*request, **more)
            self.note("answer", what=what, status=status, retry_after=headers.get("Retry-After"))
            if status in accept:
                self.took.append(time.monotonic() - begin)
                return headers, body
            time.sleep(0.1)
        self.note("silence", what=what)
        raise TimeoutError(f"{what}: no answer within {LONG} s")

    def client(self, index):
        while not self.stop.is_set():
            with self.lock:
                number, self.next = self.next, self.next + 1
            key, body = f"key-{self.arguments.seed}-{number}", {"a": number}
            headers = {"Idempotency-Key": key}
            if index % 3 == 0:
                head, text = self.until("run", {200}, "POST", "/webhooks/chaos/sync", body, headers)
                result = json.loads(text)["result"]
                self.note("accepted", key=key, run=head["x-run-id"], number=number, result=result)
            elif index % 3 == 1:
                _, text = self.until("start", {202}, "POST", "/webhooks/chaos", body, headers)
                self.note("accepted", key=key, run=json.loads(text)["run"], number=number)
                time.sleep(0.02)
            else:
                data = json.loads((ROOT / "examples/invoice-de/data.json").read_text())
                order = {"template": "invoice-de", "data": data, "output": {"store": True, "ttlSeconds": 3600}}
                _, text = self.until("store", {201}, "POST", "/render", order)
                self.note("stored", link=json.loads(text)["url"], digest=json.loads(text)["sha256"])
                time.sleep(0.2)

    def inject(self):
        counts = {}
        for _ in range(self.arguments.injections):
            time.sleep(self.random.uniform(0.1, 0.6))
            name = self.random.choice(self.fleet.names)
            how = self.random.choice(["KILL", "STOP", "TERM"] if name[:3] in ("app", "wor") else ["KILL", "STOP"])
            seconds = round(self.random.uniform(0.2, 4.0 if how == "STOP" else 1.5), 2)
            self.note("injection", process=name, how=how, seconds=seconds)
            self.fleet.harm(name, how, seconds)
            kind = f"{name.split('-')[0]} {how}"
            counts[kind] = counts.get(kind, 0) + 1
        return counts

    def settle(self):
        """Asks for the end of every run twice, and for every stored document."""
        accepted = {event["run"] for event in self.history if event["event"] == "accepted"}
        ends = ("succeeded", "failed", "cancelled", "timed-out", "dead-lettered")
        for _ in range(2):
            for run in sorted(accepted):
                begin, state = time.monotonic(), {}
                while state.get("state") not in ends and time.monotonic() < begin + LONG:
                    _, text = self.until("get", {200}, "GET", f"/runs/{run}")
                    state = json.loads(text)
                    if state.get("state") not in ends:
                        time.sleep(0.2)
                body = (state.get("answer") or {}).get("body") or {}
                self.note("run", run=run, state=state.get("state"), result=body.get("result"))
        for link in {event["link"] for event in self.history if event["event"] == "stored"}:
            parts = urllib.parse.urlsplit(link)
            _, text = self.until("read", {200}, "GET", f"{parts.path}?{parts.query}".rstrip("?"))
            self.note("read", link=link, digest=hashlib.sha256(text).hexdigest())
        for table in ("open_runs", "limited_runs"):
            self.note("rows", table=table, count=self.fleet.rows(table))

    def run(self):
        self.listen()
        self.publish()
        clients = [threading.Thread(target=self.client, args=(index,)) for index in range(6)]
        for client in clients:
            client.start()
        time.sleep(3)
        calm = sorted(self.took)
        try:
            counts = self.inject()
        finally:
            self.stop.set()
        for client in clients:
            client.join()
        harmed = sorted(self.took[len(calm):])
        self.settle()
        self.file.close()
        at = lambda values, share: values[min(len(values) - 1, int(share * len(values)))] * 1e3 if values else 0
        print(f"seed {self.arguments.seed}: {sum(counts.values())} injections: {counts}")
        runs = {event["run"] for event in self.history if event["event"] == "accepted"}
        failed = sum(1 for event in self.history if event["event"] == "answer" and event["status"] not in (200, 201, 202))
        print(f"{len(runs)} runs, {failed} answers that clients repeated")
        print(f"ms until an answer, with repeats, p50/p99: undisturbed {at(calm, .5):.0f}/{at(calm, .99):.0f},"
              f" disturbed {at(harmed, .5):.0f}/{at(harmed, .99):.0f}")
        return check(self.history)


ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?", help="output of run.sh")
    parser.add_argument("--injections", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--history", default="chaos-history.ndjson")
    parser.add_argument("--hook-port", type=int, default=8099)
    parser.add_argument("--check", metavar="FILE")
    parser.add_argument("--self-check", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_check:
        return self_check()
    if arguments.check:
        with open(arguments.check) as file:
            wrong = check([json.loads(line) for line in file])
    elif arguments.log:
        fleet = Fleet(arguments.log)
        try:
            wrong = Chaos(fleet, arguments).run()
        finally:
            for child in fleet.children:
                if child.poll() is None:
                    child.terminate()
    else:
        parser.error("say where the output of run.sh is")
    for line in wrong[:50]:
        print(f"VIOLATION: {line}")
    sys.exit(f"{len(wrong)} violations" if wrong else None)


if __name__ == "__main__":
    main()
