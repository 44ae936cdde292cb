#!/usr/bin/env bash
# Chromium on this machine, for the tests of the web console.
#
#   scripts/chromium.sh fetch    install Debian's chromium, unless one is there
#   scripts/chromium.sh path     print the program, or fail when there is none
#
# $CHROMIUM names another one. Installing needs root, on Debian or a system like it.
set -euo pipefail

die() {
	echo "chromium.sh: $*" >&2
	exit 1
}

find_it() {
	local name
	for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome-stable google-chrome; do
		if [ -n "$name" ] && command -v "$name" 2>/dev/null; then return 0; fi
	done
	return 1
}

case ${1:-} in
fetch)
	if it=$(find_it); then
		echo "Chromium is $it"
		exit
	fi
	command -v apt-get >/dev/null || die "install Chromium, or name one in \$CHROMIUM"
	[ "$(id -u)" = 0 ] || die "install Debian's package chromium (as root: apt-get install chromium), or name another in \$CHROMIUM"
	echo "installing Debian's chromium"
	apt-get update -qq >&2
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >&2
	find_it >/dev/null || die "apt-get installed no chromium"
	;;
path) find_it || die "there is no Chromium: run scripts/chromium.sh fetch" ;;
*)
	sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
	exit 2
	;;
esac
