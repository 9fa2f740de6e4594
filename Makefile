# The front door. `make` shows what there is; the logic is in tools/.
.DEFAULT_GOAL := help
.PHONY: help demo test check bench build install format tidy clean

PREFIX ?= /usr/local
CLANG_FORMAT ?= clang-format-14

help: ## Show this help
	@awk -F ': .*## ' '/^[a-z]+: .*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Orders, an outbox and a private RabbitMQ: watch it work, in a minute
	@tools/demo/run

test: ## Install what is missing, build, start private servers, run every test
	@tools/test/run

check: ## Everything before a change is sent: tests, sanitizers, clang-tidy, format, scripts, spelling
	@tools/install-packages build test check
	@tools/check/text
	@tools/check/tidy
	@tools/test/run --check

bench: ## Measure against a private RabbitMQ; figures are ratios within one run
	@tools/bench/run

build: ## Build the libraries and the program, optimised, in build/install
	@tools/install-packages build
	@cmake --preset install > /dev/null
	@cmake --build --preset install

install: build ## Install under PREFIX (/usr/local); DESTDIR is respected
	@cmake --install build/install --prefix "$(PREFIX)"

format: ## Rewrite the code in the project's format
	@tools/check/text --format

tidy: ## clang-tidy on everything but the tests
	@tools/install-packages build test check
	@tools/check/tidy

clean: ## Remove everything that was built
	@rm -rf build
