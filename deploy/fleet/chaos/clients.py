"""What clients do meanwhile. Each notes what it was promised; the checker compares."""

import itertools
import json
import pathlib
import random
import threading
import time
import urllib.parse
from functools import partial

from checker import LONG

ENDS = ("succeeded", "failed", "cancelled", "timed-out", "dead")
COUNTERS, TEMPLATES = ("x", "y", "z"), ("t-0", "t-1")
ROOT = pathlib.Path(__file__).resolve().parents[3]


class Refused(Exception):
    """An answer that no repetition changes; the checker reports it."""


class Clients:
    def __init__(self, fleet, history, hook, seed):
        self.fleet, self.history, self.hook, self.seed = fleet, history, hook, seed
        self.stop, self.numbers = threading.Event(), itertools.count()
        self.random, self.values = random.Random(seed), {}
        self.invoice = json.loads((ROOT / "examples/invoice-de/data.json").read_text())
        work = [self.call_runs, self.start_runs, self.store_documents, self.answer_waits, self.cancel_runs,
                self.make_batches, self.add_items, *(partial(self.count, counter) for counter in COUNTERS),
                *(partial(self.write_template, key) for key in TEMPLATES),
                partial(self.read_templates, "get"), partial(self.read_templates, "render")]
        self.threads = [threading.Thread(target=self.repeat, args=(one,)) for one in work]

    def start(self):
        for thread in self.threads:
            thread.start()

    def join(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def repeat(self, work):
        while not self.stop.is_set():
            try:
                work()
            except Refused:
                self.stop.wait(1)
            except Exception as error:  # the checker reports it, and the other clients go on
                self.history.note("broken", what=getattr(work, "func", work).__name__, error=repr(error))
                return

    def until(self, what, accept, *request, expected=(), **more):
        """Repeats a request until an answer is accepted; notes each."""
        begin = time.monotonic()
        while time.monotonic() < begin + LONG:
            status, headers, body = self.fleet.call(*request, **more)
            took = {"took": round(time.monotonic() - begin, 4)} if status in accept else {}
            self.note_answer(what, status, headers, body, (*accept, *expected), **took)
            if took:
                return status, headers, body
            if status and 400 <= status < 500 and status not in expected:
                raise Refused(f"{what}: {status}")
            time.sleep(0.3)
        self.history.note("silence", what=what)
        raise TimeoutError(f"{what}: no answer within {LONG} s")

    def note_answer(self, what, status, headers, body, expected, **more):
        if status not in (200, 201, 202):
            more |= {"body": body[:300].decode(errors="replace"), "expected": list(expected)}
        self.history.note("answer", what=what, status=status, retry_after=headers.get("Retry-After"), **more)

    def key(self):
        number = next(self.numbers)
        return number, f"key-{self.seed}-{number}"

    def begin(self, flow, body, key, sync=False):
        """A run that is acknowledged, and the headers and body of the answer."""
        path, accept = (f"/webhooks/{flow}/sync", {200}) if sync else (f"/webhooks/{flow}", {202})
        _, headers, text = self.until(flow, accept, "POST", path, body, {"Idempotency-Key": key})
        return headers["X-Run-Id"], json.loads(text)

    def accepted(self, flow, run, key, **facts):
        self.history.note("accepted", flow=flow, run=run, key=key, **facts)

    def call_runs(self):
        while not self.stop.wait(0.1):
            number, key = self.key()
            run, answer = self.begin("chaos", {"a": number}, key, sync=True)
            self.accepted("chaos", run, key, number=number, result=answer["result"])

    def start_runs(self):
        while not self.stop.wait(0.15):
            number, key = self.key()
            run, _ = self.begin("chaos", {"a": number}, key)
            self.accepted("chaos", run, key, number=number)

    def store_documents(self):
        order = {"template": "invoice-de", "data": self.invoice, "output": {"store": True, "ttlSeconds": 7200}}
        while not self.stop.wait(0.5):
            _, _, text = self.until("store", {201}, "POST", "/render", order)
            stored = json.loads(text)
            self.history.note("stored", link=stored["url"], digest=stored["sha256"])

    def make_batches(self):
        items = [{"definition": self.template("inline", 0), "data": {}, "format": "html"}] * 2
        while not self.stop.wait(1):
            _, key = self.key()
            path = "/render/batch?async=true"
            _, headers, _ = self.until("batch", {202}, "POST", path, {"items": items}, {"Idempotency-Key": key})
            self.accepted("batch", headers["X-Run-Id"], key)

    def answer_waits(self):
        """Calls runs back, some with two values at the same moment, of which one must be refused."""
        while not self.stop.wait(0.5):
            number, key = self.key()
            run, _ = self.begin("ask", {}, key)
            self.accepted("ask", run, key)
            path = None
            begin = time.monotonic()
            while path is None and time.monotonic() < begin + LONG:
                path = self.hook.callback_of(run, 1)
            if path is None:
                self.history.note("silence", what=f"{run} to call the hook")
                continue
            path = urllib.parse.urlsplit(path).path
            other = threading.Thread(target=self.call_back_once, args=(run, path, -number))
            if number % 2:
                other.start()
            self.call_back(run, path, number)
            if number % 2:
                other.join()

    def call_back_once(self, run, path, value):
        status, headers, body = self.fleet.call("POST", path, {"value": value})
        # 400: the wait is not open, or no longer; 409: the run has ended.
        self.note_answer("callback", status, headers, body, (202, 400, 409))
        self.history.note("called", run=run, value=value, status=status)
        return status

    def call_back(self, run, path, value):
        """Until it is acknowledged, or the run has ended by an attempt that had no answer."""
        begin = time.monotonic()
        while time.monotonic() < begin + LONG:
            status = self.call_back_once(run, path, value)
            if status == 202:
                return
            # The wait is not open yet, or no longer.
            if status in (400, 409):
                _, _, text = self.until("get", {200}, "GET", f"/runs/{run}")
                if json.loads(text)["state"] in ENDS:
                    return
            time.sleep(0.2)
        self.history.note("silence", what=f"callback of {run}")

    def cancel_runs(self):
        while not self.stop.wait(0.7):
            _, key = self.key()
            run, _ = self.begin("endless", {}, key)
            self.until("cancel", {200, 409}, "POST", f"/runs/{run}/cancel")
            self.accepted("endless", run, key)

    def count(self, counter):
        while not self.stop.wait(0.2):
            self.count_once(counter)

    def count_once(self, counter):
        _, key = self.key()
        run, answer = self.begin("count", {"key": counter}, key, sync=True)
        self.accepted("count", run, key, counter=counter, result=answer["result"])

    def template(self, key, value):
        return {"key": key, "name": key, "body": [{"type": "text", "content": f"value={value};"}]}

    def write_template(self, key):
        """Writes values that grow; the version tells whether an attempt without an answer did it."""
        for value in itertools.count(self.values.get(key, 0) + 1):
            if self.stop.wait(0.4):
                return
            self.history.note("write", template=key, value=value, done=False)
            body = self.template(key, value)
            if value == 1:
                # 409: a former attempt has stored it.
                self.until("template", {201, 409}, "POST", "/templates", body)
            else:
                match = {"If-Match": f'"{value - 1}"'}
                self.until("template", {200, 412}, "PUT", f"/templates/{key}", body, match)
            self.history.note("write", template=key, value=value, done=True)
            self.values[key] = value

    def read_templates(self, how):
        """Asks the services themselves, one after the other."""
        while not self.stop.wait(0.1):
            at = self.random.choice(self.fleet.services)
            key = self.random.choice(TEMPLATES)
            begin = time.monotonic()
            if how == "get":
                answer = self.fleet.call("GET", f"/templates/{key}", at=at)
            else:
                answer = self.fleet.call("POST", "/render", {"template": key, "data": {}, "format": "html"}, at=at)
            # 404: nothing is written yet, which the checker finds if something was.
            self.note_answer(how, *answer, (404,))
            if answer[0] == 200 or answer[0] == 404:
                value = int(answer[2].split(b"value=")[1].split(b";")[0]) if answer[0] == 200 else 0
                self.history.note("got", how=how, template=key, value=value, begin=begin, service=at.port)

    def add_items(self):
        for item in itertools.count():
            if self.stop.wait(2):
                return
            self.history.note("item", item=f"i-{item}")
            self.hook.items.append(f"i-{item}")
