#!/usr/bin/env bash
# A real Kubernetes control plane on this machine, for the integration tests: etcd, API
# server and scheduler, built from their Go modules. There are no nodes' agents: a test
# plays the kubelet by patching status.
#
#   scripts/kubernetes.sh fetch                     build once, keep in the cache
#   scripts/kubernetes.sh start DIR PORT ETCD PEER SCHEDULER
#                                                   start on these ports, wait until it serves
#   scripts/kubernetes.sh stop DIR                  end it
#
# Authorization is RBAC. DIR holds the logs, admin.kubeconfig, and watcher.kubeconfig, which
# is the service account sextant-watch of the namespace sextant. The cache is
# $SEXTANT_CACHE, else the user's cache directory. With $SEXTANT_KUBERNETES_OWNER set to a
# process id, the control plane ends with that process.
set -euo pipefail

readonly version=1.36.3
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
readonly cache=${SEXTANT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sextant}
readonly bin=$cache/kubernetes-$version
readonly ready_seconds=90

die() {
	echo "kubernetes.sh: $*" >&2
	exit 1
}

usage() {
	sed -n '2,16s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
	exit "$1"
}

fetch() {
	mkdir -p "$cache"
	exec 9>"$cache/kubernetes.lock"
	flock 9 # test packages run at the same time
	if [ -f "$bin/built" ] && cmp -s "$bin/built" "$root/test/k8s/go.sum"; then
		echo "Kubernetes $version is in $bin"
		return
	fi
	echo "building Kubernetes $version from its modules: minutes, once"
	local part=$bin.part k=k8s.io/component-base/version
	rm -rf "$part" "$bin"
	mkdir -p "$part"
	(cd "$root/test/k8s" && CGO_ENABLED=0 GOFLAGS="-mod=readonly -p=${SEXTANT_BUILD_PARALLEL:-4}" go build -trimpath \
		-ldflags "-s -w -X $k.gitVersion=v$version -X $k.gitMajor=1 -X $k.gitMinor=${version:2:2}" -o "$part/" \
		go.etcd.io/etcd/server/v3 k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-scheduler) || die "the build failed"
	mv "$part/server" "$part/etcd" # go build names it after its folder
	cp "$root/test/k8s/go.sum" "$part/built"
	mv "$part" "$bin"
	echo "Kubernetes $version is in $bin"
}

# launch NAME ARGS... starts a program of its own session, so that a Ctrl-C meant for the
# caller does not reach it.
launch() {
	local name=$1
	shift
	setsid "$bin/$name" "$@" >"$dir/$name.log" 2>&1 9>&- </dev/null &
	echo $! >"$dir/$name.pid"
}

# await NAME URL returns once the address answers ok.
await() {
	for _ in $(seq $((ready_seconds * 5))); do
		if curl -fsSk -H "Authorization: Bearer admin-token" "$2" >/dev/null 2>&1; then return; fi
		kill -0 "$(cat "$dir/$1.pid")" 2>/dev/null || die "$1 died: $(tail -n 5 "$dir/$1.log")"
		sleep 0.2
	done
	die "$1 is not ready after $ready_seconds s: $(tail -n 5 "$dir/$1.log")"
}

kubeconfig() {
	cat >"$dir/$1.kubeconfig" <<EOF
apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: "https://127.0.0.1:$port", insecure-skip-tls-verify: true}}]
users: [{name: test, user: {token: $1-token}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
EOF
}

start() {
	local port=$1 etcd=$2 peer=$3 scheduler=$4
	[ -f "$bin/built" ] || die "Kubernetes $version is not in $cache: run scripts/kubernetes.sh fetch"
	openssl genrsa -out "$dir/sa.key" 2048 2>/dev/null || die "openssl is missing"
	cat >"$dir/tokens.csv" <<EOF
admin-token,admin,1,"system:masters"
watcher-token,system:serviceaccount:sextant:sextant-watch,2,"system:serviceaccounts,system:serviceaccounts:sextant"
EOF
	kubeconfig admin
	kubeconfig watcher
	launch etcd --unsafe-no-fsync=true --data-dir "$dir/etcd" --listen-client-urls "http://127.0.0.1:$etcd" \
		--advertise-client-urls "http://127.0.0.1:$etcd" --listen-peer-urls "http://127.0.0.1:$peer" \
		--initial-advertise-peer-urls "http://127.0.0.1:$peer" --initial-cluster "default=http://127.0.0.1:$peer"
	await etcd "http://127.0.0.1:$etcd/health"
	# Without a controller manager nobody makes service accounts, or clears the taint of a
	# node that is not ready yet. The gate and the version turn on PodGroups of Kubernetes itself.
	launch kube-apiserver --etcd-servers="http://127.0.0.1:$etcd" --bind-address=127.0.0.1 --secure-port="$port" \
		--cert-dir="$dir/certs" --advertise-address=127.0.0.1 --endpoint-reconciler-type=none \
		--token-auth-file="$dir/tokens.csv" --authorization-mode=RBAC --anonymous-auth=false \
		--service-account-issuer="https://127.0.0.1:$port" --service-account-key-file="$dir/sa.key" \
		--service-account-signing-key-file="$dir/sa.key" --service-cluster-ip-range=10.96.0.0/16 \
		--disable-admission-plugins=ServiceAccount,TaintNodesByCondition --enable-priority-and-fairness=false \
		--feature-gates=GenericWorkload=true --runtime-config=scheduling.k8s.io/v1alpha2=true
	await kube-apiserver "https://127.0.0.1:$port/readyz"
	cat >"$dir/scheduler.yaml" <<EOF
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: $dir/admin.kubeconfig, qps: 1000, burst: 2000}
EOF
	launch kube-scheduler --config="$dir/scheduler.yaml" --bind-address=127.0.0.1 --secure-port="$scheduler" --cert-dir="$dir/certs" \
		--authentication-kubeconfig="$dir/admin.kubeconfig" --authorization-kubeconfig="$dir/admin.kubeconfig" \
		--authentication-tolerate-lookup-failure=true --authorization-always-allow-paths=/healthz,/readyz,/livez
	await kube-scheduler "https://127.0.0.1:$scheduler/healthz"
	echo "https://127.0.0.1:$port"
	if [ -n "${SEXTANT_KUBERNETES_OWNER:-}" ]; then
		setsid "${BASH_SOURCE[0]}" watch "$dir" "$SEXTANT_KUBERNETES_OWNER" >/dev/null 2>&1 9>&- </dev/null &
	fi
}

# pid NAME prints the id of a program of DIR, if it runs. After a crash the number in the
# file may be another process by now.
pid() {
	local id
	id=$(cat "$dir/$1.pid" 2>/dev/null) || return 1
	[ "$(readlink "/proc/$id/exe" 2>/dev/null)" = "$bin/$1" ] || return 1
	echo "$id"
}

# stop ends the programs, etcd last: the API server hangs without it.
stop() {
	local name id
	for name in kube-scheduler kube-apiserver etcd; do
		id=$(pid "$name") || continue
		kill -KILL "$id" # the data is for one test
		while pid "$name" >/dev/null; do sleep 0.05; done
	done
}

# watch ends the control plane when the process OWNER is gone: a test that is killed or
# times out cannot do it itself.
watch() {
	while kill -0 "$1" 2>/dev/null; do
		pid etcd >/dev/null || exit 0
		sleep 1
	done
	stop
}

[ $# -ge 1 ] || usage 2
command=$1
shift
case $command in
fetch) fetch ;;
start | stop | watch)
	[ $# -ge 1 ] || usage 2
	mkdir -p "$1"
	dir=$(cd "$1" && pwd)
	shift
	case $command in
	start)
		[ $# -eq 4 ] || usage 2
		start "$@"
		;;
	stop) stop ;;
	watch) watch "$@" ;;
	esac
	;;
-h | --help | help) usage 0 ;;
*) usage 2 ;;
esac
