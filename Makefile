# Everything needs Go, git and make, and nothing else; vsix and site need npm.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The same everywhere, so that builds, tests and linters share one build cache.
# What is for debuggers alone costs a tenth of the time to compile;
# GOFLAGS=-gcflags=all= brings it back.
export CGO_ENABLED := 0
export GOWORK := off
export GOFLAGS := $(strip -trimpath -buildvcs=false -gcflags=all=-dwarf=false $(shell go env GOFLAGS))

BIN := $(CURDIR)/.bin

# An image that is given a tag is of that version: `jacquard version` says so.
TAG := $(word 2,$(subst :, ,$(lastword $(subst /, ,$(IMAGE)))))
VERSION ?= $(or $(TAG),$(shell git describe --tags --always --dirty 2>/dev/null || echo dev))
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null)

# What make build writes; GOOS and GOARCH say for what machine. With
# GOTAGS=operator it has only the commands of the operator's image.
OUT ?= $(BIN)/jacquard

# What make image writes, under which name, for which machines (comma-separated).
IMAGE ?= ghcr.io/jacquard-operator/jacquard:$(VERSION)
IMAGE_FILE ?= $(BIN)/image/jacquard.tar
PLATFORMS ?= linux/$(shell go env GOARCH)

# The real API server that tests run against; yours, if you give one.
export KUBEBUILDER_ASSETS ?= $(BIN)

# How many of the packages with a cluster are tested at once, beside one of all others.
AT_ONCE ?= $(shell getconf _NPROCESSORS_ONLN)

# What needs a cluster of its own, what takes longest first.
CLUSTERS := $(addprefix ./test/integration/,children admin faults kinds operators replicas rollouts patches rights watched chaos scale) \
	./engine/cluster

# What runs tests; .ci/run gives what also notes those that are skipped.
GOTEST ?= go test
# golangci-lint vets; symbols, which only debuggers read, cost time to link.
TEST = $(GOTEST) -vet=off -ldflags='-s -w'

# What is linted: folders, and the packages in them. devcluster's main package
# only joins Kubernetes' own commands, and looking at it means looking at all
# of Kubernetes.
LINTED := .=./... devcluster=./cluster/...,./demo/...,./machine/...,./pause/...,./router/... test/helmcompat=./... bench=./... charts=./... test/pipeline=./... test/browser=./... tools=./style/... tools/release=./... test/e2e=./... test/e2e/gitops=./...

STAMPS := github.com/jacquard-operator/jacquard/cli
STAMPED = -s -w -X $(STAMPS).version=$(VERSION) -X $(STAMPS).revision=$(REVISION)
comma := ,

.PHONY: help
help: ## Show what there is to make
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## Build the operator, .bin/jacquard
	@mkdir -p $(dir $(OUT))
	go build $(if $(GOTAGS),-tags '$(GOTAGS)') -ldflags '$(STAMPED)' -o $(OUT) .

.PHONY: image
image: ## Build the Dockerfile's image without Docker, .bin/image/jacquard.tar; PLATFORMS=linux/amd64,linux/arm64
	@mkdir -p $(dir $(IMAGE_FILE))
	@binaries=(); for platform in $(subst $(comma), ,$(PLATFORMS)); do \
		binary="$(dir $(IMAGE_FILE))$${platform//\//-}"; \
		GOOS="$${platform%%/*}" GOARCH="$${platform#*/}" $(MAKE) --no-print-directory build GOTAGS=operator OUT="$$binary"; \
		binaries+=("$$platform=$$binary"); \
	done; \
	cd test/e2e && go run ./cmd/image --dockerfile ../../Dockerfile --arg VERSION=$(VERSION) --arg REVISION=$(REVISION) \
		--name $(IMAGE) --output $(abspath $(IMAGE_FILE)) "$${binaries[@]}"
	@image='$(IMAGE)'; name="$${image##*/}"; [[ $$name == *:* ]] || image+=:latest; \
	echo "for the chart: --set image.repository=$${image%:*},image.tag=$${image##*:}"

# Where make release writes.
RELEASE ?= dist/release

.PHONY: release
release: $(if $(KEY),$(BIN)/cosign) ## Write a release into dist/release; VERSION=v0.1.0, KEY=cosign.key signs, PLATFORMS makes a part
	@mkdir -p $(BIN)
	@cd tools/release && go run . --version '$(VERSION)' --output '$(abspath $(RELEASE))' \
		$(if $(filter file,$(origin PLATFORMS)),,--platforms '$(PLATFORMS)') $(if $(KEY),--key '$(abspath $(KEY))' --cosign $(BIN)/cosign)

.PHONY: vsix
vsix: OUT = dist/jacquard.vsix
vsix: ## Pack the extension for VS Code, dist/jacquard.vsix; needs npm, which gets its packages
	@mkdir -p $(dir $(OUT))
	@rm -rf $(BIN)/vsix && mkdir -p $(BIN)/vsix
	@cp LICENSE editors/vscode/*.* editors/vscode/.vscodeignore $(BIN)/vsix/
	cd $(BIN)/vsix && npm ci --ignore-scripts --no-audit --no-fund && node_modules/.bin/vsce package \
		--no-update-package-json --no-git-tag-version --out $(abspath $(OUT)) $(shell echo '$(VERSION)' | sed -nE 's/^v([0-9]+\.[0-9]+\.[0-9]+)$$/\1/p')

.PHONY: playground
playground: ## Build the playground, dist/playground: a page that runs the engine by WebAssembly
	@rm -rf dist/playground && mkdir -p dist/playground
	@cp ui/playground/src/* $$(go env GOROOT)/lib/wasm/wasm_exec.js dist/playground/
	@go run ./author/playground/starts > dist/playground/starts.json
	@author/playground/wasm/build $(BIN)/playground/jacquard.wasm
	@gzip -9 -n -c $(BIN)/playground/jacquard.wasm > dist/playground/jacquard.bin
	@size=$$(wc -c < dist/playground/jacquard.bin); echo "dist/playground: the engine is $$((size >> 20)) MiB, compressed" && \
		(( size <= 20 << 20 )) || { echo "it may be 20 MiB: find out what came in by go list -modfile .bin/playground/go.mod -deps ./author/playground/wasm" >&2; exit 1; }

.PHONY: playground-check
playground-check: build playground ## Test the playground; needs Node.js
	@cd ui/playground && npm test --silent

.PHONY: page
page: ## Build the page of jacquard ui, admin/ui/page, out of ui/; needs npm, which gets its packages
	@cd ui && npm ci --no-audit --no-fund >/dev/null && npm run --silent build

.PHONY: page-check
page-check: ## Test ui/, and check that admin/ui/page is what it gives; needs npm
	@cd ui && npm ci --no-audit --no-fund >/dev/null && npm test --silent && npm run --silent check

# Where make shots writes.
SHOTS ?= $(BIN)/shots

.PHONY: shots
shots: devcluster ## Take pictures of all views of the page, .bin/shots, and renew those in docs/images; needs Chromium
	cd test/browser && SHOTS=$(SHOTS) go test -count=1 -timeout 20m -v -run TestShots .
	cp $(SHOTS)/recording.gif docs/images/ui.gif
	cp $(SHOTS)/overview-1440-light.png docs/images/overview-light.png
	cp $(SHOTS)/tree-not-ready-1440-dark.png docs/images/tree-dark.png

.PHONY: browser-soak
browser-soak: devcluster ## Measure the page with 5,000 resources that change; BROWSER_MINUTES=10; needs Chromium
	cd test/browser && BROWSER_MINUTES=$(or $(BROWSER_MINUTES),10) BROWSER_LONGEST_MS=$(or $(BROWSER_LONGEST_MS),200) \
		go test -count=1 -timeout 3h -v -run TestMany .

# Where make site writes, and where the site is served: SITE_BASE=/jacquard/ for a part of a host.
SITE := $(CURDIR)/dist/site

.PHONY: site
site: ## Build the documents as a site, dist/site; needs npm, which gets VitePress; SITE_BASE=/docs/
	@mkdir -p $(BIN)/site
	@$(MAKE) --no-print-directory build OUT=$(BIN)/site/jacquard
	go build -ldflags=-w -o $(BIN)/site/try ./author/try
	@rm -rf $(BIN)/site/.vitepress && cp -r docs/site/. $(BIN)/site/
	cd $(BIN)/site && npm ci --ignore-scripts --no-audit --no-fund
	@if [[ -d dist/playground ]]; then export SITE_PLAYGROUND=true; fi && cd $(BIN)/site && \
		node pages.mjs $(CURDIR) $(BIN)/site/jacquard $(BIN)/site/try pages && SITE_OUT=$(SITE) node_modules/.bin/vitepress build
	@if [[ -d dist/playground ]]; then cp -r dist/playground $(SITE)/playground && \
		sed -i.old 's|<a id="site" href="../" hidden>|<a id="site" href="../">|' $(SITE)/playground/index.html && rm $(SITE)/playground/index.html.old; fi

.PHONY: site-check
site-check: ## Check that the links of dist/site lead, and that it loads nothing from other hosts; needs node
	@cd $(BIN)/site && SITE_OUT=$(SITE) node --test test/*.test.mjs

.PHONY: devcluster
devcluster: ## Build a Kubernetes out of Go modules into .bin (minutes at first, then cached)
	@devcluster/build >/dev/null

.PHONY: try
try: ## Show without a cluster what templates do, and check the kinds (a minute or two at first, then a second)
	@mkdir -p $(BIN)
	@if [[ -x $(BIN)/try ]]; then go build -ldflags=-w -o $(BIN)/try ./author/try; else \
		echo "The first time this takes at most two minutes."; devcluster/progress "building" $(BIN)/try ./author/try -ldflags=-w; fi
	@$(BIN)/try

# The cluster of an exported KUBECONFIG is left alone: it must be asked for.
ifeq ($(origin KUBECONFIG),command line)
EXISTING := --kubeconfig '$(patsubst ~/%,$(HOME)/%,$(KUBECONFIG))'
endif

.PHONY: demo
demo: ## Show it all on a Kubernetes of its own; UI=1 also in a browser, ONCE=1 ends by itself, KUBECONFIG=FILE takes a cluster that you have
	@LDFLAGS='$(STAMPED)' devcluster/demo/run $(if $(ONCE),--once) $(if $(UI),--ui) $(EXISTING)

# The modules that are tested beside the clusters, one after the other, and what of them. All
# else of the main module comes last, in two parts: the clusters end before them.
MODULES := test/browser devcluster charts test/pipeline test/helmcompat bench tools tools/release test/e2e test/e2e/gitops
OTHERS = $(filter-out $(CLUSTERS),$(shell go list -f '.{{slice .ImportPath (len .Module.Path)}}' ./...))
tests/.: PACKAGES = -p 1 $(filter-out ./engine/%,$(OTHERS))
tests/engine: PACKAGES = -p 1 $(filter ./engine/%,$(OTHERS))
tests/engine: MODULE := .
tests/tools: PACKAGES := ./style
tests/test/e2e: PACKAGES := ./cmd/... ./oci ./registry
tests/test/e2e/gitops: PACKAGES := -count 1 ./...

.PHONY: tests/clusters $(addprefix tests/,. engine $(MODULES))
tests/clusters:
	MAKEFLAGS= $(TEST) -timeout 40m -p $(AT_ONCE) $(CLUSTERS)

$(addprefix tests/,. engine $(MODULES)): tests/%:
	cd $(or $(MODULE),$*) && MAKEFLAGS= $(TEST) -timeout 40m $(or $(PACKAGES),./...)

.PHONY: test
# The clusters' parts spend a sixth of their time on collecting garbage else.
test: export GOGC := 400
ifneq ($(PKG)$(RUN),)
test: devcluster
	@package='$(or $(PKG),./...)'; module="$${package%%/...}"; \
	until [[ -f $$module/go.mod ]]; do module="$$(dirname "$$module")"; done; \
	cd "$$module" && $(TEST) -count 1 -timeout 40m $(if $(RUN),-run '$(RUN)') "./$$(realpath --canonicalize-missing --relative-to . "$(CURDIR)/$$package")"
else
test: devcluster ## Run the tests, against a real API server; PKG=./engine/plan RUN=TestX runs one thing
	@$(MAKE) --no-print-directory -j 2 tests/clusters $(addprefix tests/,$(MODULES) . engine)
endif

# What takes too long for make test. A part ends within an hour.
PARTS := browser browser-soak chaos chaos-defects-1 chaos-defects-2 chaos-replicas e2e-all fuzz integration kinds-unseen mutants scale scale-replicas

.PHONY: nightly $(addprefix nightly-,$(PARTS))
nightly: ## Run all parts that have not passed on the present code; nightly-PART runs one: .bin/nightly has the results
	@test/nightly/run $(PARTS)

$(addprefix nightly-,$(PARTS)): nightly-%:
	@test/nightly/run --again $*

.PHONY: browser
browser: export NIGHTLY := true
browser: devcluster ## Run all tests of the page, the site and the playground; needs Chromium, and npm for the latter two
	cd test/browser && $(TEST) -count 1 -timeout 30m ./...

.PHONY: kinds-unseen
kinds-unseen: devcluster ## Take kinds that nobody has seen down the whole road; UNSEEN_SEED=7 to see the same again
	for seed in $(or $(UNSEEN_SEED),1 2 3 4 5); do \
		NIGHTLY=true UNSEEN_SEED=$$seed $(TEST) -count 1 -timeout 20m -run TestUnseenKinds ./test/integration/kinds; done

.PHONY: integration
integration: devcluster ## Run all integration tests, also those that take too long for make test
	NIGHTLY=true $(TEST) -count 1 -p $(AT_ONCE) -timeout 50m $(filter-out %/chaos %/scale,$(wildcard ./test/integration/*))
	NIGHTLY=true $(TEST) -count 1 ./engine/controller/rollout
	cd charts && NIGHTLY=true $(TEST) -count 1 -timeout 20m ./...
	cd devcluster && NIGHTLY=true $(TEST) -count 1 -timeout 20m ./...

.PHONY: check
check: ## Run the tests that need no cluster, in a minute or two
	$(TEST) -short -tags lockorder -timeout 10m ./...
	$(TEST) -short -tags operator . ./cli

.PHONY: fuzz
fuzz: ## Run all fuzz targets, one after the other; FUZZTIME=1m each
	@FUZZTIME=$(or $(FUZZTIME),1m) test/fuzzed/run

.PHONY: e2e-all
e2e-all: export NIGHTLY := true
e2e-all: e2e ## Run all end-to-end tests on a real node
	cd test/e2e && $(TEST) -timeout 20m ./standin

.PHONY: e2e
e2e: devcluster build image helm containerd cosign ## Run the most important end-to-end tests on a real node; needs root, and says what else
	@for values in charts/jacquard/ci/*.yaml; do \
		for helm in helm helm3; do $(BIN)/$$helm lint --quiet --strict charts/jacquard --values "$$values"; done; \
	done
	$(MAKE) --no-print-directory release VERSION=v0.0.0-e2e PLATFORMS=linux/$$(go env GOARCH) RELEASE=$(BIN)/release KEY=
	cd tools/release && COSIGN=$(BIN)/cosign $(TEST) -count 1 -run Signed .
	cd test/e2e && KUBEBUILDER_ASSETS=$(BIN) $(TEST) -count 1 -timeout 40m -v .

.PHONY: bench
bench: ## Measure rendering and linting
	go test -run '^$$' -bench . -benchmem ./engine/...

.PHONY: compare
compare: devcluster build ## Compare with two hand-written operators (an hour); N=5000, ROUNDS=5, PROFILE=DIR
	cd bench && go build -o $(BIN)/bench/ ./cmd/...
	$(if $(PROFILE),go build -tags profile -o $(BIN)/bench/jacquard-profile .)
	cd bench && $(BIN)/bench/compare -n $(or $(N),500) -rounds $(or $(ROUNDS),5) -out $(BIN)/compare/$(or $(N),500) $(if $(PROFILE),-profile $(abspath $(PROFILE)))

.PHONY: chaos
chaos: devcluster ## Let everything go wrong at random; CHAOS_TIME=10m, CHAOS_SEED=7 to see the same again
	NIGHTLY=true CHAOS_TIME=$(or $(CHAOS_TIME),10m) CHAOS_SEED=$(CHAOS_SEED) go test -count=1 -timeout 3h -v -skip '^TestDefects$$' ./test/integration/chaos

.PHONY: chaos-replicas
chaos-replicas: devcluster ## Let everything happen to replicas at random; MOMENTS=200, CHAOS_SEED=7
	NIGHTLY=true REPLICAS_MOMENTS=$(or $(MOMENTS),200) CHAOS_SEED=$(CHAOS_SEED) go test -count=1 -timeout 3h -v -run 'TestOneWriter|TestTakesOver' ./test/integration/replicas

.PHONY: chaos-defects
chaos-defects: devcluster ## Show that chaos finds each of twelve defects (an hour; CHAOS_DEFECT=no-prune)
	NIGHTLY=true CHAOS_DEFECT=$(CHAOS_DEFECT) go test -count=1 -timeout 3h -v -run '^TestDefects$$/^[$(or $(DEFECTS),a-z)]' ./test/integration/chaos

.PHONY: chaos-defects-1 chaos-defects-2
chaos-defects-1: DEFECTS := a-n
chaos-defects-2: DEFECTS := o-z
chaos-defects-1 chaos-defects-2: chaos-defects

.PHONY: mutants
mutants: devcluster ## Show that the tests notice each of forty-three defects, and lint each mistake (some minutes; MUTANT=name for one)
	go run ./test/mutants $(MUTANT)
	$(if $(MUTANT),,NIGHTLY=true $(TEST) -run TestMutants ./author/lint)

.PHONY: scale
scale: devcluster ## Measure how far one operator goes (an hour; SIZES=1000,5000,10000)
	JACQUARD_SCALE=$(or $(SIZES),1000,5000,10000) go test -count=1 -timeout 3h -v -run 'ConfigMaps|Deployments|Workers' ./test/integration/scale

.PHONY: scale-replicas
scale-replicas: devcluster ## Measure one, two and four replicas (an hour; SIZES=8000)
	JACQUARD_SCALE=$(or $(SIZES),8000) go test -count=1 -timeout 3h -v -run 'Replicas|Webhosting' ./test/integration/scale

.PHONY: lint
# What the linters found out is kept where Go keeps what it built.
lint: export GOLANGCI_LINT_CACHE := $(shell go env GOCACHE)/golangci-lint
lint: $(BIN)/golangci-lint $(BIN)/deadcode ## Check formatting and style
	@files=$$(gofmt -l .); [[ -z $$files ]] || { echo "not formatted (make fmt):"; echo "$$files"; exit 1; } >&2
	@for linted in $(LINTED); do \
		echo "linting $$linted"; \
		(cd "$${linted%%=*}" && packages="$${linted#*=}" && \
			$(BIN)/golangci-lint run --config $(CURDIR)/.golangci.yml $${packages//,/ }); \
	done
	@echo "vetting the operator's binary"
	@go vet -tags operator . ./cli
	@echo "looking for functions of engine/ that the operator never calls"
	@tools/unreachable $(BIN)/deadcode
	@echo "checking names and comments"
	@cd tools && go build -ldflags '-s -w' -o $(BIN)/style ./style
	@$(BIN)/style $(LINTED)

.PHONY: style-update
style-update: ## Take out of tools/style/baseline.txt what no longer occurs
	@cd tools && go build -ldflags '-s -w' -o $(BIN)/style ./style
	@$(BIN)/style -update $(LINTED)

.PHONY: unreachable-update
unreachable-update: $(BIN)/deadcode ## Take out of tools/unreachable.txt what no longer occurs
	@tools/unreachable $(BIN)/deadcode -update

.PHONY: fmt
fmt: ## Format all Go code
	gofmt -w .

.PHONY: helm
helm: $(BIN)/helm $(BIN)/helm3 ## Build Helm 4 and Helm 3 into .bin, for what tests the chart

.PHONY: cosign
cosign: $(BIN)/cosign ## Build cosign into .bin, for what signs and verifies (ten minutes at first)

.PHONY: containerd
containerd: $(BIN)/containerd/containerd ## Build a containerd that mounts image volumes, for real nodes

.PHONY: chart
chart: ## Write again what the chart has of the kinds and rights, and dist/install.yaml
	@mkdir -p $(BIN) && go build -o $(BIN)/jacquard .
	@rm -rf $(BIN)/chart && mkdir -p $(BIN)/chart/kinds
	@$(BIN)/jacquard pack --include base >$(BIN)/chart/base.yaml
	@for crd in crds/*.yaml; do \
		name=$$(basename $$crd .yaml); \
		$(BIN)/jacquard pack $$name >$(BIN)/chart/kinds/$$name.yaml || exit 1; \
	done
	@rm -rf charts/jacquard/files/kinds
	@mv $(BIN)/chart/base.yaml $(BIN)/chart/kinds charts/jacquard/files/
	@cd charts && go run .

.PHONY: docs
docs: ## Write again what the documents have of the code, such as the table of metrics
	@go run ./test/docs/write

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf $(BIN) .demo

$(BIN)/golangci-lint: tools/go.mod tools/go.sum
	@echo "building golangci-lint; the first time this takes some minutes"
	@mkdir -p $(BIN)
	cd tools && go build -ldflags '-s -w' -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@

$(BIN)/deadcode: tools/go.mod tools/go.sum
	@mkdir -p $(BIN)
	cd tools && go build -ldflags '-s -w' -o $@ golang.org/x/tools/cmd/deadcode
	@touch $@

$(BIN)/containerd/containerd: devcluster/containerd/build devcluster/containerd/go.mod devcluster/containerd/go.sum
	@devcluster/containerd/build >/dev/null
	@touch $@

$(BIN)/helm: MAJOR := v4
$(BIN)/helm3: MAJOR := v3
$(BIN)/helm $(BIN)/helm3: tools/helm/go.mod tools/helm/go.sum
	@mkdir -p $(BIN)
	cd tools/helm && go build -ldflags "-s -w -X helm.sh/helm/$(MAJOR)/internal/version.version=$$(go list -m -f '{{.Version}}' helm.sh/helm/$(MAJOR))" \
		-o $@ helm.sh/helm/$(MAJOR)/cmd/helm
	@touch $@

$(BIN)/cosign: tools/cosign/go.mod tools/cosign/go.sum
	@mkdir -p $(BIN)
	cd tools/cosign && go build -ldflags "-s -w -X sigs.k8s.io/release-utils/version.gitVersion=$$(go list -m -f '{{.Version}}' github.com/sigstore/cosign/v3)" \
		-o $@ github.com/sigstore/cosign/v3/cmd/cosign
	@touch $@
