# Two commands matter: `make run` and `make test`. `make help` lists the rest.

LINT_VERSION := v2.15.0
LINT         := .cache/bin/golangci-lint-$(LINT_VERSION)
DATA         ?= ./data
ARGS         ?=

.DEFAULT_GOAL := help
.PHONY: help run build test lint borders fmt bench generate clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 20

run: build ## Build and start everything in one process; data in ./data, extra flags in ARGS
	@exec bin/standalone --data $(DATA) $(ARGS)

build: ## Build bin/standalone
	@mkdir -p bin
	@go build -trimpath -o bin/standalone ./deploy/standalone

test: lint borders ## Install what the tests need, then run everything; ends with a table of what was skipped and why
	@.ci/test

lint: $(LINT) ## Build, vet, lint and tidy-check every module, with and without the workspace
	@.ci/lint $(LINT)

borders: $(LINT) ## Plant a violation of every border and want the linter to find it
	@.ci/borders $(LINT)

fmt: $(LINT) ## Format every module
	@for dir in $$(go list -m -f '{{.Dir}}'); do (cd $$dir && "$(CURDIR)/$(LINT)" fmt ./...) || exit 1; done

bench: ## Measure the ratios of the design and print them beside their reach
	@go run ./deploy/bench/cmd/bench $(ARGS)

generate: ## Make the generated code again from its sources
	@for dir in $$(go list -m -f '{{.Dir}}'); do (cd $$dir && go generate ./...) || exit 1; done

clean: ## Remove what was built or downloaded here; ./data stays
	rm -rf bin .cache

$(LINT):
	@mkdir -p $(@D)
	@echo "installing golangci-lint $(LINT_VERSION)"
	@GOBIN="$(CURDIR)/$(@D)" GOWORK=off go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@mv "$(@D)/golangci-lint" "$@"
