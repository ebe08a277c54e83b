#!/bin/sh
# distrun as a folder of an external project: add_subdirectory(), and a plugin that is built and run. The project does
# not request debug information, and its stacks have lines nevertheless. A plugin with all public headers is compiled
# there, too, but linked with the library of the existing build, since building another one takes minutes. For the same
# reason the build is a unity build.
#
#   tests/install/subproject.sh BUILD_DIR
set -eu
# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"

logged configure cmake -G "Unix Makefiles" -S "$here/inside" -B "$room/inside" -DDISTRUN_SOURCE="$here/../.." \
  -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" -DDISTRUN_SANITIZE="$sanitize" -DCMAKE_CXX_FLAGS="$flags" \
  -DDISTRUN_UNITY=8
grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=.' "$room/inside/CMakeCache.txt" && fail "the project's build type was changed"
logged build cmake --build "$room/inside" --parallel 2 --target inside
code=0
"$build/bin/distrun" --history off --color never "$room/inside/inside.so" > "$room/run.log" || code=$?
[ "$code" = 1 ] || fail "the run ended with $code: $(cat "$room/run.log")"
grep -q '^pass .*Inside.ranks_meet' "$room/run.log" || fail "ranks_meet did not pass: $(cat "$room/run.log")"
line=$(grep -n 'throw 42' "$here/inside/inside.cpp" | cut -d: -f1)
grep -q "inside.cpp:$line" "$room/run.log" || fail "no stack has the line of the throw: $(cat "$room/run.log")"

logged compile_doors cmake --build "$room/inside" --target doors.o
if has_pkg_config; then
  # shellcheck disable=SC2046 # the flags are words
  logged link_doors "$cxx" -shared "$room/inside/CMakeFiles/doors.dir/doors.cpp.o" \
    $(PKG_CONFIG_PATH="$build" pkg-config --libs distrun distrun-runtime) -o "$room/doors.so"
  check_exports "$room/doors.so"
  run "$build/bin/distrun" "$room/doors.so"
fi
echo "distrun works as a subdirectory"
