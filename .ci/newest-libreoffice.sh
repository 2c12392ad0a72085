#!/bin/sh
# Unpacks the newest LibreOffice of Debian's backports into a folder, beside the installed one, for the
# test and the benchmark that convert with both: newest-libreoffice.sh FOLDER. Needs apt-get and dpkg, of Debian 12.
set -eu
folder=$1
. /etc/os-release
[ "${VERSION_CODENAME:-}" = bookworm ] && command -v apt-get >/dev/null 2>&1 || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
cat >"$work/backports.sources" <<S
Types: deb
URIs: http://deb.debian.org/debian
Suites: bookworm bookworm-updates bookworm-backports
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
S
apt() {
    apt-get -o Dir::Etc::SourceList="$work/backports.sources" -o Dir::Etc::SourceParts=- \
        -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root \
        -qq "$@" >/dev/null
}
apt update
apt install -y --no-install-recommends --download-only -t bookworm-backports \
    libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui
for package in "$work"/cache/archives/*.deb; do
    dpkg -x "$package" "$work/root"
done
# The parts find each other by their place below the program; what belongs to the system is brought
# there, and links to the system's own LibreOffice lead to this one.
office="$work/root/usr/lib/libreoffice"
for library in "$work"/root/usr/lib/*/lib*.so*; do
    [ -e "$office/program/$(basename "$library")" ] || cp -L "$library" "$office/program/"
done
find "$office" -type l | while read -r link; do
    target=$(readlink "$link")
    case $target in
    /*)
        rm "$link"
        [ ! -e "$work/root$target" ] || cp -a "$work/root$target" "$link"
        ;;
    *) ;; # it stays: both ends are in the folder
    esac
done
# What an installation does with this one.
cp "$office"/share/.registry/* "$office/share/registry/"
# It finds itself where it is, as packages of other builders do, and not the system's LibreOffice.
# shellcheck disable=SC2016 # LibreOffice expands it
sed -i 's|^BRAND_BASE_DIR=.*|BRAND_BASE_DIR=${ORIGIN}/..|' "$office/program/fundamentalrc"
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
mv "$work/root" "$folder"
