"""What happened, an event a line, as it happens."""

import json
import threading
import time


class History:
    def __init__(self, path):
        self.events, self.lock, self.file = [], threading.Lock(), open(path, "w")

    def note(self, event, **facts):
        with self.lock:
            facts = {"event": event, "at": time.monotonic()} | facts
            self.events.append(facts)
            self.file.write(json.dumps(facts) + "\n")
            self.file.flush()

    def of(self, kind):
        with self.lock:
            return [event for event in self.events if event["event"] == kind]
