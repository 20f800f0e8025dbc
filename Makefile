# make demo      set up, run the main job on the embedded default, write a report
# make test      set up, check and test everything
# make release   build the package, check it in an empty environment, print what to upload
# make thorough  set up, test with every repetition: must pass before a release
# make check     lint, format, types and the documentation site alone
# make bench     speed, as ratios against what a user would call instead
# make docs      the documentation site: build/site/index.html
# make pictures  draw the pictures of the documentation again (needs chromium)
# make explorer-bundle  format and bundle the explorer's page again (needs node and the npm registry)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS := $(shell echo $$(( $$(nproc 2>/dev/null || echo 2) * 3 / 2 )))# more than cores: tests wait for processes
unexport PYTHONDONTWRITEBYTECODE# tests start hundreds of processes, which import the same modules
SITE := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo test thorough check docs pictures bench explorer-bundle clean

demo: $(VENV)/.core
	NASBED_HOME=build/home $(BIN)/nasbed run snb-darts-cifar10-16-lgb-v2.0 --optimizers rs,re,ls,de,bananas --seeds 10 --budget 200ev --out build/demo

test: check
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile
	$(BIN)/python -m pytest --doctest-modules -q src

thorough: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --thorough

.PHONY: release
release: $(VENV)/.dev
	$(BIN)/python tools/release.py

check: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(SITE)

docs: $(VENV)/.dev
	$(SITE)

pictures: $(VENV)/.dev
	$(BIN)/python tools/docs/pictures.py

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/spaces.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/tables.py
	$(BIN)/python benchmarks/surrogates.py
	$(BIN)/python benchmarks/runs.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/ranking.py
	$(BIN)/python benchmarks/proxies_shared.py

explorer-bundle:
	npm ci --prefix tools/explorer --no-audit --no-fund
	cd tools/explorer && npx --offline prettier --config package.json --log-level warn --write bundle.mjs ../../src/nasbed/explorer/page/*.js
	node tools/explorer/bundle.mjs

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "nasbed needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; run make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt Makefile | $(VENV)/bin/python
	$(PIP) --editable '.[torch,tables,optimizers,ngboost,ray,pandas,vision,unseen,explorer,docs,dev]'
	$(BIN)/python -m compileall -q -j 0 src  # as other installations do, or else each test process does it
	touch $@ $(VENV)/.core

clean:
	rm -rf $(VENV) build
