"""After the last harm: what became of everything that was promised."""

import concurrent.futures
import hashlib
import json
import pathlib
import re
import time
import urllib.parse

from checker import LONG
from clients import COUNTERS, ENDS, Refused

PROBE_SECONDS = 3600


class Settlement:
    def __init__(self, clients, database):
        self.clients, self.database = clients, database
        self.fleet, self.history = clients.fleet, clients.history

    def run(self):
        self.wait_for_schedules()
        # The last values are kept, and no lost run holds a place of the flow.
        self.in_parallel(self.clients.count_once, COUNTERS)
        runs = sorted({(event["run"], event["flow"]) for event in self.history.of("accepted")})
        # Twice: an end does not change.
        for _ in range(2):
            self.in_parallel(self.ask, runs)
        self.in_parallel(self.read, sorted({event["link"] for event in self.history.of("stored")}))
        self.wait_for_rows()
        self.look_at_processes()
        self.look_at_objects()

    def in_parallel(self, work, over):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(work, *one) if isinstance(one, tuple) else pool.submit(work, one) for one in over]:
                try:
                    done.result()
                except (TimeoutError, Refused):
                    pass  # noted as it happened

    def wait_for_schedules(self):
        """Each schedule starts once more, and each item has its run."""
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        flows = [f"tick-{index}" for index in range(3)]
        items = {event["item"] for event in self.history.of("item")}
        begin = time.monotonic()
        while time.monotonic() < begin + LONG:
            starts = {(event["flow"], event["due"]) for event in self.history.of("trigger")}
            late = [flow for flow in flows if not any(of == flow and due >= until for of, due in starts)]
            if not late and items <= {due for of, due in starts if of == "items"}:
                break
            time.sleep(0.5)
        for flow in flows:
            self.history.note("scheduled", flow=flow, until=until)
        for flow in [*flows, "items"]:
            self.clients.until("unpublish", {200, 204}, "DELETE", f"/flows/{flow}/publication", expected=(404,))

    def ask(self, run, flow):
        begin, state = time.monotonic(), {}
        while state.get("state") not in ENDS and time.monotonic() < begin + LONG:
            _, _, text = self.clients.until("get", {200}, "GET", f"/runs/{run}")
            state = json.loads(text)
            if state.get("state") not in ENDS:
                time.sleep(0.2)
        body = (state.get("answer") or {}).get("body") or {}
        result = body.get("result") if isinstance(body, dict) else None
        if flow == "batch" and state.get("state") == "succeeded":
            _, _, text = self.clients.until("output", {200}, "GET", f"/runs/{run}/output")
            result = json.loads(text).get("succeeded")
        error = state.get("error")
        self.history.note("run", run=run, state=state.get("state"), result=result, **({"error": error} if error else {}))

    def read(self, link):
        parts = urllib.parse.urlsplit(link)
        _, _, text = self.clients.until("read", {200}, "GET", f"{parts.path}?{parts.query}".rstrip("?"))
        self.history.note("read", link=link, digest=hashlib.sha256(text).hexdigest())

    def wait_for_rows(self):
        """Runs without an acknowledgement end, too; then nothing is open, and nothing is held. Places of
        the flow with a limit are given back when its next run begins, so there are as many at most."""
        leases = {"open_runs": "SELECT count(*) FROM open_runs",
                  "limited_runs": "SELECT greatest(count(*) - 2, 0) FROM limited_runs"}
        for table, statement in leases.items():
            begin, count = time.monotonic(), None
            while count != 0 and time.monotonic() < begin + LONG:
                rows = self.database.rows(statement)
                count = int(rows[0][0]) if rows else None
                time.sleep(0.2)
            self.history.note("rows", table=table, count=-1 if count is None else count)

    def look_at_processes(self):
        for name in [*self.fleet.named("app"), *self.fleet.named("worker")]:
            alive, size, files = self.fleet.is_alive(name), None, None
            if alive:
                process = pathlib.Path(f"/proc/{self.fleet.pid(name)}")
                size = int(re.search(r"VmRSS:\s+(\d+)", (process / "status").read_text())[1]) << 10
                files = len(list((process / "fd").iterdir()))
            self.history.note("process", process=name, alive=alive, bytes=size, files=files)

    def look_at_objects(self):
        """Objects that nothing refers to, and that no sweep will delete."""
        bucket = self.fleet.work / "s3" / "platen"
        names = [str(file.relative_to(bucket)) for file in bucket.rglob("*") if file.is_file()]
        referred = {json.loads(row[0]).get("request") for row in self.database.rows(
            "SELECT convert_from(trigger_payload, 'UTF8') FROM runs WHERE flow LIKE '%deferred%'")}
        for name in names:
            folder, _, last = name.rpartition("/")
            if name == "keys/link.key" or folder in ("deferred/done", "deferred/failed"):
                continue
            if re.fullmatch(r"results/\d+", folder):
                if int(folder.split("/")[1]) < time.time() - 1800:
                    self.history.note("orphan", object=name, why="expired half an hour ago")
            elif folder == "deferred/requests":
                if last not in referred:
                    self.history.note("unacknowledged", object=name)
            elif folder == "check" and time.time() - (bucket / name).stat().st_mtime < PROBE_SECONDS:
                # A service that was killed while it started; the start of another one deletes it later.
                self.history.note("unacknowledged", object=name)
            else:
                self.history.note("orphan", object=name, why="nothing refers to it")
