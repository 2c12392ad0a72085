"""What is done to the fleet: some at a time, never two to the same part."""

import itertools
import random
import socket
import threading
import time

# How often each part is harmed, compared with the others.
WEIGHTS = {"app": 5, "worker": 4, "postgres": 4, "redis": 2, "s3": 3, "link": 9, "cable": 6}


class Injections:
    def __init__(self, fleet, database, history, arguments):
        self.fleet, self.database, self.history = fleet, database, history
        self.network, self.total, self.seed = fleet.network, arguments.injections, arguments.seed
        self.numbers, self.lock, self.busy = itertools.count(), threading.Lock(), set()
        self.weights = {kind: weight for kind, weight in WEIGHTS.items() if kind != "cable" or fleet.hosts}
        # Long, so rare.
        self.minutes_left = max(1, self.total // 300)

    def run(self, at_once):
        threads = [threading.Thread(target=self.inject, args=(random.Random(f"{self.seed}/{index}"),))
                   for index in range(at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def inject(self, choice):
        try:
            while next(self.numbers) < self.total:
                time.sleep(choice.uniform(0.1, 0.5))
                self.one(choice)
        except Exception as error:  # the checker reports it
            self.history.note("broken", what="injections", error=repr(error))

    def supervise(self, until):
        """Starts services and workers again that have ended by themselves, as a supervisor does: a start
        without the bucket is refused."""
        while not until.wait(0.5):
            for name in [*self.fleet.named("app"), *self.fleet.named("worker")]:
                with self.lock:
                    if name in self.busy:
                        continue
                    self.busy.add(name)
                code = self.fleet.exit_code(name)
                if code is not None:
                    self.history.note("ended", process=name, code=code)
                    self.fleet.restart(name)
                with self.lock:
                    self.busy.discard(name)

    def one(self, choice):
        """A harm to a part that nobody harms now, with its recovery."""
        while True:
            kind = choice.choices(list(self.weights), list(self.weights.values()))[0]
            part, what, work = getattr(self, f"of_{kind}")(choice)
            # Harms of a server may concern all its links.
            whole = {"s3": "s3-1", "postgres": "postgres"}.get(part.rpartition("/")[2], part)
            with self.lock:
                if whole not in self.busy:
                    self.busy.add(whole)
                    break
            time.sleep(0.05)
        self.history.note("injection", kind=what, part=part)
        try:
            work()
        finally:
            with self.lock:
                self.busy.discard(whole)
        self.history.note("healed", kind=what, part=part)

    def of_app(self, choice, kind="app"):
        how = choice.choice(("KILL", "TERM", "STOP"))
        seconds = choice.uniform(0.2, 5 if how == "STOP" else 1.5)
        name = choice.choice(self.fleet.named(kind))
        return name, f"{kind} {how}", lambda: self.signal(name, how, seconds)

    def of_worker(self, choice):
        return self.of_app(choice, "worker")

    def of_postgres(self, choice):
        """A harm of one of the servers; which one is the primary is known when it begins."""
        if choice.random() < 0.25:
            is_cut = choice.random() < 0.5
            return "postgres", f"failover, primary {'cut off' if is_cut else 'lost'}", lambda: self.database.fail_over(is_cut)
        how = choice.choice(("KILL", "STOP", "crash of a backend"))
        seconds = choice.uniform(0.2, 3)
        if how == "crash of a backend":
            return "postgres", f"primary {how}", self.crash_backend
        role = choice.choice(("primary", "primary", "standby"))
        return "postgres", f"{role} {how}", lambda: self.harm_server(getattr(self.database, role), how, seconds)

    def of_redis(self, choice):
        if self.minutes_left and choice.random() < 0.4:
            self.minutes_left -= 1
            return "redis-1", "Redis away for a minute", lambda: self.signal("redis-1", "KILL", 60)
        how, seconds = choice.choice(("KILL", "STOP", "FLUSHALL")), choice.uniform(0.2, 5)
        work = self.flush if how == "FLUSHALL" else lambda: self.signal("redis-1", how, seconds)
        return "redis-1", f"Redis {how}", work

    def of_s3(self, choice):
        how, seconds = choice.choice(("KILL", "STOP", "errors", "slow", "away")), choice.uniform(0.5, 5)
        links = self.network.all_of("s3")
        orders = {"errors": ("fail", choice.uniform(0.2, 0.9)), "slow": ("delay", choice.uniform(200, 2000)),
                  "away": ("refuse", None)}
        if how in orders:
            return "s3-1", f"S3 {how}", lambda: self.harm_links(links, *orders[how], 2 * seconds)
        return "s3-1", f"S3 {how}", lambda: self.signal("s3-1", how, seconds)

    def of_link(self, choice):
        link = choice.choice(self.network.links)
        how = choice.choice(("hold", "forget", "delay", "half-close", "reset", "refuse"))
        value = choice.uniform(50, 2000) if how == "delay" else None
        seconds = 0 if how in ("half-close", "reset", "forget") else choice.uniform(0.3, 5)
        source, target = (end.split("-")[0] for end in link.split("/"))
        return link, f"{source} to {target}: {how}", lambda: self.harm_links([link], how, value, seconds)

    def of_cable(self, choice):
        """A host without a network. Some are away for longer than anybody waits."""
        name = choice.choice(list(self.fleet.hosts.cables))
        seconds = choice.uniform(15, 40) if choice.random() < 0.15 else choice.uniform(0.3, 6)
        length = "for long" if seconds > 10 else "for a moment"
        return name, f"cable of {name.split('-')[0]} out {length}", lambda: self.pull(name, seconds)

    def pull(self, name, seconds):
        self.fleet.hosts.cut(name)
        time.sleep(seconds)
        self.fleet.hosts.mend(name)

    def signal(self, name, how, seconds):
        if how == "STOP":
            self.fleet.signal(name, "STOP", children=True)
            time.sleep(seconds)
            self.fleet.signal(name, "CONT", children=True)
            return
        self.fleet.end(name, how)
        time.sleep(seconds)
        self.fleet.restart(name)

    def harm_server(self, name, how, seconds):
        if how == "KILL":
            self.database.kill(name)
            time.sleep(seconds)
            self.fleet.restart(name)
        else:
            self.signal(name, how, seconds)
        self.database.recover()

    def crash_backend(self):
        self.database.kill_backend()
        self.database.recover()

    def harm_links(self, links, how, value, seconds):
        for link in links:
            self.network.order(link, how, value)
        time.sleep(seconds)
        for link in links:
            self.network.order(link, "heal")

    def flush(self):
        redis = self.fleet.redis
        with socket.create_connection((redis.hostname, redis.port), 5) as connection:
            connection.sendall(f"AUTH {redis.password}\r\nFLUSHALL\r\n".encode())
            answer = b""
            while answer.count(b"\r\n") < 2:
                answer += connection.recv(100)
        if answer != b"+OK\r\n+OK\r\n":
            raise RuntimeError(f"FLUSHALL: {answer}")
