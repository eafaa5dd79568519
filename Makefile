# Everything needs Go, git and make, and nothing else.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The same everywhere, so that builds, tests and linters share one build cache.
export CGO_ENABLED := 0
export GOWORK := off
export GOFLAGS := $(strip $(shell go env GOFLAGS) -trimpath)

BIN := $(CURDIR)/.bin
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# The real API server that tests run against; yours, if you give one.
export KUBEBUILDER_ASSETS ?= $(BIN)

# What is linted: folders, and the packages in them. devcluster's main package
# only joins Kubernetes' own commands, and looking at it means looking at all
# of Kubernetes.
LINTED := .=./... devcluster=./cluster/...,./demo/...,./router/... engine/template/helmcompat=./...

.PHONY: help
help: ## Show what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## Build the operator, .bin/jacquard
	@mkdir -p $(BIN)
	go build -ldflags '-s -w -X github.com/jacquard-operator/jacquard/cli.version=$(VERSION)' -o $(BIN)/jacquard .

.PHONY: devcluster
devcluster: ## Build a Kubernetes out of Go modules into .bin (minutes at first, then cached)
	@devcluster/build >/dev/null

.PHONY: demo
demo: devcluster build ## Show it all on a Kubernetes of its own; ONCE=1 ends by itself
	@$(BIN)/demo $(if $(ONCE),--once)

.PHONY: test
test: devcluster ## Run all tests, against a real API server
	go test -p 4 -timeout 20m ./...
	cd devcluster && go test -p 4 -timeout 20m ./...
	cd engine/template/helmcompat && go test -timeout 10m ./...

.PHONY: bench
bench: ## Measure rendering and linting
	go test -run '^$$' -bench . -benchmem ./engine/...

.PHONY: lint
lint: $(BIN)/golangci-lint ## Check formatting and style
	@files=$$(gofmt -l .); [[ -z $$files ]] || { echo "not formatted (make fmt):"; echo "$$files"; exit 1; } >&2
	@for linted in $(LINTED); do \
		echo "linting $$linted"; \
		(cd "$${linted%%=*}" && packages="$${linted#*=}" && go vet $${packages//,/ } && \
			$(BIN)/golangci-lint run --config $(CURDIR)/.golangci.yml $${packages//,/ }); \
	done

.PHONY: fmt
fmt: ## Format all Go code
	gofmt -w .

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf $(BIN) .demo

$(BIN)/golangci-lint: tools/go.mod tools/go.sum
	@echo "building golangci-lint; the first time this takes some minutes"
	@mkdir -p $(BIN)
	cd tools && go build -ldflags '-s -w' -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@
