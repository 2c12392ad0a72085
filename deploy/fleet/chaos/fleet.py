"""The processes of run.sh: each is started again behind the proxies, and can be harmed."""

import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import urllib.parse

from hosts import GATEWAY, Hosts
from network import Network

READY_SECONDS = 120


class Fleet:
    """`has_hosts` gives each service and each worker a network of its own."""

    def __init__(self, log, has_hosts=False):
        text = pathlib.Path(log).read_text()
        find = lambda pattern: re.search("^  " + pattern, text, re.MULTILINE)[1]
        self.work = pathlib.Path(find(r"logs\s+(\S+)/\*\.log"))
        self.address = urllib.parse.urlsplit(find(r"address\s+(\S+)"))
        self.services = [urllib.parse.urlsplit(url) for url in find(r"services\s+(.+)").split()]
        self.database = urllib.parse.urlsplit(find(r"database\s+(\S+)"))
        self.redis = urllib.parse.urlsplit(find(r"redis\s+(\S+)"))
        self.s3 = urllib.parse.urlsplit(find(r"bucket\s+(\S+)/"))
        self.key = find(r"admin key\s+(\S+)")
        names = sorted(file.stem for file in self.work.glob("*.pid"))
        self.names = [name for name in names if re.match(r"(app|worker|postgres|redis|s3|nginx)-", name)]
        self.recipes = {name: self.recipe(name) for name in self.names}
        self.children, self.codes, self.lock = [], {}, threading.Lock()
        self.hosts = Hosts([*self.named("app"), *self.named("worker")]) if has_hosts else None
        # Where services and workers find what is outside.
        self.gateway = GATEWAY if has_hosts else "127.0.0.1"
        self.network = Network(self.gateway)

    def named(self, kind):
        return [name for name in self.names if name.startswith(f"{kind}-")]

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
        with self.lock:
            self.children.append(child)
        (self.work / f"{name}.pid").write_text(f"{child.pid}\n")
        return child

    def reap(self):
        """What was killed keeps its number until it is asked for its end."""
        with self.lock:
            self.codes |= {child.pid: child.returncode for child in self.children if child.poll() is not None}
            self.children = [child for child in self.children if child.returncode is None]

    def is_alive(self, name):
        self.reap()
        state = pathlib.Path(f"/proc/{self.pid(name)}/stat")
        try:
            return state.read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def exit_code(self, name):
        """How a process that was started here has ended; `None` while it has not."""
        pid = self.pid(name)
        with self.lock:
            child = next((child for child in self.children if child.pid == pid), None)
        return child.poll() if child else self.codes.get(pid)

    def restart(self, name):
        """Starts a process that was killed, again until it stays: PostgreSQL waits for its old children."""
        while True:
            self.reap()
            child = self.start(name)
            for _ in range(30 if name.startswith("postgres") else 1):
                time.sleep(0.1)
                if child.poll() is not None:
                    break
            else:
                return

    def end(self, name, how):
        """Ends a process by a signal and waits until it is gone; one that ignores SIGTERM is killed."""
        self.signal(name, how)
        for _ in range(600):
            if not self.is_alive(name):
                return
            time.sleep(0.1)
        self.signal(name, "KILL")

    def signal(self, name, how, children=False):
        pid = self.pid(name)
        for process in [pid, *(self.children_of(pid) if children else [])]:
            try:
                os.kill(process, getattr(signal, f"SIG{how}"))
            except ProcessLookupError:
                pass

    @staticmethod
    def children_of(pid):
        found = []
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                if int(stat.read_text().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(stat.parent.name))
            except (FileNotFoundError, ProcessLookupError):
                pass
        return found

    def put_behind_proxies(self):
        """Each pair of processes gets a connection of its own that can be harmed. nginx reaches hosts
        by their cables."""
        port = self.address.port + 30
        links = []
        for name, service in zip(self.named("app"), self.services):
            links += [(f"{name}/postgres", self.database.port), (f"{name}/redis", self.redis.port),
                      (f"{name}/s3", self.s3.port)]
            if not self.hosts:
                links.append((f"nginx/{name}", service.port))
        links += [(f"{name}/nginx", self.address.port) for name in self.named("worker")]
        at = {}
        for link, target in links:
            at[link], port = port, port + 1
            self.network.open(link, at[link], target)
        for name in self.named("app"):
            environment = self.recipes[name][1]
            for variable, server in (("DATABASE_URL", "postgres"), ("REDIS_URL", "redis"), ("S3_ENDPOINT", "s3")):
                given = urllib.parse.urlsplit(environment[variable])
                user = given.netloc.rpartition("@")
                place = f"{user[0]}{user[1]}{self.gateway}:{at[f'{name}/{server}']}"
                environment[variable] = given._replace(netloc=place).geturl()
        for name in self.named("worker"):
            self.recipes[name][1]["PLATEN_APP"] = f"http://{self.gateway}:{at[f'{name}/nginx']}"
        self.move_services(at)
        for name in [*self.named("app"), *self.named("worker")]:
            self.end(name, "TERM")
            self.restart(name)
        self.until_ready()

    def move_services(self, ports):
        """nginx finds the services behind their proxies, or on their hosts."""
        upstream = (self.work / "upstream.conf").read_text()
        for index, (name, service) in enumerate(zip(self.named("app"), self.services)):
            place = f"127.0.0.1:{ports.get(f'nginx/{name}')}"
            if self.hosts:
                place = f"{self.hosts.addresses[name]}:{service.port}"
                self.recipes[name][0][:] = [place if word == service.netloc else word for word in self.recipes[name][0]]
                self.services[index] = service._replace(netloc=place)
            upstream = upstream.replace(f"{service.netloc} ", f"{place} ")
        (self.work / "upstream.conf").write_text(upstream)
        self.signal("nginx-1", "HUP")
        if self.hosts:
            for name in [*self.named("app"), *self.named("worker")]:
                self.recipes[name][0][:] = self.hosts.on(name, self.recipes[name][0])

    def until_ready(self):
        """Waits until every service says that requests would succeed."""
        begin = time.monotonic()
        for service in self.services:
            while self.call("GET", "/health/ready", at=service, patience=5)[0] != 200:
                if time.monotonic() > begin + READY_SECONDS:
                    raise TimeoutError(f"{service.geturl()} is not ready")
                time.sleep(0.2)

    def call(self, method, path, body=None, headers=(), patience=40, at=None):
        """Status, headers and body; `None` for the status if the connection was lost."""
        address = at or self.address
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=patience)
        try:
            head = {"X-Api-Key": self.key, "Content-Type": "application/json"} | dict(headers)
            connection.request(method, path, None if body is None else json.dumps(body), head)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException):
            return None, {}, b""
        finally:
            connection.close()

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.send_signal(signal.SIGCONT)
                child.send_signal(signal.SIGINT if "postgres" in child.args[0] else signal.SIGTERM)
        for child in self.children:
            child.wait()
        self.network.close()
        if self.hosts:
            self.hosts.close()
