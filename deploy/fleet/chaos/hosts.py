"""Each service and each worker as a host of its own: a network namespace with a cable (a pair of virtual
devices) to a bridge. Needs root."""

import subprocess

GATEWAY = "10.77.0.1"


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class Hosts:
    def __init__(self, names):
        self.names, self.addresses, self.cables = [], {}, {}
        ip("link", "add", "platen-fleet", "type", "bridge")
        ip("address", "add", f"{GATEWAY}/24", "dev", "platen-fleet")
        ip("link", "set", "platen-fleet", "up")
        for number, name in enumerate(names):
            self.add(name, f"10.77.0.{11 + number}", f"platen-{name}")

    def add(self, name, address, space):
        ip("netns", "add", space)
        self.names.append(space)
        cable = self.cables[name] = f"to-{name}"
        ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
        ip("link", "set", cable, "master", "platen-fleet", "up")
        for words in (("link", "set", "lo", "up"), ("address", "add", f"{address}/24", "dev", "eth0"),
                      ("link", "set", "eth0", "up")):
            ip("-n", space, *words)
        self.addresses[name] = address

    def on(self, name, words):
        """The command that executes another one on a host, as the same process."""
        return ["ip", "netns", "exec", f"platen-{name}", *words]

    def cut(self, name):
        ip("link", "set", self.cables[name], "down")

    def mend(self, name):
        ip("link", "set", self.cables[name], "up")

    def close(self):
        for space in self.names:
            ip("netns", "delete", space)
        ip("link", "delete", "platen-fleet")
