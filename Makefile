# SPDX-License-Identifier: Apache-2.0
# Short names for the CMake presets; the build itself is CMakeLists.txt.
.PHONY: all dev release test asan tsan lint format install clean
PREFIX ?= /usr/local

all: dev

dev release:
	cmake --preset $@
	cmake --build --preset $@

test:
	./check

asan tsan:
	cmake --workflow --preset $@

lint:
	tools/lint.sh

format:
	tools/lint.sh --format

install: release
	cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build
