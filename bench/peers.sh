#!/bin/sh
# Runs a command with the variables that name what `platen bench` compares besides what is installed: the
# folder of unoserver 3.7 for /usr/bin/python3, which it fetches once into the user's cache, and the newest
# LibreOffice, which .ci/packages.sh has brought there. Says on standard error what is not to be had.
#
#     bench/peers.sh target/release/platen bench all
#
# PEERS=s3 leaves both alone, and brings the server of S3 only.
set -eu
cache="${XDG_CACHE_HOME:-$HOME/.cache}/platen"
# A server of S3, which .ci/packages.sh has brought there.
PATH="$PATH:$cache/versitygw"
export PATH
[ "${PEERS:-all}" = all ] || exec "$@"
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
exec "$@"
