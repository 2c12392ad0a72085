#!/bin/sh
# Starts the peer of bench-flow: start.sh PORT cold|warm [FORKS]. Skips visibly where Node or isolated-vm
# is not to be had. Packages go to the user's cache, not into the tree.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  echo "SKIP: Node and npm are not installed" >&2
  exit 77
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/platen/flow-peer
mkdir -p "$cache"
cp "$here/package.json" "$here/package-lock.json" "$here/server.mjs" "$here/child.mjs" "$cache/"
cd "$cache"
if ! cmp -s package-lock.json node_modules/.installed-lock; then
  if ! npm ci --no-audit --no-fund >install.log 2>&1; then
    echo "SKIP: isolated-vm cannot be installed; see $cache/install.log" >&2
    exit 77
  fi
  cp package-lock.json node_modules/.installed-lock
fi
exec node --no-node-snapshot server.mjs "$@"
