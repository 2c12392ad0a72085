#!/bin/sh
# Speed of conversions by LibreOffice on this machine: a letter, 2.6 MB and 15 MB, in turns with unoserver, with
# `soffice --convert-to` and, where GOTENBERG_URL is set, with a Gotenberg; then conversions/s with 1, 2 and 4 processes.
#   bench/office.sh [FOLDER] [ROUNDS] [PART]    PART: compare, rate, or costs (what LibreOffice can leave out)
set -eu
cd "$(dirname "$0")/.."
folder="${1:-out/office}"
rounds="${2:-5}"
part="${3:-}"
# unoserver runs in the Python that has LibreOffice's own module, uno.
modules="${XDG_CACHE_HOME:-$HOME/.cache}/platen/unoserver"
if ! /usr/bin/python3 -c "import uno" 2>/dev/null; then
    echo "unoserver is left out: /usr/bin/python3 has no uno (Debian and Ubuntu: apt-get install python3-uno)" >&2
elif [ -d "$modules" ] || python3 -m pip install -q --no-deps --target "$modules" "unoserver==3.7" ||
    { rm -rf "$modules"; false; }; then
    UNOSERVER="$modules"
    export UNOSERVER
else
    echo "unoserver is left out: PyPI does not give it (unoserver 3.7)" >&2
fi
cargo run --quiet -p xtask -- office "$folder"
cargo run --quiet --release -p platen-office --example measure -- "$folder" "$rounds" ${part:+"$part"}
