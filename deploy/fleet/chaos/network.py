"""Orders to the proxies between the parts of a fleet."""

import json
import pathlib
import subprocess
import sys
import threading


class Network:
    """`address` is where the proxies listen."""

    def __init__(self, address):
        program = pathlib.Path(__file__).with_name("proxies.py")
        # A group of its own: Ctrl-C is for the script, which ends the proxies last.
        self.child = subprocess.Popen([sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True, start_new_session=True)
        self.address = address
        self.lock, self.links = threading.Lock(), []

    def order(self, link, do, value=None, **more):
        with self.lock:
            self.child.stdin.write(json.dumps({"link": link, "do": do, "value": value} | more) + "\n")
            self.child.stdin.flush()
            answer = self.child.stdout.readline().strip()
        if answer != "done":
            raise RuntimeError(f"{link}: {do}: {answer or 'the proxies have ended'}")

    def open(self, link, port, target_port):
        self.order(link, "open", ["127.0.0.1", target_port], at=[self.address, port])
        self.links.append(link)

    def all_of(self, server):
        """The links of everybody to a server."""
        return [link for link in self.links if link.endswith(f"/{server}")]

    def close(self):
        self.child.stdin.close()
        self.child.wait()
