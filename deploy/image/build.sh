#!/bin/sh
# Builds the images of ../docker/Dockerfile without a container engine, from a binary that exists:
#
#   build.sh BINARY [TARGET...]      service full worker worker-full by default
#
# Debian's base system comes from mmdebstrap instead of a registry, buildah executes the Dockerfile
# in a chroot. The result is one OCI layout with a reference for each target, $OUT (out/image), and a
# table of sizes. Needs root, mmdebstrap and buildah (apt-get install mmdebstrap buildah).
set -eu
binary=$(realpath "${1:?usage: build.sh BINARY [TARGET...]}")
shift
[ $# -gt 0 ] || set -- service full worker worker-full
cd "$(dirname "$0")/../.."
suite=${SUITE:-bookworm}
out=$(realpath -m "${OUT:-out/image}")
mkdir -p "$out"
work=$(mktemp -d "${TMPDIR:-/var/tmp}/platen-image.XXXXXX")
# buildah leaves its storage mounted.
trap 'umount -R -l "$work/storage/overlay" 2>/dev/null || :; rm -rf "$work"' EXIT INT TERM

# Storage of its own, so that nothing is left in the machine's.
buildah() {
    command buildah --root "$work/storage" --runroot "$work/run" --storage-driver "${STORAGE_DRIVER:-overlay}" "$@"
}

# Like debian:bookworm-slim: without documentation, manuals and translations.
base=$out/base-$suite.tar
if [ ! -s "$base" ]; then
    # shellcheck disable=SC2016 # the hook's own argument
    mmdebstrap --quiet --variant=minbase --include=ca-certificates \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/lintian/*' \
        --aptopt='Apt::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' \
        --customize-hook='rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/var/log/*' \
        "$suite" "$work/base.tar" \
        "deb http://deb.debian.org/debian $suite main" \
        "deb http://deb.debian.org/debian $suite-updates main" \
        "deb http://deb.debian.org/debian-security $suite-security main"
    mv "$work/base.tar" "$base"
fi
container=$(buildah from scratch)
buildah add --quiet "$container" "$base" / >/dev/null
buildah config --cmd bash --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
buildah commit --quiet --rm "$container" localhost/platen-base >/dev/null

# The context holds what the Dockerfile copies, and the binary for its stage `prebuilt`.
mkdir -p "$work/context/deploy"
cp -r deploy/docker "$work/context/deploy/docker"
cp "$binary" "$work/context/platen"
# buildah executes every stage above the target, needed or not: leave out the compiler's.
# shellcheck disable=SC2016 # the Dockerfile's own argument
sed '/^FROM \${RUST_IMAGE} AS build/,/^$/d' deploy/docker/Dockerfile > "$work/Dockerfile"

printf '%-12s %12s %12s\n' image unpacked compressed
for target in "$@"; do
    buildah build --quiet --layers --isolation chroot --pull=never --format docker \
        --build-arg DEBIAN_IMAGE=localhost/platen-base --build-arg BINARY=prebuilt \
        --ignorefile /dev/null --target "$target" --tag "localhost/platen:$target" \
        --file "$work/Dockerfile" "$work/context" >/dev/null
    buildah push --quiet --format oci "localhost/platen:$target" "oci:$out:$target"
    python3 deploy/image/size.py "$out" "$target"
done
