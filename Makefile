# `make` lists the targets. PYTHON=... chooses the interpreter that .venv is made with.

SUPPORTED := 3.11 3.12 3.13

# What an interpreter prints; nothing if it does not run, like a pyenv shim of a Python that is
# not active.
ask = $(shell $(1) -c 'import sys; print($(2))' 2>/dev/null)
version = $(call ask,$(1),"%d.%d" % sys.version_info[:2])
installation = $(call ask,$(1),sys.base_prefix + sys.version)
supported = $(filter $(SUPPORTED),$(call version,$(1)))

# Only an interpreter that somebody chose must be the one that .venv was made with.
CHOSEN := $(PYTHON)
PYTHON ?= $(firstword $(foreach p,$(SUPPORTED:%=python%) python3,$(if $(call supported,$p),$p)))

# One thread a process: two processes share the cores.
PYTEST := OMP_NUM_THREADS=1 .venv/bin/python -m pytest -n 2 -q

.PHONY: help demo test check format data bench clean venv

help:  ## list the targets
	@sed -n 's/^\([a-z]*\): .*## /  make \1	/p' $(MAKEFILE_LIST)

demo: venv  ## train a small model with ELMo and show what it predicts
	.venv/bin/python scripts/demo.py

test: venv  ## run the tests
	$(PYTEST)

check: venv  ## what CI runs: format, lint, types, tests
	.venv/bin/python -m ruff format --check .
	.venv/bin/python -m ruff check .
	.venv/bin/python -m mypy
	$(PYTEST)

format: venv  ## format the code and mend what the linter can
	.venv/bin/python -m ruff check --fix-only .
	.venv/bin/python -m ruff format .

data: venv  ## fetch the data sets that are free
	.venv/bin/python scripts/fetch_data.py

bench: venv  ## the speed of a small biLM beside AllenNLP's own
	.venv/bin/python benchmarks/bilm.py fixtures/corpus/train.txt --sizes small --batches 2 --turns 3

clean:  ## remove what the tools leave; .venv and data stay
	rm -rf build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

# .venv is complete when it holds a copy of our requirements.txt: the copy is made last.
complete = $(shell cmp -s requirements.txt .venv/requirements.txt 2>/dev/null && echo yes)
made_by = $(findstring $(call installation,$(1)),$(call installation,.venv/bin/python))
up_to_date = $(and $(complete),$(if $(CHOSEN),$(call made_by,$(PYTHON)),$(call version,.venv/bin/python)))

venv:
	@$(if $(up_to_date),:,$(if $(call supported,$(PYTHON)),$(make_venv),$(refuse)))

define make_venv
rm -f .venv/requirements.txt \
&& $(PYTHON) -m venv --clear .venv \
&& .venv/bin/python -m pip install --no-deps -r requirements.txt \
&& .venv/bin/python -m pip install --no-deps --no-build-isolation -e . \
&& cp requirements.txt .venv/requirements.txt
endef

refuse = $(error elmo_tasks runs on Python 3.11, 3.12 and 3.13; \
$(if $(PYTHON),$(PYTHON) $(if $(call version,$(PYTHON)),is $(call version,$(PYTHON)),does not run),none was found) \
(make PYTHON=... chooses one))
