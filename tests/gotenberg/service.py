"""Starts Platen with the environment of a scenario."""

import json
import os
import subprocess
import tempfile
import time

import requests

from outcome import Difference

# Where programs and their caches are. Nothing else of the surroundings reaches the service.
KEPT = ("PATH", "HOME", "XDG_CACHE_HOME", "CHROMIUM_PATH", "LIBREOFFICE_PATH")
OWN = {"CHROMIUM_WARM": "true", "WEBHOOK_MAX_RETRIES": "1"}
# As Gotenberg's own tests set them for every container.
ALLOW_LISTS = ("CHROMIUM_ALLOW_LIST", "API_DOWNLOAD_FROM_ALLOW_LIST", "WEBHOOK_ALLOW_LIST")
# Gotenberg's expressions open private addresses, where a scenario does not deny them; here, a variable does.
PRIVATE = {
    "CHROMIUM_DENY_PRIVATE_IPS": "CHROMIUM_ALLOW_PRIVATE_ADDRESSES",
    "API_DOWNLOAD_FROM_DENY_PRIVATE_IPS": "DOWNLOAD_ALLOW_PRIVATE_ADDRESSES",
    "WEBHOOK_DENY_PRIVATE_IPS": "WEBHOOK_ALLOW_PRIVATE_ADDRESSES",
}
# Keys have at least 8 characters.
PASSWORD = "bar-bar-bar"
START_SECONDS = 60
STOP_SECONDS = 20


def translate(environment):
    """The variables of a container as they mean the same for Platen."""
    translated = {name: value.replace("host.docker.internal", "localhost") for name, value in environment.items()}
    for name in ALLOW_LISTS:
        translated.setdefault(name, ".+")
    for denied, allowed in PRIVATE.items():
        if denied not in environment:
            translated[allowed] = "true"
    if "GOTENBERG_API_BASIC_AUTH_PASSWORD" in environment:
        translated["GOTENBERG_API_BASIC_AUTH_PASSWORD"] = PASSWORD
    return translated


class Service:
    """One process at a time, which stays for the next scenario if its environment is the same."""

    def __init__(self, platen, folder):
        self.platen = platen
        self.folder = folder
        command = [platen, "--version"]
        self.version = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1]
        self.process = None
        self.environment = None
        self.address = None

    def start(self, environment):
        if self.process and self.process.poll() is None and self.environment == environment:
            return
        self.stop()
        self.environment = environment
        # A folder for each start: data, temporary files and the log. LibreOffice's socket needs a short path.
        folder = tempfile.mkdtemp(prefix="", dir=self.folder)
        variables = {name: os.environ[name] for name in KEPT if name in os.environ}
        variables |= OWN | {"TMPDIR": folder} | translate(environment)
        command = [self.platen, "serve", "--bind", "127.0.0.1:0", "--log-format", "json"]
        command += ["--data-dir", os.path.join(folder, "data")]
        log = os.path.join(folder, "log")
        with open(log, "wb") as output:
            self.process = subprocess.Popen(command, env=variables, cwd=folder, stdout=output, stderr=output)
        self.wait_until_ready(log)

    def wait_until_ready(self, log):
        deadline = time.monotonic() + START_SECONDS
        self.address = None
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise Difference(f"the service does not start: {tail(log)}")
            self.address = self.address or find_address(log)
            if self.address and self.is_healthy():
                return
            time.sleep(0.05)
        raise Difference(f"the service is not ready after {START_SECONDS} s")

    def is_healthy(self):
        root = self.environment.get("API_ROOT_PATH", "/")
        try:
            return requests.get(f"{self.address}{root}health", timeout=5).status_code == 200
        except requests.RequestException:
            return False

    def stop(self):
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None


def find_address(log):
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                address = json.loads(line).get("address")
            except ValueError:
                continue
            if address:
                return f"http://{address}"
    return None


def tail(log):
    with open(log, encoding="utf-8", errors="replace") as lines:
        return lines.read()[-400:]
