# `make demo` and `make test` do all the set-up themselves on a fresh Debian machine: packages, build, run.
BUILD := build/release
JOBS ?= $(shell nproc)
PACKAGES := $(shell sed 's/\#.*//' packages.txt)
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
SOURCES = $(shell git ls-files '*.h' '*.cc')
DEMO_OUT ?= results/demo
BENCH_OUT ?= results/bench

.PHONY: demo test test-python bench training-bench sanitize thread-safety format check-format packages build clean help

help:
	@echo "make demo      train real MNIST with ps, ring, data_parallel and local, compare them, write $(DEMO_OUT)/report.html"
	@echo "make test      build everything and run every test"
	@echo "make test-python   install what some tests read our files back with, from PyPI into build/python"
	@echo "make bench     kernels, then all-reduce and the parameter server against other libraries and the machine's limits"
	@echo "make training-bench  step time and samples/s against Python's torch with DistributedDataParallel"
	@echo "make sanitize  core tests under ASan + UBSan and under TSan"
	@echo "make thread-safety | format | check-format | packages | build | clean"

packages:
	@missing=$$(for package in $(PACKAGES); do \
	  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || echo $$package; done); \
	if [ -n "$$missing" ]; then \
	  echo "installing:" $$missing; \
	  $(SUDO) apt-get update -q && \
	  DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -q -y --no-install-recommends $$missing; \
	fi

build: packages
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

demo: build
	$(BUILD)/bin/ringside compare --strategies=ps,ring,data_parallel,local --workers=1,2,4 --trials=5 --ps_shards=2 \
	  --model=mlp --hidden=256,128 --data_dir=data/mnist10k --epochs=10 --global_batch=128 --seed=1 \
	  --optimizer=sgd --learning_rate=0.05 --momentum=0.9 --weight_decay=0.001 --out=$(DEMO_OUT) --overwrite

test: build
	ctest --preset release -j $(JOBS)

# What some tests read our files back with; they skip without it.
test-python:
	python3 -m venv build/python
	build/python/bin/pip install -q -r tests/requirements.txt

bench: build
	$(BUILD)/bin/kernels_benchmark
	$(BUILD)/bin/allreduce_bench --targets --out=$(BENCH_OUT)
	$(BUILD)/bin/ps_bench --targets --out=$(BENCH_OUT)-ps

training-bench: build
	@mkdir -p results
	/usr/bin/python3 experiments/pytorch/compare.py --build=$(BUILD) --stock --out=$(BENCH_OUT)-training.json

sanitize: packages
	cmake --preset asan-ubsan
	cmake --build --preset asan-ubsan -j $(JOBS)
	ctest --preset asan-ubsan -j $(JOBS)
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS)
	ctest --preset tsan -j $(JOBS)

thread-safety: packages
	cmake --preset thread-safety
	cmake --build --preset thread-safety -j $(JOBS)

format:
	clang-format -i $(SOURCES)

check-format:
	@test -n "$(SOURCES)" || { echo "no sources to check: git ls-files has failed"; exit 1; }
	clang-format --dry-run --Werror $(SOURCES)

clean:
	rm -rf build
