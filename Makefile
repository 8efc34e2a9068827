# Two commands matter: `make run` and `make test`. `make help` lists the rest.

LINT_VERSION := v2.15.0
LINT         := .cache/bin/golangci-lint-$(LINT_VERSION)
VALE_VERSION := v3.17.0
VALE         := .cache/bin/vale-$(VALE_VERSION)
SBOM_VERSION := v1.10.0
SBOM         := .cache/bin/cyclonedx-gomod-$(SBOM_VERSION)
VULN_VERSION := v1.9.0
DATA         ?= ./data
ARGS         ?=
ROUNDS       ?= 200
FUZZ         ?= 5m

# One set of flags for lint, builds and tests: other flags would compile every package once more. Images and releases have
# no cgo, and neither has anything else but the race detector and Vale, whose parsers of source code are C.
GOFLAGS      := $(strip $(shell go env GOFLAGS 2>/dev/null) -trimpath)
CGO_ENABLED  := 0
export GOFLAGS CGO_ENABLED

.DEFAULT_GOAL := help
.PHONY: help run build check test soak lint prose borders fmt bench generate release-check vulnerabilities clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 24

run: build ## Build and start everything in one process; data in ./data, extra flags in ARGS
	@exec bin/standalone --data $(DATA) $(ARGS)

build: ## Build bin/standalone; packages are named as they are compiled
	@mkdir -p bin
	@go build -v -o bin/standalone ./deploy/standalone

test: lint borders ## Install what the tests need, then run everything; ends with a table of what was skipped and why
	@.ci/test

check: borders ## Before a commit: lint, borders and the fast tests of what changed, in about three minutes
	@.ci/check $(LINT) $(VALE)

soak: ## Kill rounds by the hundred, failovers, long fuzzing: hours; ROUNDS and FUZZ make it shorter
	@.ci/soak $(ROUNDS) $(FUZZ)

lint: $(LINT) $(VALE) ## Compile, vet, lint and tidy-check every module, with and without the workspace, and the prose
	@.ci/lint $(LINT) $(VALE)

prose: $(VALE) ## Check the language of the clean directories, or of those in ARGS
	@.ci/prose $(VALE) $(ARGS)

borders: $(LINT) $(VALE) ## Plant a violation of every border and fail unless the linter reports it
	@.ci/borders $(LINT) $(VALE)

fmt: $(LINT) ## Format every module
	@for dir in $$(go list -m -f '{{.Dir}}'); do (cd $$dir && "$(CURDIR)/$(LINT)" fmt ./...) || exit 1; done

bench: ## Measure the ratios of the design and print them beside their reach
	@go run ./deploy/bench/cmd/bench $(ARGS)

generate: ## Make the generated code again from its sources
	@for dir in $$(go list -m -f '{{.Dir}}'); do (cd $$dir && go generate ./...) || exit 1; done

release-check: $(SBOM) ## Build the programs twice and compare them; write bills of materials, checksums and a signature by KEY
	@.ci/release-check $(SBOM)

vulnerabilities: ## Look for known vulnerabilities in each module; needs the network, for the database at vuln.go.dev
	@for dir in $$(go list -m -f '{{.Dir}}'); do \
		(cd $$dir && GOWORK=off go run golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION) ./...) || exit 1; done

clean: ## Remove what was built or downloaded here; ./data stays
	rm -rf bin .cache

$(LINT):
	@mkdir -p $(@D)
	@echo "installing golangci-lint $(LINT_VERSION)"
	@GOBIN="$(CURDIR)/$(@D)" GOWORK=off go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@mv "$(@D)/golangci-lint" "$@"

$(VALE):
	@mkdir -p $(@D)
	@echo "installing vale $(VALE_VERSION)"
	@GOBIN="$(CURDIR)/$(@D)" GOWORK=off CGO_ENABLED=1 go install github.com/errata-ai/vale/v3/cmd/vale@$(VALE_VERSION)
	@mv "$(@D)/vale" "$@"

$(SBOM):
	@mkdir -p $(@D)
	@echo "installing cyclonedx-gomod $(SBOM_VERSION)"
	@GOBIN="$(CURDIR)/$(@D)" GOWORK=off go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(SBOM_VERSION)
	@mv "$(@D)/cyclonedx-gomod" "$@"
