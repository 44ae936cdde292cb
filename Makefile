# Sextant. `make demo` runs the whole line on this host's own telemetry; `make test`
# runs every test against real components.

GO       ?= go
DURATION ?=
ARGS     ?=
BIN      := bin
CONSOLE  := dashboards/console/web
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

export GOFLAGS ?= -buildvcs=false

.DEFAULT_GOAL := help
.PHONY: help build demo test race bench bench-serving lint fuzz e2e kafka kubernetes feast proto feast-proto fetch dashboards console console-test chromium vet fmt clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The agent without cgo is 5 MiB smaller in memory; what needs cgo is in the program that it becomes.
build: ## build bin/sextant, bin/sextant-agent and bin/sextant-agent-plugins
	@mkdir -p $(BIN)
	$(GO) build -o $(BIN)/ ./cmd/sextant ./cmd/sextant-agent-plugins
	CGO_ENABLED=0 $(GO) build -o $(BIN)/ ./cmd/sextant-agent

demo: build ## run the whole line here; DURATION=60s stops it by itself
	$(BIN)/sextant demo $(if $(DURATION),--duration $(DURATION)) $(ARGS)

fetch: ## fetch the pinned ClickHouse engine into the cache
	$(GO) run ./cmd/sextant fetch

kafka: ## fetch Apache Kafka (pinned, checksummed) from Maven Central
	scripts/kafka.sh fetch

kubernetes: ## build the tests' Kubernetes control plane from its modules, once
	scripts/kubernetes.sh fetch

feast: ## fetch Feast's Python SDK and schemathesis (pinned, by hash) from PyPI
	scripts/feast.sh fetch

feast-proto: feast ## generate the Go code of Feast's protos, with pinned tools
	scripts/feast.sh proto

# What it writes is committed: a clone builds without Node.js packages.
console: ## build the web console from its TypeScript, after a change of it
	cd $(CONSOLE) && npm ci --silent && npm run --silent check && npm run --silent build

console-test: ## check the console's types, run its unit tests, and build it again to compare
	cd $(CONSOLE) && npm ci --silent && npm run --silent check && npm test --silent
	@cd $(CONSOLE) && node build.mjs --out .again && diff -r .again dist && echo "dist is what these sources build"

chromium: ## install Debian's Chromium for the console's tests, unless one is there
	scripts/chromium.sh fetch

test: vet fetch kafka kubernetes feast chromium console-test ## every test: unit, integration and end to end, on real components
	$(GO) test -timeout 25m ./...

race: fetch kafka kubernetes feast chromium console-test ## the same tests under the race detector
	$(GO) test -race -timeout 60m ./...

e2e: build fetch kafka ## the whole line against Apache Kafka, kills included; Prometheus itself as a sender
	$(GO) test -timeout 25m -count=1 -v ./internal/e2e/
	$(GO) test -timeout 25m -count=1 -v -tags=prometheus -run PrometheusProgram ./collectors/receive/
	$(GO) test -timeout 25m -count=1 -v -tags=prometheus -run Promtool ./features/promapi/

bench: build fetch ## measure agent, codec, pipeline, storage and freshness; prints tables
	$(BIN)/sextant bench all $(ARGS)

bench-serving: build fetch feast ## load the feature API beside Feast's Python feature server
	$(BIN)/sextant bench serving $(ARGS)

fuzz: ## fuzz every decoder for FUZZTIME (default 20s) each
	scripts/fuzz.sh $(or $(FUZZTIME),20s)

proto: ## generate the code of the .proto files, with pinned tools
	scripts/proto.sh

dashboards: ## write Grafana's dashboards and the alert rules from their code
	$(GO) test ./dashboards -run Generated -count=1 -update

# stdmethods wants every Seek to be io.Seeker's; Prometheus' iterators have one of their own.
vet: ## go vet and gofmt
	$(GO) vet -stdmethods=false ./...
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "gofmt would change:"; echo "$$out"; exit 1; }

lint: ## golangci-lint, pinned
	$(GO) run $(GOLANGCI) run ./...

clean: ## remove what was built and the demo's data; the download cache stays
	rm -rf $(BIN) data coverage.out
