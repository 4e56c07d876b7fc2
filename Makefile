# Common tasks by name; Meson does the work. `make help` lists the targets.
# PYTHON is a comma-separated list of CPythons for `make python` [all that are found].
# WERROR=true makes warnings errors in a new build directory; `make check` and .ci/run do so.
# Each target first installs the Debian packages it needs, if they are missing.

MESON        ?= $(firstword $(wildcard /usr/bin/meson) meson)
PREFIX       ?= /usr/local
WERROR       ?= false
FUZZ_SECONDS ?= 60
MUTANTS      ?= 300
MUTANTS_SEED ?= 1
MUTANTS_MIN  ?= 85
PYTHON       ?=
DEMO         ?= build/pitot -o build/demo-run -t 100 -f parquet,csv -p -- \
                build/pitot demo --serve --self-load --seconds 5
export MESON

# Warnings are not errors here: gcc gives false warnings for code instrumented by its sanitizers.
SANITIZE := -Db_lundef=false -Dtests=enabled -Db_sanitize
# TSan of gcc 12 does not support the address layout of kernels with high ASLR entropy.
NO_ASLR  := $(shell setarch -R true 2>/dev/null && echo ',--wrapper=setarch -R')

TEST_RUN := build:--no-suite=system,--no-suite=real,--no-suite=real-all
ASAN_RUN := build-asan:--no-suite=source,--no-suite=system,--no-suite=real,--no-suite=real-all
TSAN_RUN := 'build-tsan:--suite=threads$(NO_ASLR)'

.DEFAULT_GOAL := all
.PHONY: all demo test test-system test-real test-real-all real-update plain asan tsan fuzz fuzz-nightly check check-source check-clang check-arm64 bench \
        torture soak verdicts mutants mutants-ci python golden-update format install dist deb clean help

all: build/build.ninja ## build Pitot: build/pitot
	@ninja -C build program

demo: all ## record the demo workload and print the results
	$(DEMO)

test: build/with-tests build-asan/build.ninja build-tsan/build.ninja ## every test, sanitizers too
	@tools/run-tests $(TEST_RUN) $(ASAN_RUN) $(TSAN_RUN)

test-system: build/with-tests | deps-system deps-mutants ## tests with heavy real components
	@tools/run-tests build:--suite=system

# What is fetched and built stays in PITOT_REAL [~/.cache/pitot-real].
test-real: build/with-tests | deps-real ## tests with real engines and receivers, built on first use
	@tools/run-tests build:--suite=real

test-real-all: build/with-tests | deps-real ## the same, and names of engines that are not run
	@tools/run-tests build:--suite=real,--suite=real-all

real-update: ## take the results of `make test-real` into docs/ENGINES.md
	@tests/real/results.py --update build

plain: build/with-tests ## the tests without sanitizers
	@tools/run-tests $(TEST_RUN)

asan: build-asan/build.ninja ## the tests under address and undefined-behaviour sanitizers
	@tools/run-tests $(ASAN_RUN)

tsan: build-tsan/build.ninja ## the tests of threads under the thread sanitizer
	@tools/run-tests $(TSAN_RUN)

# FUZZ='NAME ...' runs only these targets.
fuzz: build-fuzz/build.ninja ## libFuzzer on every reader of foreign bytes, FUZZ_SECONDS each
	@ninja -C build-fuzz
	@tools/run-fuzzers build-fuzz $(FUZZ_SECONDS) $(FUZZ)

fuzz-nightly: FUZZ_SECONDS := 600
fuzz-nightly: fuzz ## the same with 10 minutes each; keeps the corpus, minimised, in build-fuzz/corpus

check: check-source check-clang check-arm64 ## format, layers, style, phrases, columns, docs, clang, arm64

check-source: build/with-werror | deps-check
	@ninja -C build
	@tools/check-format
	@tools/check-layers
	@tools/check-style
	@tools/check-phrases
	@tools/check-columns
	@tools/check-capabilities
	@tools/check-fuzz
	@tools/check-docs build/pitot

check-clang: build-clang/build.ninja
	@ninja -C build-clang

check-arm64: build-arm64/build.ninja
	@ninja -C build-arm64
	@tools/run-tests build-arm64:--suite=unit,--suite=fuzz

bench: build/with-tests | deps-bench ## measure against the reference programs
	@bench/run build

# TORTURE='NAME ...' runs only these suites.
torture: build/with-tests | deps-system ## long forms of the tests of reliability; docs/RELIABILITY.md
	@ninja -C build
	@tools/run-torture build $(TORTURE)

# SOAK_TICKS and SOAK_SECONDS: how long (tests/soak/run.py says what they mean).
soak: build/with-tests ## recorder, server, pushes and libpitot for long: is everything flat?
	@ninja -C build
	@tests/soak/run.py build; status=$$?; tools/run-torture --page build; exit $$status

verdicts: build/with-tests | deps-verdicts ## how often `explain` and `diff` are right
	@ninja -C build
	@CMOCKA_MESSAGE_OUTPUT=TAP build/tests/unit/diff_test 2>&1 | grep '^# [0-9]'
	@tests/verdicts/run.py build/pitot

# Which: MUTANTS (how many), MUTANTS_SEED, MUTANTS_IN='FOLDER ...' (below src/), MUTANTS_SINCE=REVISION;
# MUTANTS_STAGES: suites of tests.
mutants: | deps-build deps-test deps-mutants ## change src/ in small ways; list changes that no test detects
	@tools/mutants/run --count $(MUTANTS) --seed $(MUTANTS_SEED) --min $(MUTANTS_MIN) \
		--in $(MUTANTS_IN) $(MUTANTS_SINCE:%=--since=%) $(MUTANTS_STAGES:%=--stages %)

# Always the same twenty, without the slow tests. Up to four may survive, so that one changed line
# does not stop CI.
mutants-ci: MUTANTS := 20
mutants-ci: MUTANTS_SEED := 1
mutants-ci: MUTANTS_MIN := 80
mutants-ci: MUTANTS_IN := collect analyze source/engine store push profile derive
mutants-ci: MUTANTS_STAGES := unit,fuzz,cli,docs
mutants-ci: mutants ## the same with 20 mutants, as CI does

python: build-python/build.ninja ## wheels of the Python package, in dist/
	@$(MESON) configure build-python -Dpython_interpreters='$(PYTHON)'
	@rm -f build-python/python/*.whl
	@ninja -C build-python wheels
	@mkdir -p dist && cp build-python/python/*.whl dist/ && ls dist/*.whl

golden-update: build/with-tests ## record the command-line cases and the generated pages again
	@ninja -C build
	@tests/cli/run --update build/pitot
	@tools/check-docs --update build/pitot

format: | deps-check ## let clang-format rewrite the sources
	@tools/check-format --fix

install: build/build.ninja ## install below PREFIX (/usr/local), or below DESTDIR/PREFIX
	@$(MESON) configure build -Dprefix=$(abspath $(PREFIX))
	@ninja -C build program
	@DESTDIR='$(DESTDIR)' $(MESON) install -C build --no-rebuild

dist: all ## source tarball of the last commit, in dist/
	@$(MESON) dist -C build --no-tests --formats gztar --allow-dirty
	@mkdir -p dist && cp build/meson-dist/*.tar.gz* dist/ && ls dist/*

deb: all | deps-deb ## Debian packages of the last commit, in dist/
	@tools/make-deb build

clean: ## remove everything that was built
	rm -rf build build-asan build-tsan build-fuzz build-clang build-arm64 build-arm64-root \
		build-python build-mutants dist

help:
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1	\2/p' Makefile | expand -t 16

# One build directory per purpose, configured once.
build/build.ninja: | deps-build
	$(MESON) setup build -Dwerror=$(WERROR)

# A build configured before the test packages were installed looks for them again.
build/with-tests: | build/build.ninja deps-test deps-python
	$(MESON) configure build -Dtests=enabled
	@touch $@

build/with-werror: | build/with-tests
	$(MESON) configure build -Dwerror=true
	@touch $@

build-asan/build.ninja: | deps-build deps-test
	$(MESON) setup build-asan $(SANITIZE)=address,undefined

build-tsan/build.ninja: | deps-build deps-test
	$(MESON) setup build-tsan $(SANITIZE)=thread

build-fuzz/build.ninja: | deps-build deps-test deps-fuzz
	CC=clang $(MESON) setup build-fuzz $(SANITIZE)=address,undefined -Dfuzz=true \
		-Dc_args=-fsanitize=fuzzer-no-link

build-python/build.ninja: | deps-build deps-python
	$(MESON) setup build-python -Dpython=enabled

build-clang/build.ninja: | deps-build deps-test deps-check
	CC=clang $(MESON) setup build-clang -Dwerror=true -Dtests=enabled

build-arm64/build.ninja: | build-arm64-root/root.cross deps-build deps-check
	$(MESON) setup build-arm64 --cross-file build-arm64-root/root.cross \
		--cross-file tools/arm64.cross -Dwerror=true -Dtests=enabled

build-arm64-root/root.cross: tools/arm64-root
	tools/arm64-root build-arm64-root

deps-%:
	@tools/install-deps $*
