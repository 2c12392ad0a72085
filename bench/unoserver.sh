#!/bin/sh
# Prints the folder of unoserver 3.7 for /usr/bin/python3, which it fetches once into the user's cache. Prints
# nothing, and says why on standard error, where it is not to be had.
set -eu
modules="${XDG_CACHE_HOME:-$HOME/.cache}/platen/unoserver"
if ! /usr/bin/python3 -c "import uno" 2>/dev/null; then
    echo "unoserver is left out: /usr/bin/python3 has no uno (Debian and Ubuntu: apt-get install python3-uno)" >&2
elif [ -d "$modules" ] || python3 -m pip install -q --no-deps --target "$modules" "unoserver==3.7" >&2 ||
    { rm -rf "$modules"; false; }; then
    echo "$modules"
else
    echo "unoserver is left out: PyPI does not give it (unoserver 3.7)" >&2
fi
