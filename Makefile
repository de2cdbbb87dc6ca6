# A thin front of Meson. On a fresh Debian with git, make and gcc, `make run` and `make test` fetch
# what is needed (as root) and do the rest.
BUILD  ?= build
PREFIX ?= /usr/local
export PREFIX

.PHONY: all deps build run test bench papers install uninstall dist deb clean format tidy

all: build

deps:
	@scripts/deps.sh

build: deps
	@scripts/build.sh $(BUILD)

run:
	@scripts/deps.sh run
	@QUIET=1 TARGETS=runtime scripts/build.sh $(BUILD)
	@examples/run.sh $(BUILD)

test: deps
	@scripts/test.sh $(BUILD)

# The tests in a root of another Debian suite: `make test-trixie`, `make test-forky`.
test-%:
	@scripts/root.sh $*

bench: build
	@$(BUILD)/bin/skein bench

# The figures of the papers, on Skein: build/papers/index.html. QUICK=1: minutes, not hours.
papers: build
	@lab/papers/run.py --build $(BUILD) $(if $(QUICK),--quick)

install: build
	@meson install -C $(BUILD) --no-rebuild $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

uninstall:
	@scripts/uninstall.sh $(BUILD) $(if $(DESTDIR),$(abspath $(DESTDIR)))

# The sources as a tarball, and Debian packages of them, in $(BUILD)/dist.
dist:
	@scripts/dist.sh $(BUILD)/dist

deb:
	@scripts/deb.sh $(BUILD)/dist

format:
	@scripts/files.sh | xargs clang-format -i

tidy: build
	@LONG=1 tests/lint/tidy.sh $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-asan
