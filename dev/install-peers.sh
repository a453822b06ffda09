#!/bin/sh
# Installs what `make bench ONLY=peers` measures beside the worker, all from PyPI: an environment for each peer in the
# folder that is the argument, so that their requirements don't meet. A peer that can't be installed is named, and its
# rows say so. Quick when there is nothing to do.
set -u

home=${1:?usage: dev/install-peers.sh FOLDER}

say() { echo "peers: $*"; }

# peer NAME PACKAGE==VERSION...: installs them into an environment of their own unless they are there.
peer() {
    name=$1
    shift
    [ "$(cat "$home/$name/versions" 2>/dev/null)" = "$*" ] && return
    say "installing $name: $*"
    rm -rf "${home:?}/$name"
    if python3 -m venv "$home/$name" &&
        "$home/$name/bin/pip" install -q --disable-pip-version-check "$@" >"$home/$name.log" 2>&1; then
        echo "$*" >"$home/$name/versions"
    else
        say "NO $name: its rows are skipped; $home/$name.log says why" >&2
        rm -rf "${home:?}/$name"
    fi
}

mkdir -p "$home"
peer llamaindex llama-index-core==0.14.25 llama-index-readers-file==0.7.0 llama-index-embeddings-openai==0.7.0 \
    llama-index-vector-stores-postgres==0.9.0 docx2txt==0.9
peer langchain langchain-postgres==0.0.19 langchain-openai==1.7.4 langchain-community==0.4.2 \
    langchain-text-splitters==1.1.3 pypdf==7.1.1 docx2txt==0.9 beautifulsoup4==4.14.3 lxml==6.0.2 'psycopg[binary]==3.3.9'
peer kreuzberg kreuzberg==4.10.4
peer pypdf pypdf==7.1.1
peer celery celery==5.7.0 'kombu[azurestoragequeues]'
peer pgai 'pgai[vectorizer-worker]==0.12.1'
exit 0
