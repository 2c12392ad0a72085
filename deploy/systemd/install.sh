#!/bin/sh
# Installs the binary, the units and their folders: install.sh BINARY. Writes keys if there are none,
# and overwrites no configuration. DESTDIR is the root of another system.
set -eu
binary=$(realpath "${1:?usage: install.sh BINARY}")
cd "$(dirname "$0")"
root=${DESTDIR:-}
# By rename: a process that starts meanwhile finds one binary or the other, whole.
install -D -m 755 "$binary" "$root/usr/local/bin/platen.new"
mv "$root/usr/local/bin/platen.new" "$root/usr/local/bin/platen"
install -D -m 644 platen.sysusers "$root/usr/lib/sysusers.d/platen.conf"
install -D -m 644 platen.tmpfiles "$root/usr/lib/tmpfiles.d/platen.conf"
install -D -m 644 platen.service "$root/etc/systemd/system/platen.service"
install -D -m 644 platen-worker.service "$root/etc/systemd/system/platen-worker.service"
install -d -m 755 "$root/etc/platen"
install -d -m 700 "$root/etc/platen/keys"
for file in platen.toml platen.env worker.env; do
    [ -e "$root/etc/platen/$file" ] || install -m 644 "$file" "$root/etc/platen/$file"
done
umask 077
for key in api-key-admin api-key-render metrics-token worker-token; do
    [ -s "$root/etc/platen/keys/$key" ] ||
        od -An -N24 -tx1 /dev/urandom | tr -d ' \n' > "$root/etc/platen/keys/$key"
done
if [ -z "$root" ]; then
    systemd-sysusers
    systemd-tmpfiles --create platen.conf
    systemctl daemon-reload
    echo "now: systemctl enable --now platen"
fi
