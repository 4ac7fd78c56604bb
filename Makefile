# Every command sets itself up on first use; later calls find everything in place.
# ARGS goes to the command: make test ARGS="tests/core -k ties"

.DEFAULT_GOAL := help
.PHONY: help run test interop install-test check audit prove thorough bench screenshots sheets translations requirements
MAKEFLAGS += --no-print-directory
# Tests and proofs start the program hundreds of times: each would compile all of its modules anew.
unexport PYTHONDONTWRITEBYTECODE
ARGS ?=
BIN := .venv/bin

help: ## Show these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

run: ## Open the window with an example, on the practice service: no account needed
	@scripts/run.sh

test: ## Run all tests, on a screen of their own
	@scripts/system-packages.sh window fonts screen tests
	@scripts/environment.sh test
	@scripts/with-screen.sh scripts/test.sh $(BIN)/pytest $(ARGS)

interop: ## Open every export in programs that were not written here (own environment, 900 MB)
	@scripts/interop.sh $(ARGS)

install-test: ## Install the wheel by pip, pipx and uv for every Python there is, and run its self-test (needs the network)
	@scripts/install-test.sh $(ARGS)

check: ## Lint, format, types and the direction of imports
	@scripts/environment.sh check
	@scripts/check.sh $(BIN)

prove: ## Kill the program, cut its power and damage its data, and compare what it knows (ARGS="--kills 200" for less)
	@scripts/environment.sh test
	@$(BIN)/python -m tests.prove $(ARGS)

audit: ## Look the pinned packages up in the public advisories (needs the network), and write docs/audit.md
	@scripts/audit.sh $(ARGS)

thorough: ## Run the tests with generated examples on many times as many
	@scripts/environment.sh test
	@$(BIN)/python -m pytest -q --timeout=3600 -n auto --dist loadscope -m thorough --hypothesis-profile=thorough \
		-p no:cacheprovider tests $(ARGS)

bench: ## Measure against the obvious ways of doing the same
	@scripts/environment.sh test
	@$(BIN)/python -m benchmarks $(ARGS)

screenshots: ## Drive the window through both kinds of job and save every page, light and dark
	@scripts/system-packages.sh window fonts screen
	@scripts/environment.sh test
	@scripts/with-screen.sh $(BIN)/python packaging/screenshots.py $(ARGS)

translations: ## Collect the texts of the program into the catalogues of its languages, and compile these
	@scripts/environment.sh test
	@$(BIN)/python scripts/translations.py

sheets: ## Go through every page in every language, size and font, say what does not fit, and save sheets of pictures
	@scripts/system-packages.sh window fonts
	@scripts/environment.sh test
	@$(BIN)/python packaging/sheets.py $(ARGS)

.PHONY: package package-test
package: ## Build what people install (.deb, .rpm, .tar.zst) into dist/, and have it judged
	@scripts/system-packages.sh window packages
	@scripts/package.sh build.py

package-test: ## Install the .deb of dist/ in a bare Debian 12 and use it there (root only)
	@scripts/system-packages.sh window screen bare
	@scripts/with-screen.sh scripts/package.sh installed_test.py

requirements: ## Pin every package anew (ARGS=--upgrade: to the newest versions)
	@scripts/environment.sh check
	@scripts/requirements.sh $(ARGS)
