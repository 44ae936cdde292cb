#!/usr/bin/env bash
# The Python programs that the tests run against the feature API: Feast's own SDK, the
# client that must work unchanged. Beside it schemathesis, which tries a running server by its
# OpenAPI description. grpcio-tools is the protoc of `make feast-proto`.
#
#   scripts/feast.sh fetch    install once, by pinned hashes, into the cache
#   scripts/feast.sh proto    generate features/api/feastpb
#   scripts/feast.sh python   print the interpreter, or fail when it is not there
#
# Needs CPython 3.11 with venv, on Linux x86-64. The cache is $SEXTANT_CACHE, else the user's cache
# directory.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/feast
readonly here
readonly cache=${SEXTANT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sextant}
readonly dir=$cache/feast-0.67.0

die() {
	echo "feast.sh: $*" >&2
	exit 1
}

# whole says that the environment is there and of these requirements.
whole() { [ -x "$dir/bin/python" ] && cmp -s "$dir/verified" "$here/requirements.txt"; }

fetch() {
	mkdir -p "$cache"
	exec 9>"$cache/feast.lock"
	flock 9 # test packages run at the same time
	if whole; then
		echo "Feast is in $dir"
		return
	fi
	[ "$(python3 -c 'import platform, sys; print(*sys.version_info[:2], sys.platform, platform.machine())' 2>/dev/null)" = "3 11 linux x86_64" ] ||
		die "want python3 to be CPython 3.11 on Linux x86-64: the hashes of scripts/feast/requirements.txt are of its wheels"
	echo "installing Feast's SDK and schemathesis (400 MB) into $dir"
	rm -rf "$dir"
	python3 -m venv "$dir" || die "python3 -m venv failed: install Python's venv module"
	"$dir/bin/pip" install --quiet --disable-pip-version-check --no-input --require-hashes --only-binary :all: \
		-r "$here/requirements.txt" >&2 || die "pip failed: nothing was kept of $dir"
	cp "$here/requirements.txt" "$dir/verified"
	echo "Feast is in $dir"
}

proto() {
	local plugins=$cache/protoc-gen-go-v1.36.12
	[ -x "$plugins/protoc-gen-go" ] || GOBIN=$plugins GOFLAGS= go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
	whole || die "Feast is not in $cache: run scripts/feast.sh fetch"
	cd "$here/../../features/api/feastpb"
	"$dir/bin/python" -m grpc_tools.protoc -I. --plugin="$plugins/protoc-gen-go" --go_out=. --go_opt=paths=source_relative \
		feast/serving/serving_service.proto feast/types/value.proto
}

case ${1:-} in
fetch) fetch ;;
proto) proto ;;
python)
	whole || die "Feast is not in $cache: run scripts/feast.sh fetch"
	echo "$dir/bin/python"
	;;
*)
	sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
	exit 2
	;;
esac
