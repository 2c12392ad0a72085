#!/bin/sh
# Boots systemd with the units in namespaces of its own, and uses the services: test.sh BINARY.
#
# Makes a system of Debian's packages with LibreOffice and Chromium, or takes the folder $ROOT, which
# it keeps. Needs root, mmdebstrap and unshare. Prints what the service says of its sandboxes.
set -eu
binary=$(realpath "${1:?usage: test.sh BINARY}")
cd "$(dirname "$0")"
work=$(mktemp -d /var/tmp/platen-systemd.XXXXXX)
trap 'rm -rf "$work"' EXIT INT TERM
root=${ROOT:-$work/root}
if [ ! -x "$root/sbin/init" ]; then
    mmdebstrap --quiet --variant=minbase \
        --include=systemd-sysv,dbus,curl,ca-certificates,libreoffice-writer-nogui,libreoffice-calc-nogui,chromium-headless-shell \
        "${SUITE:-bookworm}" "$root"
fi
rm -rf "$root/var/lib/platen" "$root/var/lib/private" "$root/var/log/journal" "$root/etc/platen"
DESTDIR=$root ./install.sh "$binary"
cp ../../examples/flows/sum.json "$root/root/flow.json"

cat > "$root/root/test" <<'END'
#!/bin/sh
set -eu
exec > /root/output 2>&1
fail() { echo "FAILED: $*"; journalctl --no-pager --lines 50 --unit platen --unit platen-worker; exit 1; }
request() { curl --silent --show-error --max-time 120 --header "X-Api-Key: $key" "$@"; }
url=http://127.0.0.1:3000

# The service, with its keys from files, as two processes.
systemctl start platen || fail start
for _ in $(seq 100); do curl --silent --fail $url/health/ready >/dev/null && break; sleep 0.2; done
key=$(cat /etc/platen/keys/api-key-admin)
request --fail "$url/templates" >/dev/null || echo "NOTE: this binary does not read keys from files"
echo '<h1>Hello</h1>' > /tmp/index.html
echo 'a,b' > /tmp/a.csv
for _ in 1 2 3 4; do
    request --fail --form files=@/tmp/index.html --output /tmp/page.pdf $url/forms/chromium/convert/html || fail page
    request --fail --form files=@/tmp/a.csv --output /tmp/office.pdf $url/forms/libreoffice/convert || fail office
done
[ "$(head -c 5 /tmp/page.pdf)$(head -c 5 /tmp/office.pdf)" = "%PDF-%PDF-" ] || fail "no PDF"
token=$(cat /etc/platen/keys/metrics-token)
curl --silent --header "Authorization: Bearer $token" $url/metrics | grep 'platen_pool_isolation{.*} 1'
curl --silent $url/health/ready
echo
pid=$(systemctl show platen --property MainPID --value)
grep -q "^CapBnd:.*0000000000000000" "/proc/$pid/status" || fail capabilities
systemctl reload platen || fail reload
[ "$(systemctl show platen --property MainPID --value)" = "$pid" ] || fail "reload ended the service"
systemctl stop platen
[ "$(systemctl show platen --property Result --value)" = success ] || fail stop

# The service without runs of its own, and a worker.
{ echo PLATEN_ROLE=app; echo "WORKER_TOKEN=$(cat /etc/platen/keys/worker-token)"; } > /etc/platen/platen.env
systemctl start platen platen-worker || fail start
for _ in $(seq 100); do curl --silent --fail $url/health/ready >/dev/null && break; sleep 0.2; done
request --fail --header "Content-Type: application/json" --data @/root/flow.json $url/flows >/dev/null || fail flow
request --fail --request POST $url/flows/sum/publication >/dev/null || fail publication
[ "$(request --fail --request POST $url/webhooks/sum/sync)" = '{"result":6}' ] || fail run
systemctl stop platen-worker platen
[ "$(systemctl show platen-worker --property Result --value)" = success ] || fail "stop of the worker"
echo PASSED
END
chmod +x "$root/root/test"
cat > "$root/etc/systemd/system/test.service" <<'END'
[Service]
Type=oneshot
ExecStart=/root/test
ExecStopPost=/bin/systemctl --no-block poweroff
END
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -sf ../test.service "$root/etc/systemd/system/multi-user.target.wants/test.service"
: > "$root/root/output"

cat > "$work/boot" <<'END'
#!/bin/sh
# As a machine boots: a root of its own, and mounts that reach the namespaces of services.
set -eu
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 none sys/fs/cgroup
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount --rbind /dev dev
pivot_root . mnt
umount -l /mnt
mount --make-rshared /
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /sbin/init --log-target=console --log-level=warning --show-status=no
END
chmod +x "$work/boot"
timeout 300 unshare --mount --pid --fork --uts --ipc --net --cgroup "$work/boot" "$root" </dev/null >"$work/console" 2>&1 || :
cat "$root/root/output"
grep -q '^PASSED$' "$root/root/output" || { cat "$work/console"; exit 1; }
