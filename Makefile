# SPDX-License-Identifier: Apache-2.0
# The common tasks in one word each. The build itself is CMake's: see CMakePresets.json.

PREFIX ?= /usr/local
VERSION := $(shell cat VERSION)

.PHONY: all weft configured fast deps demo test check-builds torture pages coverage bench bench-matrix bench-gpu test-gpu papers install uninstall dist deb docs release wheel clean format help

# What is installed. Tests are apart: make test builds them.
all: configured
	@cmake --build --preset release

# The program alone.
weft: configured
	@cmake --build --preset release --target weft

configured: build/release/build.ninja
	@test ! -f build/release/for-demo || { cmake --preset release && rm build/release/for-demo; }

build/%/build.ninja: CMakePresets.json
	@cmake --preset $*

# Compiled by a profile of its own work: two builds, the same results, faster runs.
fast:
	@tools/make_fast

deps:
	@tools/deps build

# A first prediction, soon: where nothing is built yet, without the parts that are compiled for browsers
# and GPUs. `make` adds them, and compiles nothing again.
demo: deps
	@test -f build/release/build.ninja || { cmake --preset release -DWEFT_LIVE=OFF -DWEFT_GPU=OFF && \
	    touch build/release/for-demo; }
	@cmake --build build/release --target weft
	@tools/demo

test:
	@tools/check

# Outside the daily suite: builds that users make and that have failed before.
check-builds:
	@tools/check native fast

# Random scenarios, programs, signals and damage for TIME seconds.
TIME ?= 3600
SEED ?= $(shell date +%s)
torture: all
	@cmake --build --preset release --target adversary_scenarios adversary_mutate fuzz_targets
	@python3 -B tests/adversary/adversary.py --time $(TIME) --seed $(SEED)

# The pages of every generator, network model and machine, in a browser: some minutes.
pages: all
	@rm -rf build/pages && mkdir -p build/pages && cd build/pages && WEFT=$(CURDIR)/build/release/weft WEFT_SOURCE_DIR=$(CURDIR) \
	    python3 -B $(CURDIR)/tests/cli/test_pages.py --all

# Which lines the tests run; takes about as long as a leg of the suite.
coverage:
	@tools/deps build test
	@tools/coverage

bench: deps
	@$(MAKE) --no-print-directory all
	@cmake --build --preset release --target benchmarks
	@tools/bench

# Every machine with every generator, and what a message costs when one thing doubles: an hour.
bench-matrix: deps
	@$(MAKE) --no-print-directory all
	@tools/bench_matrix

# Routers in lock step on a GPU; says so where there is none.
bench-gpu: deps
	@$(MAKE) --no-print-directory all
	@tools/bench_gpu

# The tests of kernels on a GPU; without WEFT_GPU=1, and in the daily suite, they run on cores.
test-gpu: deps
	@$(MAKE) --no-print-directory all
	@cmake --build --preset release --target test_programs
	@ctest --test-dir build/release --output-on-failure -L gpu

# The experiments of four papers, into examples/*/results and docs/papers.md; up to two hours.
papers: all
	@python3 -B examples/papers.py run

install: all
	@cmake --install build/release --prefix '$(PREFIX)'

# What the last `make install` wrote, and folders that are empty then.
uninstall:
	@test -f build/release/install_manifest.txt || { echo 'nothing was installed from here'; exit 1; }
	@xargs -d '\n' rm -f < build/release/install_manifest.txt
	@xargs -d '\n' -n 1 dirname < build/release/install_manifest.txt | sort -ru | \
	    xargs -d '\n' rmdir -p --ignore-fail-on-non-empty 2>/dev/null || true
	@rm build/release/install_manifest.txt

# The sources of the last commit.
dist:
	@git archive --format=tar.gz --prefix=weft-$(VERSION)/ -o weft-$(VERSION).tar.gz HEAD
	@echo weft-$(VERSION).tar.gz

# The documentation for a browser, in build/docs.
docs: weft
	@python3 -B tools/docs/make_site.py build/release/weft build/docs

# Every check of a release, and what is published. Takes hours.
release:
	@tools/release

# The Python package with the program in it, in build/wheel.
wheel: all
	@mkdir -p build/wheel && WEFT_BUILD_DIR=build/release python3 -B python/build_wheel.py build/wheel

# Debian packages of the last commit, in build/deb.
deb:
	@tools/make_deb

clean:
	rm -rf build

format:
	@python3 -B tools/check_format.py --fix

help:
	@echo 'make            build what is installed: build/release/weft, libraries, man pages'
	@echo 'make weft       build build/release/weft alone'
	@echo 'make fast       build build/fast/weft by a profile: takes twice as long, runs faster'
	@echo 'make wheel      build the Python package with the program in it'
	@echo 'make release    run every check of a release, and build what is published'
	@echo 'make deps       install the packages weft is built with (Debian; asks sudo)'
	@echo 'make demo       deps, build the program alone, and a first prediction'
	@echo 'make test       deps, build, and the whole test suite'
	@echo 'make check-builds  the tests again, built for the instructions of this machine, and by a profile'
	@echo 'make torture    random scenarios, programs, signals and damage (TIME=3600 SEED=...)'
	@echo 'make pages      the pages of every generator, model and machine, in a browser'
	@echo 'make coverage   the tests again, counting which lines run'
	@echo 'make bench      deps, build, and the benchmarks'
	@echo 'make bench-matrix  what messages cost on all machines, and how that grows (an hour)'
	@echo 'make papers     the experiments of four papers, and docs/papers.md (up to two hours)'
	@echo 'make bench-gpu  the benchmarks of routers on a GPU'
	@echo 'make test-gpu   the tests of kernels; WEFT_GPU=1: on a GPU'
	@echo 'make install    install into PREFIX ($(PREFIX))'
	@echo 'make uninstall  remove what make install wrote'
	@echo 'make dist       the sources as a tarball, weft-$(VERSION).tar.gz'
	@echo 'make docs       the documentation for a browser, in build/docs'
	@echo 'make deb        Debian packages of the last commit, in build/deb'
	@echo 'make format     format all C files'
	@echo 'make clean      remove build/'
