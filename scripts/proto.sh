#!/usr/bin/env bash
# Generates the Go code of the .proto files, with pinned tools built from their Go modules:
# buf compiles, the plugins write. The result is committed, so only who changes a .proto
# file runs it.
#
#   scripts/proto.sh            write the code
#   scripts/proto.sh check      fail if the code is not that of the .proto files
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly buf=v1.75.0 go=v1.36.12 connect=v1.21.1
readonly tools=${SEXTANT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sextant}/proto-$buf-$go-$connect

# install MODULE BINARY builds a tool once.
install() {
	[ -x "$tools/$2" ] || GOBIN=$tools GOFLAGS= go install "$1"
}

mkdir -p "$tools"
install "google.golang.org/protobuf/cmd/protoc-gen-go@$go" protoc-gen-go
install "connectrpc.com/connect/cmd/protoc-gen-connect-go@$connect" protoc-gen-connect-go
install "github.com/bufbuild/buf/cmd/buf@$buf" buf

out=.
if [ "${1:-}" = check ]; then
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
fi
PATH=$tools:$PATH buf generate --output "$out" # buf.yaml, buf.gen.yaml
[ "$out" = . ] && exit
(cd "$out" && find . -name '*.go') | while read -r f; do
	cmp "$out/$f" "$f" || { echo "proto.sh: $f is not that of its .proto file: run scripts/proto.sh" >&2; exit 1; }
done
