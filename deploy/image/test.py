#!/usr/bin/env python3
"""Runs the images of build.sh with crun and uses what is inside: a document, an Office conversion, a
printed page, a flow on a worker.

    test.py [LAYOUT]        out/image by default; needs root, umoci and crun

Ways to run them: as Compose does and the Pod Security Standard `restricted` demands; as Podman does,
which allows namespaces but not chroot; with ../docker/seccomp.json, and also with a /proc without masks, as sandbox-full.yaml; and in a user
namespace without a profile, as the component sandbox-full of Kubernetes. Prints the levels of the
sandboxes.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "check"))
from service import ADMIN, METRICS, ROOT, WORKER, call, expect, form, publish, render, store, until  # noqa: E402

PROFILE = ROOT / "deploy/docker/seccomp.json"
USER = 10001
OUTSIDE = 300_000  # where the users of a user namespace begin
MASKED = ["/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
          "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware"]
# The last entry of ../docker/seccomp.json.
BUILDING = ["chroot", "clone", "mount", "mount_setattr", "pivot_root", "umount2", "unshare"]
READONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]


def seccomp(file, without=()):
    """A profile of Docker, for a container without capabilities, as the runtime reads it; without
    these of the system calls that Platen needs."""
    profile = json.loads(file.read_text())
    rules = []
    for rule in profile["syscalls"]:
        includes, excludes = rule.get("includes", {}), rule.get("excludes", {})
        arches = includes.get("arches", ["amd64"])
        if includes.get("caps") or "amd64" not in arches or "amd64" in excludes.get("arches", []):
            continue
        rule = {name: rule[name] for name in ("names", "action", "args", "errnoRet") if name in rule}
        if set(BUILDING) == set(rule["names"]):
            rule["names"] = [name for name in BUILDING if name not in without]
        if rule["names"]:
            rules.append(rule)
    return {
        "defaultAction": profile["defaultAction"],
        "defaultErrnoRet": profile["defaultErrnoRet"],
        "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"],
        "syscalls": rules,
    }


class Container:
    """A container of an unpacked image, on the network of this machine."""

    def __init__(self, work, bundle, way, settings, arguments=None):
        self.name = f"platen-test-{os.getpid()}-{len(list(work.iterdir()))}"
        folder = work / self.name
        (folder / "data").mkdir(parents=True)
        (folder / "rootfs").symlink_to(bundle / "rootfs")
        config = json.loads((bundle / "config.json").read_text())
        process = config["process"]
        assert process["user"]["uid"] == USER, process["user"]
        process["terminal"] = False
        process["env"] += [f"{name}={value}" for name, value in settings.items()]
        if arguments:
            process["args"] = process["args"][:1] + arguments
        process["noNewPrivileges"] = True
        process["capabilities"] = {}
        process["rlimits"] = [{"type": "RLIMIT_NOFILE", "hard": 16384, "soft": 16384}]
        config["root"] = {"path": str((bundle / "rootfs").resolve()), "readonly": True}
        config.pop("hooks", None)
        namespaces = [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")]
        linux = {"namespaces": namespaces, "maskedPaths": MASKED, "readonlyPaths": READONLY}
        owner = USER
        if way == "default":
            linux["seccomp"] = seccomp(PROFILE, without=BUILDING)
        elif way not in ("profile, masked", "podman"):
            linux["maskedPaths"] = linux["readonlyPaths"] = []
        if way.startswith("profile"):
            linux["seccomp"] = seccomp(PROFILE)
        if way == "podman":
            linux["seccomp"] = seccomp(PROFILE, without=["chroot"])
        if way == "user namespace":
            namespaces.append({"type": "user"})
            mapping = [{"containerID": 0, "hostID": OUTSIDE, "size": 65536}]
            linux["uidMappings"] = linux["gidMappings"] = mapping
            owner += OUTSIDE
        os.chown(folder / "data", owner, owner)
        config["linux"] = linux

        def mount(destination, kind, source, *options):
            return {"destination": destination, "type": kind, "source": source, "options": list(options)}

        config["mounts"] = [
            mount("/proc", "proc", "proc"),
            mount("/dev", "tmpfs", "tmpfs", "nosuid", "strictatime", "mode=755", "size=65536k"),
            mount("/dev/shm", "tmpfs", "shm", "nosuid", "noexec", "nodev", "mode=1777", "size=64m"),
            mount("/sys", "bind", "/sys", "rbind", "nosuid", "noexec", "nodev", "ro"),
            mount("/tmp", "tmpfs", "tmpfs", "nosuid", "nodev", "mode=1777"),
            mount("/var/lib/platen", "bind", str(folder / "data"), "bind", "nosuid", "nodev"),
            mount("/etc/resolv.conf", "bind", "/etc/resolv.conf", "bind", "ro"),
        ]
        (folder / "config.json").write_text(json.dumps(config))
        self.log = folder / "log"
        self.crun = ["crun", "--root", str(work / "crun"), "--cgroup-manager=disabled"]
        self.process = subprocess.Popen(
            [*self.crun, "run", "--bundle", str(folder), self.name],
            stdout=self.log.open("ab"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            print(self.log.read_text()[-3000:], file=sys.stderr)
        self.end()

    def end(self):
        if self.process.poll() is None:
            subprocess.run([*self.crun, "kill", self.name, "TERM"], check=False)
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                subprocess.run([*self.crun, "kill", self.name, "KILL"], check=False)
                self.process.wait(20)
        subprocess.run([*self.crun, "delete", "--force", self.name], check=False, capture_output=True)
        return self.process.returncode

    def execute(self, *command):
        return subprocess.run([*self.crun, "exec", self.name, *command], capture_output=True, text=True)

    def until_ready(self, port):
        def ready():
            if self.process.poll() is not None:
                raise SystemExit(f"the container ended:\n{self.log.read_text()[-3000:]}")
            try:
                return call("127.0.0.1", port, "GET", "/health/ready")[0] == 200
            except OSError:
                return False

        until(ready, f"{self.name} is ready\n{self.log.read_text()[-2000:]}")
        return self


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def keys(port):
    return {"API_KEY_ADMIN": ADMIN, "METRICS_TOKEN": METRICS, "WORKER_TOKEN": WORKER, "PORT": port}


def levels(port):
    """The levels of the sandboxes: of code, and of each program that was used."""
    ready = json.loads(call("127.0.0.1", port, "GET", "/health/ready")[2])
    text = call("127.0.0.1", port, "GET", "/metrics", headers={"Authorization": f"Bearer {METRICS}"})[2].decode()
    found = re.findall(r'platen_pool_isolation\{pool="(\w+)",level="(\w+)"\} 1', text)
    return {"code": ready["sandbox"]["level"]} | dict(found)


def use_service(work, bundle, way, has_programs, **settings):
    port = free_port()
    with Container(work, bundle, way, keys(port) | settings) as container:
        container.until_ready(port)
        store("127.0.0.1", port)
        pdf = expect(render("127.0.0.1", port), 200, "rendering")[2]
        assert pdf.startswith(b"%PDF"), pdf[:20]
        docx = expect(render("127.0.0.1", port, format="docx"), 200, "rendering DOCX")[2]
        page, page_head = form([("index.html", b"<h1>Hello</h1>")])
        office, office_head = form([("a.docx", docx)])
        status = 200 if has_programs else 501
        for path, body, head in (
            ("/forms/libreoffice/convert", office, office_head),
            ("/forms/chromium/convert/html", page, page_head),
        ):
            answer = expect(call("127.0.0.1", port, "POST", path, body, head), status, path)
            assert not has_programs or answer[2].startswith(b"%PDF"), answer[2][:20]
        publish("127.0.0.1", port, json.loads((ROOT / "examples/flows/sum.json").read_text()))
        run = expect(call("127.0.0.1", port, "POST", "/webhooks/sum/sync", {}), 200, "a run")
        assert run[2] == b'{"result":6}', run[2]
        healthy = container.execute("platen-health")
        assert healthy.returncode == 0, healthy
        status = container.execute("cat", "/proc/1/status").stdout
        assert f"Uid:\t{USER}" in status and "CapEff:\t0000000000000000" in status, status
        found = levels(port)
        code = container.end()
        assert code == 0, f"exit code {code} after SIGTERM"
    return found


def refuses_without_keys(work, bundle):
    with Container(work, bundle, "default", {"PORT": free_port()}) as container:
        code = container.process.wait(30)
        assert code != 0 and "API_KEY_ADMIN" in container.log.read_text(), container.log.read_text()


def use_worker(work, service, worker):
    port = free_port()
    with Container(work, service, "default", keys(port) | {"PLATEN_ROLE": "app"}) as app:
        app.until_ready(port)
        publish("127.0.0.1", port, json.loads((ROOT / "examples/flows/sum.json").read_text()))
        settings = {"PLATEN_APP": f"http://127.0.0.1:{port}", "WORKER_TOKEN": WORKER, "WORKER_SLOTS": 2}
        with Container(work, worker, "default", settings) as container:
            run = expect(call("127.0.0.1", port, "POST", "/webhooks/sum/sync", {}), 200, "a run on a worker")
            assert run[2] == b'{"result":6}', run[2]
            code = container.end()
            assert code == 0, f"exit code {code} of the worker after SIGTERM"


def unpacked(layout, target, like, folder):
    """The bundle of an image. A worker's files are those of a service: only its settings are read."""
    bundle = pathlib.Path(os.environ.get("BUNDLES", folder)) / target
    if bundle.exists():
        return bundle
    image = f"{layout}:{target}"
    if like:
        bundle.mkdir()
        (bundle / "rootfs").symlink_to(bundle.parent / like / "rootfs")
        command = ["umoci", "raw", "runtime-config", "--image", image, "--rootfs", str(bundle / "rootfs"), str(bundle / "config.json")]
    else:
        command = ["umoci", "unpack", "--image", image, str(bundle)]
    subprocess.run(command, check=True, capture_output=True)
    os.chmod(bundle, 0o755)
    return bundle


def main():
    layout = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "out/image").resolve()
    with tempfile.TemporaryDirectory(prefix="platen-image-test.", dir="/var/tmp") as name:
        os.chmod(name, 0o755)
        work = pathlib.Path(name) / "containers"
        work.mkdir()
        bundles = {
            target: unpacked(layout, target, like, pathlib.Path(name))
            for target, like in (("service", None), ("full", None), ("worker", "service"), ("worker-full", "full"))
        }
        refuses_without_keys(work, bundles["service"])
        print("service, default:", use_service(work, bundles["service"], "default", False))
        print("full, default:", use_service(work, bundles["full"], "default", True))
        print("full, podman:", use_service(work, bundles["full"], "podman", True))
        print("full, profile, masked:", use_service(work, bundles["full"], "profile, masked", True))
        strict = {"CHILD_ISOLATION": "required", "RENDER_ISOLATION": "jail", "SANDBOX_LEVEL": "full"}
        for way in ("profile", "user namespace"):
            print(f"full, {way}:", use_service(work, bundles["full"], way, True, **strict))
        use_worker(work, bundles["service"], bundles["worker"])
        use_worker(work, bundles["full"], bundles["worker-full"])
        print("worker, worker-full: runs of a service")
        shutil.rmtree(work)


if pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists():
    main()
else:
    # crun does not know machines with both versions of control groups: show it one.
    script = 'umount -R -l /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup && exec "$0" "$@"'
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", script, sys.executable, __file__, *sys.argv[1:]])
