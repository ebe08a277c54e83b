#!/bin/sh
# Installs a build into a private directory and uses it as an external project does, there and after moving the
# directory: builds plugins with find_package and by hand, inspects their exports, and runs them.
#
#   tests/install/check.sh BUILD_DIR
set -eu

# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"
prefix=$room/prefix

use_packages_of() {
  PKG_CONFIG_PATH=$(dirname "$(find "$1" -name distrun.pc)")
  export PKG_CONFIG_PATH
}

# Checks that the pages named by --help and the man page exist, and that their links have targets.
check_pages() {
  {
    "$prefix/bin/distrun" man
    "$prefix/bin/distrun" --help
    "$prefix/bin/distrun" run --help
    "$prefix/bin/distrund" --help
  } > "$room/named"
  pages=$(grep -oE '[[:alnum:]_./-]+\.md' "$room/named" | sort -u)
  [ -n "$pages" ] || fail "neither --help nor the man page names a page"
  for page in $pages; do
    [ -s "$prefix/$page" ] || fail "--help or the man page names $page, which is not installed"
  done
  find "$prefix/share/doc/distrun" -name '*.md' > "$room/pages"
  while read -r page; do
    grep -oE '\]\([^)#: ]+[)#]' "$page" | sed 's/^](//; s/.$//' > "$room/links" || true
    while read -r link; do
      [ -e "$(dirname "$page")/$link" ] || fail "$page links to $link, which is not installed"
    done < "$room/links"
  done < "$room/pages"
}

# Checks that the systemd unit starts the daemon at the tree's current place, by running its command line.
check_unit() {
  unit=$prefix/lib/systemd/user/distrund.service
  [ -f "$prefix/lib/systemd/user/distrund.socket" ] || fail "there is no distrund.socket"
  mkdir "$room/fake" "$room/runtime"
  if command -v systemd-analyze > /dev/null; then
    XDG_RUNTIME_DIR=$room/runtime systemd-analyze --user verify "$unit" > "$room/verify.log" 2>&1 || true
    grep 'distrund.service:[0-9]' "$room/verify.log" && fail "systemd does not take the unit: $(cat "$unit")"
  fi
  ln -s "$unit" "$room/linked.service"
  printf '#!/bin/sh\necho "%s"\n' "$room/linked.service" > "$room/fake/systemctl"
  chmod +x "$room/fake/systemctl"
  line=$(sed -n '/^ExecStart=/,/[^\\]$/p' "$unit" | sed -e 's/^ExecStart=//' -e 's/\\$//' -e 's/%%/%/g' \
    -e 's/\$\$/$/g' | tr '\n' ' ')
  (
    unset DISTRUN_DAEMON_SOCKET
    PATH=$room/fake:$PATH
    XDG_RUNTIME_DIR=$room/runtime
    export PATH XDG_RUNTIME_DIR
    eval "exec $line" > "$room/daemon.log" 2>&1
  ) &
  daemon=$!
  for _ in $(seq 300); do
    [ "$(readlink "/proc/$daemon/exe")" = "$prefix/bin/distrund" ] && break
    sleep 0.1
  done
  started=$(readlink "/proc/$daemon/exe" || true)
  kill "$daemon"
  wait "$daemon" || true
  [ "$started" = "$prefix/bin/distrund" ] || fail "the unit has started ${started:-nothing}: $(cat "$room/daemon.log")"
}

logged install cmake --install "$build" --prefix "$prefix"
outside each -DCMAKE_PREFIX_PATH="$prefix" -DEACH_DOOR=ON
for plugin in "$room"/each/outside*.so; do
  check_exports "$plugin"
done
run "$prefix/bin/distrun" "$room"/each/outside*.so
if cmake --build "$room/each" --target forgets_runtime > "$room/forgets.log" 2>&1; then
  fail "a plugin without RUNTIME builds with RPC"
fi
grep -q 'needs libdistrun.so: write distrun_add_plugin(NAME RUNTIME' "$room/forgets.log" ||
  fail "a plugin that forgets RUNTIME is told: $(cat "$room/forgets.log")"
if has_pkg_config; then
  use_packages_of "$prefix"
  by_hand "$room/by_hand.so" "$here/outside/outside.cpp" distrun
  run "$prefix/bin/distrun" "$room/by_hand.so"
fi

# The tree may be moved: nothing in it may contain the original prefix.
mv "$prefix" "$room/moved"
prefix=$room/moved
outside moved_plugins -DCMAKE_PREFIX_PATH="$prefix"
check_ctest moved_plugins
check_exports "$room/moved_plugins/all_doors.so"
"$prefix/bin/distrun" --history "$room/history.db" "$room/moved_plugins/outside_gtest.so"
"$prefix/bin/distrun" history --history "$room/history.db"
run "$prefix/bin/distrun" "$room/moved_plugins/all_doors.so"
if has_pkg_config; then
  use_packages_of "$prefix"
  by_hand "$room/all_by_hand.so" "$here/outside/all_doors.cpp" distrun distrun-runtime
  run "$prefix/bin/distrun" "$room/all_by_hand.so"
fi

"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" "$here/outside/line.c" -o "$room/line"

for file in man/man1/distrun.1 bash-completion/completions/distrun zsh/site-functions/_distrun \
  fish/vendor_completions.d/distrun.fish; do
  [ -s "$prefix/share/$file" ] || fail "share/$file is not installed"
done
check_pages
check_unit
echo "the installed package works"
