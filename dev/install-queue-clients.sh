#!/bin/sh
# Installs the clients with which `make e2e` tries the queues from outside, into .tools/queue-clients: nats-py and
# psycopg (PyPI), supabase-js (npm) and the nats CLI (Go). What can't be installed is named, and its tests are skipped.
# Quick when there is nothing to do.
set -u

nats_py=2.16.0 psycopg=3.3.9 supabase_js=2.119.1 natscli=v0.5.1
home=.tools/queue-clients

# each NAME VERSION COMMAND...: runs the command unless this version is installed.
each() {
    name=$1 version=$2
    shift 2
    [ "$(cat "$home/$name.version" 2>/dev/null)" = "$version" ] && return
    echo "queue-clients: installing $name $version"
    if "$@"; then
        echo "$version" >"$home/$name.version"
    else
        echo "queue-clients: NO $name: its tests are skipped" >&2
    fi
}

mkdir -p "$home/node"
[ -x "$home/bin/python" ] || python3 -m venv "$home"
pip="$home/bin/pip install -q --disable-pip-version-check"
each nats-py "$nats_py" $pip "nats-py==$nats_py"
each psycopg "$psycopg" $pip "psycopg[binary]==$psycopg"
[ -e "$home/node/package.json" ] || echo '{"private":true}' >"$home/node/package.json"
each supabase-js "$supabase_js" npm --prefix "$home/node" install --no-audit --no-fund --loglevel=error \
    "@supabase/supabase-js@$supabase_js"
each nats "$natscli" env GOBIN="$PWD/$home/bin" go install "github.com/nats-io/natscli/nats@$natscli"
exit 0
