# gpucluster: what is done how. `make help` prints this list.

# The environment to work on: stacks/Pulumi.$(ENV).yaml
ENV ?= lab-slurm
# The host to log in to
HOST ?= login1
# More words for pulumi, for example ARGS="--target urn..."
ARGS ?=
# More words for go test, for example GOTEST="-run TestHostlist -v"
GOTEST ?=
# How many tests run side by side that mostly wait for hosts and daemons. Each has at most 2 GiB of memory.
SIDE_BY_SIDE ?= 3

export PATH := $(CURDIR)/.tools/bin:$(PATH)
export PULUMI_HOME ?= $(CURDIR)/.tools/pulumi

# What takes longest begins first, so that the rest runs beside it.
LONG_PACKAGES := ./internal/playbook ./internal/slurmctl
LONG_TESTS := ./tests/e2e

# Every Go module of this repository whose code is ours and has tests.
MODULES := . tools/pulumi-resource-command tools/artifacts tools/device-plugin tools/gpu-check tools/pause
SHELL_SCRIPTS = $(shell git ls-files --cached --others --exclude-standard '*.sh' '.ci/run')

.DEFAULT_GOAL := help
.PHONY: help tools up preview down status ssh check fmt test bench clean clean-tools

help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\nThe environment is %s; another one: make up ENV=name (a file stacks/Pulumi.name.yaml)\n' '$(ENV)'

tools: ## Find or build the programs that are needed, into .tools (minutes the first time)
	@tools/install.sh --for $(ENV)

up: tools ## Build the environment, or bring it to what its file says
	@tools/stack.sh up $(ENV) $(ARGS)

preview: tools ## Show what `make up` would change; opens no connection to any host
	@tools/stack.sh preview $(ENV) $(ARGS)

down: tools ## Take the environment down; nothing is left
	@tools/stack.sh down $(ENV) $(ARGS)

status: ## Show the environment as it is now: hosts, partitions, jobs
	@tools/stack.sh status $(ENV)

ssh: ## Log in to a host of the environment: make ssh HOST=login1
	@tools/stack.sh ssh $(ENV) $(HOST)

check: ## Run every linter
	@tools/install.sh --check
	@tools/check.sh $(MODULES) -- $(SHELL_SCRIPTS)

fmt: ## Format the Go code
	gofmt -w $$(git ls-files --cached --others --exclude-standard '*.go')

test: tools ## Run every test, the ones on real daemons and in the lab included (half an hour; GOTEST=-short leaves out the long ones)
	@tools/install.sh --test
	@echo "== go test: packages"
	@go test -p $(SIDE_BY_SIDE) -parallel $(SIDE_BY_SIDE) -timeout 60m $(GOTEST) $(LONG_PACKAGES) $$(go list ./... | grep -v /tests/)
	@for module in $(filter-out .,$(MODULES)); do echo "== go test: $$module"; go test -C $$module -timeout 10m $(GOTEST) ./... || exit; done
	@echo "== go test: whole environments"
	@go test -p 2 -parallel $(SIDE_BY_SIDE) -timeout 80m $(GOTEST) $(LONG_TESTS) $$(go list ./tests/...)

bench: ## Run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

clean: ## Remove test caches and files that runs left in .tools; the state of environments stays
	go clean -testcache
	rm -rf .tools/log.*

clean-tools: ## Remove what `make tools` built or downloaded
	rm -rf .tools
