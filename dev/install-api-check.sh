#!/bin/sh
# Installs what `make api-check` tries the HTTP API with, into .tools/: schemathesis (PyPI), and openapi-typescript with
# openapi-fetch (npm). Quick when there is nothing to do.
set -eu

schemathesis=4.32.5
typescript=5.9.3 openapi_typescript=7.13.0 openapi_fetch=0.17.0

versions="$schemathesis $typescript $openapi_typescript $openapi_fetch"
[ "$(cat .tools/openapi/versions 2>/dev/null)" = "$versions" ] && exit 0
rm -rf .tools/schemathesis .tools/openapi
mkdir -p .tools/openapi
python3 -m venv .tools/schemathesis
.tools/schemathesis/bin/pip install -q --disable-pip-version-check "schemathesis==$schemathesis"
echo '{"private":true}' >.tools/openapi/package.json
npm --prefix .tools/openapi install --no-audit --no-fund --loglevel=error "typescript@$typescript" \
    "openapi-typescript@$openapi_typescript" "openapi-fetch@$openapi_fetch"
echo "$versions" >.tools/openapi/versions
