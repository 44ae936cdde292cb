#!/usr/bin/env bash
# Runs every fuzz target of the module for the given time each.
#
#   scripts/fuzz.sh 20s
set -euo pipefail
cd "$(dirname "$0")/.."
each=${1:-20s}
grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u | while read -r dir; do
	grep -h '^func Fuzz' "$dir"/*_test.go | sed 's/func \(Fuzz[A-Za-z0-9_]*\).*/\1/' | sort -u | while read -r target; do
		echo "== $dir $target"
		go test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$each"
	done
done
