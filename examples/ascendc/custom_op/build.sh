#!/bin/sh
# Builds the package build_out/custom_opp_*.run. ASCEND_HOME_PATH is the install tree (eval "$(jumar env)").
set -e
cd "$(dirname "$0")"
cmake -S . -B build_out --preset=default
cmake --build build_out --target binary
cmake --build build_out --target package
