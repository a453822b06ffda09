#!/bin/sh
# Installs the oracles of decks: LibreOffice with Impress and qpdf from apt; into an environment of its own, whose folder
# is the argument, python-pptx, openxml-audit (checks files against the schemas of ECMA-376) and pdfua (checks the tags
# of PDF files). The tests of decks skip without them.
# Quick when there is nothing to do.
set -eu

venv=${1:?usage: dev/install-deck-deps.sh FOLDER}
pptx=1.0.2
checkers="openxml-audit==0.8.0 pdfua==0.1.3"

say() { echo "deck-deps: $*"; }
die() { echo "deck-deps: $*" >&2; exit 1; }

missing=
for package in libreoffice-impress-nogui qpdf poppler-utils python3-venv fonts-liberation fonts-dejavu-core fonts-noto-core; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
if [ -n "$missing" ]; then
    command -v apt-get >/dev/null || die "needs LibreOffice Impress, qpdf and poppler; install them by your package manager"
    [ "$(id -u)" -eq 0 ] || die "missing:$missing. Run: sudo apt-get install --no-install-recommends$missing"
    say "installing$missing"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -q -y -o DPkg::Lock::Timeout=600 update >/dev/null
    # shellcheck disable=SC2086 # a list of names
    apt-get -q -y -o DPkg::Lock::Timeout=600 install --no-install-recommends $missing >/dev/null
fi

if [ "$(cat "$venv/versions" 2>/dev/null)" != "$pptx" ]; then
    say "installing python-pptx $pptx into $venv"
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check "python-pptx==$pptx"
    echo "$pptx" >"$venv/versions"
fi
if [ "$(cat "$venv/checkers" 2>/dev/null)" != "$checkers" ]; then
    say "installing $checkers into $venv"
    # shellcheck disable=SC2086 # a list of names
    "$venv/bin/pip" install -q --disable-pip-version-check $checkers
    echo "$checkers" >"$venv/checkers"
fi
