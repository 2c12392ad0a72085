"""The flows that the clients use, and the hook that they call."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# A failure of the service within a step is repeated, as authors of flows do.
RETRY = {"attempts": 20, "backoffMs": 200, "maxBackoffMs": 3000}


def flows(hook):
    tell = lambda path, body: {"name": "tell", "type": "http", "method": "POST", "url": hook + path, "body": body, "retry": RETRY}
    reply = lambda value: {"name": "reply", "type": "respond", "body": {"result": value}}
    every_minute = {"type": "schedule", "cron": "* * * * *"}
    yield "chaos", {"type": "webhook"}, [
        tell("/", {"a": "{{ trigger.body.a }}"}),
        {"name": "next", "type": "code", "input": {"a": "{{ trigger.body.a }}"}, "retry": RETRY,
         "source": "export default async ({ a }) => Number(a) + 1;"},
        reply("{{ steps.next.output }}")]
    yield "ask", {"type": "webhook"}, [
        tell("/callback", {"path": "{{ run.callback }}"}),
        {"name": "answer", "type": "wait", "callback": True},
        {"name": "pause", "type": "wait", "delayMs": 2500},
        reply("{{ steps.answer.output.value }}")]
    yield "endless", {"type": "webhook"}, [{"name": "never", "type": "wait", "callback": True}]
    key = "{{ trigger.body.key }}"
    yield "count", {"type": "webhook"}, [
        {"name": "kept", "type": "store", "operation": "get", "key": key, "retry": RETRY},
        {"name": "next", "type": "code", "input": "{{ steps.kept.output }}", "retry": RETRY,
         "source": "export default async (kept) => (kept ?? 0) + 1;"},
        {"name": "keep", "type": "store", "operation": "put", "key": key, "value": "{{ steps.next.output }}", "retry": RETRY},
        reply("{{ steps.next.output }}")]
    for index in range(3):
        yield f"tick-{index}", every_minute, [tell("/trigger", {"flow": f"tick-{index}", "due": "{{ trigger.at }}"})]
    poll = {"type": "poll", "everySeconds": 1, "request": {"method": "GET", "url": f"{hook}/items"},
            "items": "body.items", "id": "id"}
    yield "items", poll, [tell("/trigger", {"flow": "items", "due": "{{ trigger.item.id }}"})]


def publish(fleet, hook):
    for key, trigger, steps in flows(hook):
        flow = {"kind": "flow", "key": key, "name": key, "trigger": trigger, "steps": steps}
        if key == "count":
            flow["concurrency"] = 2
        for path, body in (("/flows", flow), (f"/flows/{key}/publication", None)):
            status, _, text = fleet.call("POST", path, body)
            if status not in (200, 201):
                raise RuntimeError(f"{path}: {status} {text[:300]}")


class Hook:
    """What the flows call; it notes each run that calls, and lists items for the poll."""

    def __init__(self, history, address, port):
        self.history, self.items, self.polls = history, [], 0
        self.paths, self.has_path = {}, threading.Condition()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                hook.polls += 1
                # The newest: a poll that was away for long finds all of them.
                self.answer({"items": [{"id": item} for item in hook.items[-5000:]]})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
                run = (self.headers.get("idempotency-key") or "").split(":")[0]
                hook.called(self.path, run, body)
                self.answer({})

            def answer(self, value):
                text = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(text)))
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(text)

        class Server(ThreadingHTTPServer):
            request_queue_size, daemon_threads = 256, True

            def handle_error(self, *_):
                pass

        threading.Thread(target=Server((address, port), Handler).serve_forever, daemon=True).start()

    def called(self, path, run, body):
        if path == "/trigger":
            self.history.note("trigger", run=run, flow=body["flow"], due=body["due"])
        elif path == "/callback":
            with self.has_path:
                self.paths[run] = body["path"]
                self.has_path.notify_all()
        else:
            self.history.note("hook", run=run)

    def callback_of(self, run, seconds):
        with self.has_path:
            self.has_path.wait_for(lambda: run in self.paths, seconds)
            return self.paths.get(run)
