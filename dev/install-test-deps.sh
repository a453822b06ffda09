#!/bin/sh
# Installs what the tests need from apt: a Postgres server with pgvector (>= 0.8), a C compiler for Go's race detector,
# Python, a browser, poppler and tesseract; with `run` as its argument only the last two, which are all that the worker
# itself needs; with `postgres` these and the server, which may be any in PATH; with `boot` also what `make boot-test`
# boots a Debian with. With `run` and `postgres` it only says what is missing where apt can't install it, and ends with 0.
# Quick when there is nothing to do; run it as often as you like.
#
# Debian 12 has no pgvector package. There the Debian source package of a later release is fetched from
# your own mirror, with signatures checked, through a throw-away apt configuration, and built against the
# installed server. Your apt sources stay as they are.
set -eu

PGVECTOR_SUITE=trixie # the first Debian release with pgvector >= 0.8
PGVECTOR_MIN=0.8

SERVERS=${SERVERS:-/usr/lib/postgresql} # Debian's, by their major version

say() { echo "test-deps: $*"; }
die() { echo "test-deps: $*" >&2; exit 1; }

# give_up says what can't be installed. `make run` starts with what there is; the tests don't.
give_up() {
    case $what in run | postgres) say "$*"; exit 0 ;; esac
    die "$*"
}

# no_pgvector WHY gives up on pgvector. The numbers are those of internal/store/schema: its types need 0.7, and 0.8 goes
# on looking where a filter leaves too few of the nearest.
no_pgvector() {
    lost="below 0.7 BACKEND=postgres and BACKEND=nats do not start, and 0.7 finds less in a search of one document set; make run without BACKEND needs none"
    case $what in run | postgres) ;; *) lost="the tests need it" ;; esac
    give_up "$1. Install pgvector >= $PGVECTOR_MIN for PostgreSQL $pg by hand: on Debian and Ubuntu it is postgresql-$pg-pgvector from https://apt.postgresql.org (set up by /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh of the package postgresql-common). Without it: $lost"
}

# newest_pg prints the newest major version with a server, nothing when there is none.
newest_pg() {
    for dir in "$SERVERS"/*/bin/; do
        [ -x "$dir/initdb" ] && basename "$(dirname "$dir")"
    done | sort -n | tail -1
}

# pgvector_ok MAJOR says whether pgvector is there and new enough. Without MAJOR the server is the one in PATH.
pgvector_ok() {
    share=/usr/share/postgresql/$1
    [ -n "$1" ] || share=$(pg_config --sharedir 2>/dev/null) || return 1
    control=$share/extension/vector.control
    [ -r "$control" ] || return 1
    version=$(sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" "$control")
    [ "$(printf '%s\n' "$PGVECTOR_MIN" "$version" | sort -V | head -1)" = "$PGVECTOR_MIN" ]
}

# other_server says whether the server to use is not Debian's.
other_server() { [ "$what" = postgres ] && [ -z "$(newest_pg)" ] && command -v initdb >/dev/null; }

# compiles says whether there is a C compiler with the headers of the C library: go test -race wants cgo.
compiles() { echo '#include <stdlib.h>' | ${CC:-gcc} -E -x c - >/dev/null 2>&1; }

# browser_missing says whether a browser for the tests of the dashboard can be installed and is not there. Ubuntu has none
# as a package; the tests skip what needs one.
browser_missing() {
    for name in chromium-headless-shell chromium google-chrome; do
        command -v "$name" >/dev/null && return 1
    done
    command -v apt-cache >/dev/null && apt-cache show chromium-headless-shell >/dev/null 2>&1
}

packages_missing() {
    command -v pdftotext >/dev/null && command -v pdftoppm >/dev/null || echo poppler-utils
    [ -d /usr/share/poppler/cMap ] || ! command -v dpkg >/dev/null || echo poppler-data
    command -v tesseract >/dev/null || echo tesseract-ocr
    [ "$what" != run ] || return 0
    [ -n "$(newest_pg)" ] || other_server || echo postgresql
    [ "$what" != postgres ] || return 0
    compiles || echo gcc libc6-dev
    command -v python3 >/dev/null || echo python3
    browser_missing && echo chromium-headless-shell
    [ "$what" = boot ] || return 0
    command -v debootstrap >/dev/null || echo debootstrap
    command -v systemd-nspawn >/dev/null || echo systemd-container
}

what=${1:-test}
case $what in test | run | postgres | boot) ;; *) die "usage: dev/install-test-deps.sh [run|postgres|boot]" ;; esac

missing=$(packages_missing | tr '\n' ' ' | sed 's/ *$//')
pg=$(newest_pg)
if [ "$what" = run ] && [ -z "$missing" ]; then
    exit 0
fi
if [ -z "$missing" ] && pgvector_ok "$pg"; then
    [ "$what" = postgres ] || say "nothing to do (PostgreSQL $pg with pgvector, a C compiler, Python, poppler, tesseract)"
    exit 0
fi

lacks=$missing
[ "$what" = run ] || pgvector_ok "$pg" || lacks="$missing, and pgvector >= $PGVECTOR_MIN for the PostgreSQL server"
lacks=${lacks#, and }
case $what in run | postgres)
    why="missing: $lacks (PDF needs poppler, scanned pages tesseract)"
    if ! command -v apt-get >/dev/null || { [ -z "$missing" ] && other_server; }; then
        say "$why; install it by your package manager"
        exit 0 # everything else works
    fi
    if [ "$(id -u)" -ne 0 ]; then
        say "$why. Install it: sudo dev/install-test-deps.sh $what"
        exit 0
    fi
    ;;
esac
command -v apt-get >/dev/null ||
    die "needs PostgreSQL >= 15 with pgvector >= $PGVECTOR_MIN, pdftotext and pdftoppm (poppler), tesseract, and gcc with the headers of the C library; without apt, install them by your own package manager"
[ "$(id -u)" -eq 0 ] || die "missing: $lacks. Run: sudo dev/install-test-deps.sh"

export DEBIAN_FRONTEND=noninteractive
# Another apt may be at work: wait for its lock rather than fail.
apt() { apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@"; }

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
quietly() { "$@" >"$tmp/log" 2>&1 || { tail -25 "$tmp/log" >&2; give_up "failed: $*"; }; }

# install PACKAGE...: with the lists that are there, and with fresh ones when those are too old.
install() {
    apt install --no-install-recommends "$@" >"$tmp/log" 2>&1 && { say "installed $*"; return; }
    quietly apt update
    quietly apt install --no-install-recommends "$@"
    say "installed $*"
}

# A fresh machine has no package lists at all.
apt-cache show poppler-utils >/dev/null 2>&1 || {
    quietly apt update
    say "fetched apt's package lists"
    missing=$(packages_missing | tr '\n' ' ' | sed 's/ *$//') # the lists say whether there is a browser
}

# shellcheck disable=SC2086 # a list of words
[ -z "$missing" ] || install $missing
if [ "$what" = run ] || other_server; then exit 0; fi
pg=$(newest_pg)
[ "$pg" -ge 15 ] || give_up "PostgreSQL $pg is too old: install 15 or newer"
pgvector_ok "$pg" && exit 0

candidate=$(apt-cache policy "postgresql-$pg-pgvector" | sed -n 's/^ *Candidate: //p')
if [ -n "$candidate" ] && [ "$candidate" != "(none)" ] && dpkg --compare-versions "$candidate" ge "$PGVECTOR_MIN"; then
    install "postgresql-$pg-pgvector"
    pgvector_ok "$pg" && exit 0
    give_up "postgresql-$pg-pgvector is installed, but /usr/share/postgresql/$pg/extension/vector.control is missing"
fi

mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' | sed -n 's/^Debian Debian //p' | head -1)
[ -n "$mirror" ] || no_pgvector "this release has no pgvector >= $PGVECTOR_MIN, and apt knows no Debian mirror to get its source from"

say "this release has no pgvector >= $PGVECTOR_MIN for PostgreSQL $pg; building Debian $PGVECTOR_SUITE's source package"
need=
[ -x "/usr/lib/postgresql/$pg/bin/pg_config" ] && [ -d "/usr/include/postgresql/$pg/server" ] || need="postgresql-server-dev-$pg"
command -v make >/dev/null && command -v gcc >/dev/null || need="$need make gcc libc6-dev"
[ -r /usr/share/keyrings/debian-archive-keyring.gpg ] || need="$need debian-archive-keyring"
# shellcheck disable=SC2086
[ -z "$need" ] || install $need

mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial" "$tmp/src"
chmod 755 "$tmp" && { chown -R _apt "$tmp/lists/partial" "$tmp/src" 2>/dev/null || true; }
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $PGVECTOR_SUITE main" >"$tmp/sources.list"
elsewhere="-o Dir::Etc::SourceList=$tmp/sources.list -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=$tmp/lists -o Dir::Cache=$tmp/cache"
# shellcheck disable=SC2086
quietly apt $elsewhere update
cd "$tmp/src"
# shellcheck disable=SC2086
quietly apt $elsewhere source --download-only pgvector
tarball=$(echo "$tmp"/src/pgvector_*.orig.tar.*)
mkdir "$tmp/build"
tar -xf "$tarball" -C "$tmp/build" --strip-components=1
# No -march=native: the library may be cached and used on another machine. No bitcode: it needs clang.
pg_config=/usr/lib/postgresql/$pg/bin/pg_config
quietly make -s -C "$tmp/build" -j2 OPTFLAGS= with_llvm=no "PG_CONFIG=$pg_config"
quietly make -s -C "$tmp/build" install OPTFLAGS= with_llvm=no "PG_CONFIG=$pg_config"
pgvector_ok "$pg" || give_up "pgvector was built, but PostgreSQL $pg does not find it"
say "built and installed $(basename "$tarball" | sed 's/\.orig.*//; s/_/ /') for PostgreSQL $pg"
