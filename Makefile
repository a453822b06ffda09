# `make` or `make help` prints what there is. A line is described by the comment after its target's name.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Tools are pinned here, and built into .tools/ by the go command so that go.mod stays the project's own.
GOLANGCI_LINT_VERSION := v2.15.0
GOVULNCHECK_VERSION := v1.8.0
GOTESTSUM_VERSION := v1.13.0
GOLANGCI_LINT := .tools/golangci-lint-$(GOLANGCI_LINT_VERSION)/golangci-lint
GOVULNCHECK := .tools/govulncheck-$(GOVULNCHECK_VERSION)/govulncheck
GOTESTSUM := .tools/gotestsum-$(GOTESTSUM_VERSION)/gotestsum

# What to test, and how; for example: make test PKGS=./webhook/... TESTFLAGS='-run Loop -v'
PKGS := ./...
TESTFLAGS :=
# Of a package's tests; it ends those that hang. -count=n in TESTFLAGS repeats the tests within it.
TEST_TIMEOUT = $(shell echo $$((30 * $(patsubst -count=%,%,$(lastword -count=1 $(filter -count=%,$(TESTFLAGS)))))))m
STRUCTURE_VENV := .tools/structure
RETRIEVAL_VENV := .tools/retrieval
PEERS := .tools/peers
# Packages at once. Tests start real servers: more of them than processors make each other late.
TEST_PARALLEL := $(shell nproc 2>/dev/null || echo 2)
# A line per package and each failure; with -v or -bench, all that `go test` prints.
TEST_FORMAT := $(if $(filter -v -v=% -bench -bench=%,$(TESTFLAGS)),standard-verbose,pkgname-and-test-fails)
FUZZTIME := 30s

NODE_MODULES := dev/node_modules/.package-lock.json

# Compiler, linker, linter and tests collect their garbage less often: they take two thirds of the time, and half a
# gigabyte more. What is run or measured keeps Go's default.
build build-dev check fmt test: export GOGC := 400

# As in .ci/tests: what the tests or another clone have compiled is found in the cache.
check: export GOFLAGS := $(shell go env GOFLAGS 2>/dev/null) -trimpath

.PHONY: help
help: ## Show this list
	@echo 'async-worker: document tasks from Azure queues. Targets:'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo 'Needed: Go, and Node for the local stack. `make test` installs the rest (Debian, Ubuntu) or says what is missing.'

##### To work with it

.PHONY: build
build: ## Build bin/async-worker
	@dev/step 'build bin/async-worker' go build -trimpath -o bin/async-worker ./cmd/async-worker

.PHONY: build-dev
build-dev:
	@dev/step 'build bin/async-worker' go build -trimpath -o bin/ ./cmd/async-worker ./cmd/async-worker-dev
	@$(if $(filter nats,$(BACKEND)),dev/step 'build bin/nats-server' go build -trimpath -o bin/ github.com/nats-io/nats-server/v2)

.PHONY: run
run: build-dev $(if $(BACKEND),,$(NODE_MODULES)) ## Start the local stack and the worker, and ingest the samples; ONCE=1 stops after that; else .dev/data is kept (make clean removes it); BACKEND=postgres needs one Postgres with pgvector and no Node, BACKEND=nats that and a nats-server
	@dev/install-test-deps.sh $(if $(BACKEND),postgres,run)
	@exec bin/async-worker-dev $(if $(filter-out 0 no false,$(ONCE)),--once) $(if $(BACKEND),--backend $(BACKEND))

.PHONY: screenshots
screenshots: test-deps ## Write a picture of each page of the dashboard into OUT (bin/screenshots): light, dark and 360 pixels wide
	@go test -count=1 ./internal/dashboard -run '^TestScreens$$' -screens '$(abspath $(or $(OUT),bin/screenshots))'
	@echo 'screenshots: $(or $(OUT),bin/screenshots)'

.PHONY: fmt
fmt: $(GOLANGCI_LINT) ## Format the code (gofumpt) and tidy go.mod
	@$(GOLANGCI_LINT) fmt
	@go mod tidy

##### To trust it

.PHONY: test
test: test-deps $(GOTESTSUM) ## Run all tests, with the race detector where goroutines are, and list the skipped ones; PKGS and TESTFLAGS narrow them down; make check vets them
	@plain=; [ -t 1 ] || plain=--no-color; \
	$(GOTESTSUM) --format $(TEST_FORMAT) --format-hide-empty-pkg $$plain --raw-command -- \
		.ci/tests -vet=off -timeout $(TEST_TIMEOUT) -p $(TEST_PARALLEL) $(TESTFLAGS) -- $(PKGS)

.PHONY: e2e
e2e: test-deps ## Run the end-to-end tests on QUEUE=azure, nats or postgres, or QUEUE=all, and list the skipped ones
	@dev/install-queue-clients.sh
	@for queue in $(if $(filter all,$(or $(QUEUE),all)),azure nats postgres,$(QUEUE)); do echo "e2e: on $$queue"; \
	go test -count=1 -timeout $(TEST_TIMEOUT) -v $(TESTFLAGS) ./test/e2e -args -queue $$queue | \
		grep -E '^ *(--- (FAIL|SKIP)|ok|FAIL|panic)|SKIPPED' || exit 1; done

.PHONY: test-deps
test-deps: $(NODE_MODULES) ## Install what the tests need: Postgres with pgvector, a C compiler, poppler, Azurite, PostgREST
	@dev/install-test-deps.sh

.PHONY: check
check: lint fix-check tidy-check river-check kubernetes-check vulncheck ## Check the code without running it: format, lint, vet, go fix, go.mod, known vulnerabilities
	@echo 'check: fine'

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Check format (gofumpt) and lint (with go vet), part of check
	@$(GOLANGCI_LINT) run || { echo 'lint: see above; what is only a matter of format, make fmt mends' >&2; exit 1; }

.PHONY: fix-check
fix-check:
	@diff="$$(go fix -diff ./... 2>&1 || true)"; \
	if [ -n "$$diff" ]; then echo "$$diff"; echo 'check: go fix suggests changes (above); run: go fix ./...' >&2; exit 1; fi

.PHONY: tidy-check
tidy-check:
	@go mod tidy -diff || { echo 'check: go.mod or go.sum is not tidy (above); run: go mod tidy' >&2; exit 1; }

# A module of its own, which ./... does not see: it brings River, and only the benchmark needs that.
.PHONY: river-check
river-check:
	@cd test/bench/river && go vet . && go mod tidy -diff

# A module of its own, too: it brings the types of Kubernetes and the schemas of KEDA.
.PHONY: kubernetes-check
kubernetes-check:
	@cd packaging/kubernetes/check && go vet . && go mod tidy -diff && go test -count=1 .

.PHONY: vulncheck
vulncheck: $(GOVULNCHECK)
	@.ci/vulncheck $(GOVULNCHECK)

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (30s)
	@.ci/fuzz $(FUZZTIME)

.PHONY: api-check
api-check: test-deps ## Try the HTTP API with programs that are not ours: schemathesis and a generated client; API_CHECK_EXAMPLES=n
	@dev/install-api-check.sh
	@API_CHECK=1 go test ./internal/api -count=1 -v -run 'TestSchemathesis|TestGeneratedClient'

.PHONY: prove
prove: test-deps ## Prove under faults that nothing is lost or done twice; KINDS=name,name (KINDS=? lists them) QUEUES=azure,postgres,nats SEED=n RUN=name SHORT=1
	@go run ./test/prove -kind '$(or $(KINDS),all)' $(if $(QUEUES),-queues '$(QUEUES)') $(if $(SEED),-seed $(SEED)) $(if $(RUN),-run '$(RUN)') $(if $(filter-out 0 no false,$(SHORT)),-short) $(PROVEFLAGS)

.PHONY: boot-test
boot-test: test-deps ## As root: boot a Debian 12 and 13, install the package, and try every operator command; SUITES=trixie
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then dev/install-test-deps.sh boot; fi
	@ASYNC_WORKER_BOOT='$(or $(SUITES),all)' go test -count=1 -timeout 90m -v ./test/boot

.PHONY: bench
bench: test-deps ## Measure what the worker costs around a task, next to a bare client loop and to River; ONLY=queue, idle, river, reindex, index, ingest, memory, bombs, cancel, stream, search (SET=dir as for quality), terms, vectors (SET=dir, EMBEDDINGS=wordllama as for quality, or neither), feed, decks, bloat, retention, dashboard or peers (other programs beside it, from PyPI; CORPUS=dir: these documents)
	@$(if $(filter peers,$(ONLY)),dev/install-peers.sh $(PEERS))
	@$(if $(EMBEDDINGS),dev/install-retrieval-deps.sh $(RETRIEVAL_VENV))
	@$(if $(filter dashboard,$(ONLY)),go test -count=1 -timeout 60m -v ./internal/dashboard -run '^TestRows$$' -rows $(or $(ROWS),1000000),go run ./test/bench $(if $(ONLY),-only '$(ONLY)') $(if $(filter peers,$(ONLY)),-peers $(PEERS) $(if $(CORPUS),-corpus '$(CORPUS)')) $(if $(SET),-set '$(SET)') $(if $(EMBEDDINGS),-embeddings '$(EMBEDDINGS)' -venv $(RETRIEVAL_VENV)) $(BENCHFLAGS))

.PHONY: quality
quality: ## Measure the extractors against Docling's Markdown, document by document; CORPUS=dir (documents/NAME, docling/NAME.md); with KIND=structure against documents of known structure that four programs print; with KIND=retrieval SET=dir (passages.jsonl, questions.jsonl) the search; EMBEDDINGS=wordllama or use: with a model's vectors
ifeq ($(KIND),structure)
	@dev/install-structure-deps.sh $(STRUCTURE_VENV)
	@go run ./test/quality -kind structure -venv $(STRUCTURE_VENV) $(if $(SEED),-seed $(SEED)) $(QUALITYFLAGS)
else ifeq ($(KIND),retrieval)
	@dev/install-retrieval-deps.sh $(RETRIEVAL_VENV)
	@go run ./test/quality -kind retrieval -venv $(RETRIEVAL_VENV) -set '$(SET)' $(if $(EMBEDDINGS),-embeddings '$(EMBEDDINGS)')
else
	@go run ./test/quality $(if $(CORPUS),-corpus '$(CORPUS)')
endif

##### To give it to others

.PHONY: deb
deb: ## Build the Debian packages into dist/; ARCH=amd64 or arm64, VERSION=1.2.3 (docs/packaging.md)
	@packaging/build $(if $(ARCH),--arch '$(ARCH)') $(if $(VERSION),--version '$(VERSION)')

.PHONY: deb-check
deb-check: ## Build the packages twice and compare, run lintian and the arm64 program; FRESH=1: with a compiler cache of its own
	@FRESH='$(filter-out 0 no false,$(FRESH))' packaging/check

.PHONY: container
container: ## Build the container image with docker, or ENGINE=podman or buildah; IMAGE=name:tag VERSION=1.2.3 BASE=image GO_BASE=image
	@commit=$$(git rev-parse HEAD 2>/dev/null || true) date=$$(git log -1 --format=%ct 2>/dev/null || true); \
	[ -z "$$(git status --porcelain 2>/dev/null)" ] || commit=$$commit-modified; \
	$(or $(ENGINE),docker) build -f packaging/container/Dockerfile $(if $(filter docker,$(or $(ENGINE),docker)),,--ignorefile packaging/container/Dockerfile.dockerignore) \
		$(if $(BASE),--build-arg 'BASE=$(BASE)') $(if $(GO_BASE),--build-arg 'GO_BASE=$(GO_BASE)') $(if $(VERSION),--build-arg 'VERSION=$(VERSION)') \
		--build-arg "COMMIT=$$commit" --build-arg "SOURCE_DATE_EPOCH=$${date:-0}" \
		-t '$(or $(IMAGE),async-worker:$(or $(VERSION),dev))' .

.PHONY: container-check
container-check: test-deps ## As root: build the image on a Debian from debootstrap, run it, ingest a document in it, and remove it all
	@packaging/container/check

.PHONY: docs
docs: test-deps ## As root: generate from the code: tables in docs/ and RELIABILITY.md, docs/errors.md, docs/schemas, docs/commands.md
	@go test ./test/contract -run TestStateMachine -update
	@go test ./internal/config -run TestSettingsTable -update
	@go test ./internal/metrics -run TestObservabilityTable -update
	@go test ./test/prove/sabotage -run TestReliability -update
	@go test ./test/architecture -run TestErrorList -update
	@go test ./test/contract -run TestSchemas -update
	@go test ./internal/api -run '^TestSpec$$' -update
	@go test ./internal/store/postgres -run TestReaderViews -update
	@[ "$$(id -u)" = 0 ] || { echo 'docs: docs/commands.md is not generated (the rest is): its test acts as other users; run as root: make docs' >&2; exit 1; }
	@go test ./internal/cli -run TestCommandTable -update

.PHONY: clean
clean: ## Remove build results, the tools, and the local stack with its data
	@rm -rf bin dist .dev .tools dev/node_modules

##### Files

# npm writes this file last; it is as old as the installation.
$(NODE_MODULES): dev/package-lock.json dev/package.json
	@command -v npm >/dev/null || { echo 'npm is missing: install Node.js 20 or later' >&2; exit 1; }
	@dev/step 'install the local stack (npm ci in dev)' npm --prefix dev ci --no-audit --no-fund --loglevel=error </dev/null
	@touch $@

$(GOLANGCI_LINT):
	@GOBIN=$(CURDIR)/$(@D) dev/step 'build golangci-lint $(GOLANGCI_LINT_VERSION) (once; it takes some minutes)' go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)

$(GOVULNCHECK):
	@GOBIN=$(CURDIR)/$(@D) dev/step 'build govulncheck $(GOVULNCHECK_VERSION) (once)' go install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)

$(GOTESTSUM):
	@GOBIN=$(CURDIR)/$(@D) dev/step 'build gotestsum $(GOTESTSUM_VERSION) (once)' go install gotest.tools/gotestsum@$(GOTESTSUM_VERSION)
