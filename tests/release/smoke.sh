#!/bin/sh
# What a user does first with an installed Jumar: a program in each language that the machine has, a model, and a finding.
# `jumar` and a Python that has the module `acl` are on the path; `SMOKE_PYTHON` names another one, `-` none.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
python=${SMOKE_PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }

# Runs a program with a mistake under the checks, and looks for the rule.
finds() {
    rule=$1
    shift
    status=0
    jumar check --sarif found.sarif --source-root "$here" -- "$@" > found.txt 2>&1 || status=$?
    grep -q "$rule" found.txt || { cat found.txt >&2; fail "$rule was not found in $*"; }
    grep -q '"uriBaseId": "SRCROOT"' found.sarif || fail "found.sarif names no file of the sources"
    [ "$status" = 1 ] || fail "jumar check ended with $status"
}

jumar --version
tree=$(jumar prefix)
start=$(date +%s)
if [ "$python" != - ]; then
    [ "$(jumar run -- "$python" "$here/examples/ci/pyacl/scale.py")" = equal ] || fail "pyACL"
    finds JMR-SYNC-007 "$python" "$here/tests/diag/corpus/04_freed_too_early.py"
    echo "python: $("$python" --version), a finding $(($(date +%s) - start)) s after the first command"
fi
atc --framework=5 --model="$here/examples/digits/digits.onnx" --output=digits --soc_version=Ascend910B1 > atc.txt 2>&1 || {
    cat atc.txt >&2
    fail atc
}
if [ "$python" != - ]; then
    images="$here/examples/digits/images.u8 $here/examples/digits/labels.u8"
    # shellcheck disable=SC2086
    jumar run -- "$python" "$here/examples/digits/digits.py" digits.om $images | grep accuracy: || fail "digits.py"
fi
if command -v c++ > /dev/null && [ -e "$tree/include/acl/acl.h" ]; then
    c++ -std=c++17 -g "$here/examples/ci/cmake/scale.cpp" -o scale -I "$tree/include" -L "$tree/lib64" -lascendcl
    [ "$(jumar run -- ./scale)" = equal ] || fail "C++"
    cc -g "$here/tests/diag/corpus/04_freed_too_early.c" -o freed -I "$tree/include" -L "$tree/lib64" -lascendcl
    finds JMR-SYNC-007 ./freed
    grep -q '04_freed_too_early.c:15' found.txt || fail "the finding names no line"
    echo "c++: $(c++ --version | head -n 1)"
fi
echo "smoke test passed"
