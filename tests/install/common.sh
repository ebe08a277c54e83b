# Sourced by the scripts beside it: their work directory, the configuration of the build, and ways to build plugins.
# shellcheck shell=sh disable=SC2034 # the scripts use them
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT INT TERM

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

from_cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
cc=$(from_cache CMAKE_C_COMPILER)
cxx=$(from_cache CMAKE_CXX_COMPILER)
sanitize=$(from_cache DISTRUN_SANITIZE)
flags=${sanitize:+-fsanitize=$sanitize}

# logged NAME COMMAND...: runs a command; shows its output only if it fails.
logged() {
  log=$room/$1.log
  shift
  "$@" > "$log" 2>&1 || fail "$* failed:
$(tail -40 "$log")"
}

# outside FOLDER ARGUMENT...: builds the project `outside` in $room/FOLDER with CMake, without optimisation.
outside() {
  folder=$1
  shift
  logged "configure_$folder" cmake -S "$here/outside" -B "$room/$folder" -DCMAKE_CXX_COMPILER="$cxx" \
    -DCMAKE_CXX_FLAGS="-O0 -g0 $flags" "$@"
  logged "build_$folder" cmake --build "$room/$folder" --parallel 2
}

# The pkg-config files lack a sanitizer's flags.
has_pkg_config() { command -v pkg-config > /dev/null && [ -z "$sanitize" ]; }

# by_hand PLUGIN SOURCE PACKAGE...: compiles with the flags of pkg-config, found by PKG_CONFIG_PATH. The headers are not
# system headers here, so they must be clean under the user's warnings.
by_hand() {
  plugin=$1
  source=$2
  shift 2
  # shellcheck disable=SC2046 # the flags are words
  logged compile "$cxx" -std=c++20 -O0 -g0 -shared -fPIC -Wall -Wextra -Wconversion -Wshadow \
    -Wmissing-field-initializers -Werror "$source" $(pkg-config --cflags --libs "$@") -o "$plugin"
  check_exports "$plugin"
}

check_exports() {
  exported=$(nm -D --defined-only "$1" | sed 's/.* //')
  [ "$exported" = distrun_plugin_entry ] || fail "$1 exports more than its entry: $exported"
}

# run DISTRUN PLUGIN...
run() {
  program=$1
  shift
  "$program" --history off --gpu-driver virtual --gpus 2 "$@"
}

# check_ctest FOLDER: the tests that the project in $room/FOLDER has registered with ctest.
check_ctest() {
  ctest --test-dir "$room/$1" -N > "$room/found"
  for name in 'mine/Found.anywhere \[np=1\]' 'mine/Found.anywhere \[np=2\]' mine/Found.by_two \
    'mine/Found.by_none \[np=1\]' 'mine/Found.by_none \[np=2\]'; do
    grep -q ": $name\$" "$room/found" || fail "ctest does not know $name: $(cat "$room/found")"
  done
  grep -q 'Total Tests: 5$' "$room/found" || fail "ctest knows other tests: $(cat "$room/found")"
  ctest --test-dir "$room/$1" -N -L '^quick$' | grep -q 'Total Tests: 2$' || fail "tags are no labels"
  ctest --test-dir "$room/$1" -N -L '^found$' | grep -q 'Total Tests: 5$' || fail "PROPERTIES LABELS are lost"
  logged ctest ctest --test-dir "$room/$1" -j 2 --output-on-failure
  [ "$(grep -c 'Skipped ' "$room/ctest.log")" = 2 ] || fail "2 tests are skipped: $(cat "$room/ctest.log")"
  ctest --test-dir "$room/$1" --show-only=json-v1 > "$room/found.json"
  python3 - "$room/found.json" << 'END' || fail "the properties of a test are wrong: $(cat "$room/found.json")"
import json, sys

tests = {test["name"]: {p["name"]: p["value"] for p in test["properties"]}
         for test in json.load(open(sys.argv[1]))["tests"]}
anywhere = tests["mine/Found.anywhere [np=2]"]
assert anywhere["PROCESSORS"] == 2 and anywhere["RESOURCE_LOCK"] == ["port 8000"]
assert sorted(anywhere["LABELS"]) == ["found", "quick"]
assert tests["mine/Found.by_two"]["TIMEOUT"] == 140
END
}
