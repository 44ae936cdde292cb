#!/usr/bin/env bash
# A real Apache Kafka on this machine, for the integration tests: one KRaft node on
# loopback, from the jars of Maven Central.
#
#   scripts/kafka.sh fetch                    download once, verify, keep in the cache
#   scripts/kafka.sh start DIR PORT CPORT     format DIR if new, start, wait until it serves;
#                                             DIR/extra.properties, if there, adds to the
#                                             settings and overrides them
#   scripts/kafka.sh stop|kill9|status DIR
#   scripts/kafka.sh restart DIR              stop, then start on the same ports
#
# Needs Java 17 to run and mvn to fetch. The cache is $SEXTANT_CACHE, else the user's cache
# directory. DIR holds kafka.log, kafka.pid, server.properties and data/. With
# $SEXTANT_KAFKA_OWNER set to a process id, the broker ends with that process.
set -euo pipefail

readonly version=4.4.0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/kafka
readonly here
readonly cache=${SEXTANT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sextant}
readonly jars=$cache/kafka-$version
readonly ready_seconds=60

die() {
	echo "kafka.sh: $*" >&2
	exit 1
}

usage() {
	sed -n '2,16s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
	exit "$1"
}

verified() {
	[ -d "$1" ] && (cd "$1" && sha256sum --quiet --strict --check "$here/jars.sha256") >&2
}

fetch() {
	mkdir -p "$cache"
	exec 9>"$cache/kafka.lock"
	flock 9 # test packages run at the same time
	if [ -f "$jars/verified" ] && cmp -s "$jars/verified" "$here/jars.sha256"; then
		echo "Apache Kafka $version is in $jars"
		return
	fi
	command -v mvn >/dev/null || die "mvn is missing: install Maven to fetch Apache Kafka $version"
	echo "fetching Apache Kafka $version ($(wc -l <"$here/jars.sha256") jars, 44 MB)"
	local part=$jars.part log=$cache/kafka-fetch.log
	rm -rf "$part" "$jars"
	mvn -B -f "$here/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$part" 2>&1 |
		tee "$log" |
		awk '/Downloaded .*\.jar/ || /Copying .*\.jar/ { n++; printf "\r  %d jars", n; fflush() } END { print "" }' ||
		die "mvn failed, the end of $log: $(tail -n 5 "$log")"
	verified "$part" || die "checksums differ from scripts/kafka/jars.sha256: nothing was kept"
	[ "$(find "$part" -name '*.jar' | wc -l)" = "$(wc -l <"$here/jars.sha256")" ] ||
		die "jars that scripts/kafka/jars.sha256 does not list: nothing was kept"
	cp "$here/jars.sha256" "$part/verified"
	mv "$part" "$jars"
	echo "Apache Kafka $version is in $jars"
}

# pid prints the id of the broker of DIR, if it runs. The pid file alone is not enough:
# after a crash its number may be another process by now.
pid() {
	local id
	id=$(cat "$1/kafka.pid" 2>/dev/null) || return 1
	{ tr '\0' '\n' <"/proc/$id/cmdline"; } 2>/dev/null | grep -qxF "$1/server.properties" || return 1
	echo "$id"
}

configure() {
	local dir=$1 port=$2 cport=$3
	cat >"$dir/server.properties" <<EOF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$cport
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$cport
advertised.listeners=PLAINTEXT://127.0.0.1:$port
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$dir/data
auto.create.topics.enable=false
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
num.network.threads=2
num.io.threads=4
EOF
	# Of a key that stands twice, the last counts.
	if [ -f "$dir/extra.properties" ]; then cat "$dir/extra.properties" >>"$dir/server.properties"; fi
}

# A small heap, and the compiler that starts fast: the tests share two cores with it.
readonly java=(java -Xms128m -Xmx320m -XX:+UseSerialGC -XX:TieredStopAtLevel=1
	"-Dlog4j2.configurationFile=$here/log4j2.properties" -cp "$jars/*")

start() {
	local dir=$1
	[ -f "$jars/verified" ] || die "Apache Kafka $version is not in $cache: run scripts/kafka.sh fetch"
	command -v java >/dev/null || die "java is missing: Apache Kafka $version needs Java 17"
	mkdir -p "$dir"
	if pid "$dir" >/dev/null; then die "already running on $dir"; fi
	if [ $# -ge 3 ]; then configure "$@"; fi
	[ -f "$dir/server.properties" ] || die "start needs PORT and CPORT the first time"
	if [ ! -f "$dir/data/meta.properties" ]; then
		"${java[@]}" kafka.tools.StorageTool format --cluster-id c2V4dGFudC10ZXN0LWlkMA \
			--config "$dir/server.properties" >"$dir/kafka.log" 2>&1 || die "format: $(tail -n 3 "$dir/kafka.log")"
	fi
	# A session of its own, so that a Ctrl-C meant for the caller does not reach it.
	setsid "${java[@]}" kafka.Kafka "$dir/server.properties" >>"$dir/kafka.log" 2>&1 9>&- </dev/null &
	echo $! >"$dir/kafka.pid"
	await "$dir"
	if [ -n "${SEXTANT_KAFKA_OWNER:-}" ]; then
		setsid "${BASH_SOURCE[0]}" watch "$SEXTANT_KAFKA_OWNER" "$dir" >/dev/null 2>&1 9>&- </dev/null &
	fi
}

# await returns once clients can connect.
await() {
	local dir=$1 port
	port=$(sed -n 's/^advertised.listeners=.*:\([0-9]*\)$/\1/p' "$dir/server.properties" | tail -n 1)
	for _ in $(seq $((ready_seconds * 10))); do
		if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
			echo "127.0.0.1:$port"
			return
		fi
		kill -0 "$(cat "$dir/kafka.pid")" 2>/dev/null || die "it died: $(tail -n 5 "$dir/kafka.log")"
		sleep 0.1
	done
	die "not ready after $ready_seconds s: $(tail -n 5 "$dir/kafka.log")"
}

# gone says that a process is dead: reaped, or a zombie without a living thread. A zombie
# whose other threads are still dying keeps its port.
gone() {
	local tasks
	tasks=$(ls "/proc/$1/task" 2>/dev/null) || return 0
	grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null && [ "$(wc -l <<<"$tasks")" = 1 ]
}

# signal sends the signal and waits until the process is gone.
signal() {
	local id
	id=$(pid "$2") || return 0
	kill "-$1" "$id"
	for _ in $(seq 300); do
		gone "$id" && return
		sleep 0.1
	done
	die "process $id survives signal $1"
}

# watch kills the broker of DIR when the process OWNER is gone: a test that is killed or
# times out cannot do it itself.
watch() {
	local owner=$1 dir=$2 id
	id=$(pid "$dir") || exit 0
	while kill -0 "$owner" 2>/dev/null; do
		[ "$(pid "$dir")" = "$id" ] || exit 0
		sleep 1
	done
	[ "$(pid "$dir")" != "$id" ] || kill -KILL "$id"
}

[ $# -ge 1 ] || usage 2
command=$1
shift
case $command in
fetch) fetch ;;
watch) watch "$@" ;;
start | stop | kill9 | restart | status)
	[ $# -ge 1 ] || usage 2
	mkdir -p "$1"
	dir=$(cd "$1" && pwd)
	shift
	case $command in
	start)
		[ $# -eq 0 ] || [ $# -eq 2 ] || usage 2
		start "$dir" "$@"
		;;
	stop) signal TERM "$dir" ;;
	kill9) signal KILL "$dir" ;;
	restart)
		signal TERM "$dir"
		start "$dir"
		;;
	status)
		id=$(pid "$dir") || die "not running on $dir"
		echo "running, process $id"
		;;
	esac
	;;
-h | --help | help) usage 0 ;;
*) usage 2 ;;
esac
