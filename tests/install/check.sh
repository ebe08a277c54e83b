#!/bin/sh
# Installs a build into a directory of its own and uses it as somebody else would: builds a plugin
# with find_package and one by hand, looks at what they export, and runs them if `distrun` is among
# the programs.
#
#   tests/install/check.sh BUILD_DIR
set -eu

# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"
outside=$here/outside
prefix=$room/prefix

check_exports() {
  exported=$(nm -D --defined-only "$1" | sed 's/.* //')
  [ "$exported" = distrun_plugin_entry ] || fail "$1 exports more than its entry: $exported"
}

logged install cmake --install "$build" --prefix "$prefix"
# The tree may be moved: nothing in it may know where it was installed first.
mv "$prefix" "$room/moved"
prefix=$room/moved

logged configure cmake -S "$outside" -B "$room/outside" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_CXX_FLAGS="$flags"
logged build cmake --build "$room/outside"
check_exports "$room/outside/outside.so"
check_exports "$room/outside/outside_gtest.so"
check_exports "$room/outside/outside_runtime.so"

"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" "$outside/line.c" \
  -o "$room/line"

if command -v pkg-config > /dev/null && [ -z "$sanitize" ]; then
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name distrun.pc)")
  export PKG_CONFIG_PATH
  # The headers are no system headers here, so they must be clean under the warnings of their user.
  # shellcheck disable=SC2046 # the flags are words
  "$cxx" -std=c++20 -g -shared -fPIC -Wall -Wextra -Wconversion -Wshadow -Wmissing-field-initializers \
    -Werror "$outside/outside.cpp" $(pkg-config --cflags --libs distrun) -o "$room/by_hand.so"
  check_exports "$room/by_hand.so"
  # shellcheck disable=SC2046 # the flags are words
  "$cxx" -std=c++20 -g -shared -fPIC -Wall -Wextra -Wconversion -Wshadow -Werror "$outside/outside_runtime.cpp" \
    $(pkg-config --cflags --libs distrun distrun-runtime) -o "$room/runtime_by_hand.so"
  check_exports "$room/runtime_by_hand.so"
fi

for file in man/man1/distrun.1 bash-completion/completions/distrun zsh/site-functions/_distrun \
  fish/vendor_completions.d/distrun.fish; do
  [ -s "$prefix/share/$file" ] || fail "share/$file is not installed"
done

if [ -x "$prefix/bin/distrund" ]; then
  unit=$prefix/lib/systemd/user/distrund.service
  [ -f "$prefix/lib/systemd/user/distrund.socket" ] || fail "there is no distrund.socket"
  grep -q "^ExecStart=$room/prefix/bin/distrund " "$unit" || fail "the unit starts another program: $(cat "$unit")"
fi

if [ -x "$prefix/bin/distrun" ]; then
  "$prefix/bin/distrun" --history "$room/history.db" "$room/outside/outside.so" "$room/outside/outside_gtest.so"
  "$prefix/bin/distrun" --history off --gpu-driver virtual --gpus 2 "$room/outside/outside_runtime.so"
  "$prefix/bin/distrun" history --history "$room/history.db"
fi
echo "the installed package works"
