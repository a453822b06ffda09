#!/bin/sh
# Installs what `make quality KIND=structure` prints documents with: LibreOffice, Chromium and fonts from apt; Typst
# and WeasyPrint, which are Python packages, into an environment of their own, whose folder is the argument.
# Quick when there is nothing to do.
set -eu

venv=${1:?usage: dev/install-structure-deps.sh FOLDER}
typst=0.15.2
weasyprint=70.0

say() { echo "structure-deps: $*"; }
die() { echo "structure-deps: $*" >&2; exit 1; }

missing=
for package in libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui chromium python3-venv \
    poppler-utils poppler-data tesseract-ocr libpango-1.0-0 \
    libpangoft2-1.0-0 libharfbuzz-subset0 fonts-noto-core fonts-noto-cjk fonts-liberation fonts-dejavu-core; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
if [ -n "$missing" ]; then
    command -v apt-get >/dev/null || die "needs LibreOffice, Chromium and Noto fonts; install them by your package manager"
    [ "$(id -u)" -eq 0 ] || die "missing:$missing. Run: sudo apt-get install --no-install-recommends$missing"
    say "installing$missing"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -q -y -o DPkg::Lock::Timeout=600 update >/dev/null
    # shellcheck disable=SC2086 # a list of names
    apt-get -q -y -o DPkg::Lock::Timeout=600 install --no-install-recommends $missing >/dev/null
fi

if [ "$(cat "$venv/versions" 2>/dev/null)" != "$typst $weasyprint" ]; then
    say "installing typst $typst and weasyprint $weasyprint into $venv"
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check "typst==$typst" "weasyprint==$weasyprint"
    echo "$typst $weasyprint" >"$venv/versions"
fi
