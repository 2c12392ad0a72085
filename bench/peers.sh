#!/bin/sh
# Runs a command with the variables that name what `platen bench` compares besides what is installed: the
# folder of unoserver 3.7 for /usr/bin/python3, which it fetches once into the user's cache, the newest
# LibreOffice, which .ci/packages.sh has brought there, and a Gotenberg, which the same has built and which
# runs as long as the command. Says on standard error what is not to be had.
#
#     bench/peers.sh target/release/platen bench all
set -eu
cache="${XDG_CACHE_HOME:-$HOME/.cache}/platen"
# A server of S3, which .ci/packages.sh has brought there.
PATH="$PATH:$cache/versitygw"
export PATH
if ! /usr/bin/python3 -c "import uno" 2>/dev/null; then
    echo "unoserver is left out: /usr/bin/python3 has no uno (Debian and Ubuntu: apt-get install python3-uno)" >&2
elif [ -d "$cache/unoserver" ] || python3 -m pip install -q --no-deps --target "$cache/unoserver" "unoserver==3.7" >&2 ||
    { rm -rf "$cache/unoserver"; false; }; then
    export UNOSERVER="$cache/unoserver"
else
    echo "unoserver is left out: PyPI does not give it (unoserver 3.7)" >&2
fi
newest="$cache/libreoffice/usr/lib/libreoffice/program/soffice"
if [ -x "$newest" ]; then
    export NEWEST_LIBREOFFICE="$newest"
else
    echo "the newest LibreOffice is left out: \`make packages\` fetches it on Debian 12" >&2
fi
if [ -n "${GOTENBERG_URL:-}" ]; then
    exec "$@"
fi
python=$(command -v python3 || true)
if [ ! -x "$cache/gotenberg/gotenberg" ] || [ -z "$python" ]; then
    echo "Gotenberg is left out: \`.ci/packages.sh bench\` builds it where Go and Python are installed" >&2
    exec "$@"
fi
port=$("$python" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
# This script has the other end of a pipe, so Gotenberg ends with it, however it ends.
pipe=$(mktemp -u)
mkfifo "$pipe"
"$(dirname "$0")/gotenberg.sh" "$port" <"$pipe" &
runner=$!
exec 9>"$pipe"
rm "$pipe"
is_up() {
    "$python" - "$port" <<'END' 2>/dev/null
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=5)
connection.request("GET", "/health")
sys.exit(connection.getresponse().status != 200)
END
}
tries=0
while ! is_up; do
    tries=$((tries + 1))
    if [ "$tries" = 60 ] || ! kill -0 "$runner" 2>/dev/null; then
        echo "Gotenberg is left out: it does not start" >&2
        exec 9>&-
        exec "$@"
    fi
    sleep 1
done
export GOTENBERG_URL="http://127.0.0.1:$port"
# A signal to this script ends the pipe, and so Gotenberg, when the command has ended.
trap : INT TERM
status=0
"$@" 9>&- || status=$?
exec 9>&-
wait "$runner" || true
exit "$status"
