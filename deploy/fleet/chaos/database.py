"""PostgreSQL with a synchronous standby, and the failover to it."""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

PATIENCE = 120


class Database:
    """Two servers, of which one is the primary. The proxies lead to it, like a virtual address."""

    def __init__(self, fleet):
        self.fleet, self.primary, self.standby = fleet, "postgres-1", "postgres-2"
        port = fleet.database.port
        self.ports = {"postgres-1": port, "postgres-2": fleet.address.port + 9}
        words, environment, user = fleet.recipes["postgres-1"]
        self.programs = pathlib.Path(words[0]).parent
        self.folders = {"postgres-1": fleet.work / "postgres", "postgres-2": fleet.work / "postgres-2"}
        changed = {str(self.folders["postgres-1"]): str(self.folders["postgres-2"]), str(port): str(self.ports["postgres-2"])}
        fleet.recipes["postgres-2"] = [changed.get(word, word) for word in words], environment, user
        self.user, self.environment = user, os.environ | {"PGPASSWORD": fleet.database.password, "PGCONNECT_TIMEOUT": "10"}
        self.add_standby()

    def psql(self, name, statement):
        command = [self.programs / "psql", "-h", "127.0.0.1", "-p", str(self.ports[name]), "-U", "platen",
                   "-d", "platen", "-Atc", statement]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        return done.stdout.strip() if done.returncode == 0 else None

    def until(self, name, statement, wanted):
        begin = time.monotonic()
        while self.psql(name, statement) != wanted:
            if time.monotonic() > begin + PATIENCE:
                raise TimeoutError(f"{name}: {statement} does not become {wanted}")
            time.sleep(0.2)

    def add_standby(self):
        """Copies the primary, and lets no commit be acknowledged that the copy does not have."""
        folder = self.folders[self.standby]
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        os.chown(folder, self.user, -1)
        command = [self.programs / "pg_basebackup", "-h", "127.0.0.1", "-p", str(self.ports[self.primary]),
                   "-U", "platen", "-D", folder, "-R", "-X", "stream", "-c", "fast"]
        subprocess.run(command, env=self.environment, user=self.user, check=True, capture_output=True)
        self.fleet.restart(self.standby)
        self.until(self.primary, "SELECT state FROM pg_stat_replication", "streaming")
        self.psql(self.primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.psql(self.primary, "SELECT pg_reload_conf()")
        self.until_in_step()

    def until_in_step(self):
        """Until the standby has all that is acknowledged, and will have what follows."""
        self.until(self.primary, "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'", "sync")

    def kill(self, name):
        """All processes of a server at once, as if its machine were gone."""
        self.fleet.signal(name, "KILL", children=True)
        while self.fleet.is_alive(name):
            time.sleep(0.05)

    def kill_backend(self):
        """A process of a connection crashes, and the server begins again."""
        found = self.psql(self.primary, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
                          " AND pid <> pg_backend_pid()")
        if found:
            os.kill(int(random.choice(found.split())), signal.SIGKILL)

    def fail_over(self, is_cut):
        """Makes the standby the primary, moves the address, and makes a new standby in the place of the
        lost server. It is dead, or `is_cut` from its clients, which it finds out later."""
        self.until_in_step()
        links = self.fleet.network.all_of("postgres")
        lost, found = self.primary, self.standby
        if is_cut:
            for link in links:
                self.fleet.network.order(link, "hold")
        else:
            self.kill(lost)
        self.psql(found, "SELECT pg_promote(true, 60)")
        self.until(found, "SELECT pg_is_in_recovery()", "f")
        for link in links:
            self.fleet.network.order(link, "move", ["127.0.0.1", self.ports[found]])
            self.fleet.network.order(link, "heal")
        if is_cut:
            time.sleep(0.5)
            self.kill(lost)
        self.primary, self.standby = found, lost
        self.add_standby()

    def recover(self):
        """Waits until both servers answer after a harm."""
        self.until(self.primary, "SELECT 1", "1")
        self.until_in_step()

    def rows(self, statement):
        return [line.split("|") for line in (self.psql(self.primary, statement) or "").splitlines()]
