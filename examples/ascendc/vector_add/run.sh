#!/usr/bin/env bash
# Builds and runs the example: bash run.sh [-r npu|cpu] [-v chip]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

run_mode=npu
chip=Ascend910B1
while getopts "r:v:" option; do
    case "$option" in
    r) run_mode=$OPTARG ;;
    v) chip=$OPTARG ;;
    *) exit 2 ;;
    esac
done
case "$run_mode" in
npu | cpu) ;;
*)
    echo "run.sh: -r is npu or cpu, not $run_mode" >&2
    exit 2
    ;;
esac
if [ -z "${ASCEND_HOME_PATH:-}" ]; then
    echo 'run.sh: ASCEND_HOME_PATH is not set; run eval "$(jumar env)" first' >&2
    exit 2
fi
source "$ASCEND_HOME_PATH/bin/setenv.bash"

build=${BUILD_FOLDER:-build}
cmake -S . -B "$build" -DRUN_MODE="$run_mode" -DSOC_VERSION="$chip" -DASCEND_CANN_PACKAGE_PATH="$ASCEND_HOME_PATH"
cmake --build "$build"
case "$build" in /*) "$build/vector_add" ;; *) "./$build/vector_add" ;; esac
